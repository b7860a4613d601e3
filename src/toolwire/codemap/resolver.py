"""From a call to the definitions it may reach, by what is written down (issue: imports, receivers, hierarchy, scope).

A resolver belongs to one version of the index and remembers what it worked out; the next version gets a new one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Hashable
from typing import Literal, NamedTuple, TypeVar, cast

from toolwire.codemap.expressions import Expressions
from toolwire.codemap.library import Library, Page, Ref
from toolwire.codemap.meaning import OUTSIDE, Certainty, Instance, Meaning, Outside, Space, Things, united, weaker
from toolwire.codemap.members import Members
from toolwire.codemap.modules import Target
from toolwire.codemap.names import Names
from toolwire.codemap.overloads import select
from toolwire.codemap.passed import Passed
from toolwire.codemap.reading import type_names
from toolwire.codemap.sheet import CALLABLE_KINDS, NOWHERE, TYPE_KINDS, Call, Definition, Variable
from toolwire.codemap.shelf import DefinitionRow, FileRow

Via = Literal["direct", "override", "name"]
"""How a call reaches a definition: as written, by a type below that overrides it, or by its name alone."""

_T = TypeVar("_T")


class Reached(NamedTuple):
    ref: Ref
    sure: Certainty
    via: Via


class Resolver:
    def __init__(self, library: Library) -> None:
        self.library = library
        self.names = Names(self)
        self.members = Members(self)
        self.expressions = Expressions(self)
        self.passed = Passed(self)
        self.cut_short = False
        """Set where a search was given up for its depth, so that what follows from it is not remembered."""
        self._memory: dict[Hashable, object] = {}
        self._at_work: set[Hashable] = set()
        self._scratch: dict[Hashable, object] = {}

    def remember(self, key: Hashable, work: Callable[[], _T], meanwhile: _T) -> _T:
        """Work it out once. Asked again while at it (a cycle in the code), the answer is `meanwhile`.

        What was worked out inside a cycle, or where a search was cut short, depends on where it was asked from: it
        is kept until the outermost question is answered, so that no answer depends on what was asked before."""
        if key in self._memory:
            return cast("_T", self._memory[key])
        if key in self._at_work or key in self._scratch:
            self.cut_short = True
            return cast("_T", self._scratch.get(key, meanwhile))
        outer, self.cut_short = self.cut_short, False
        self._at_work.add(key)
        try:
            found = work()
        finally:
            self._at_work.discard(key)
        if not self._at_work:
            self._scratch.clear()
            self.cut_short = False
        (self._scratch if self.cut_short else self._memory)[key] = found
        self.cut_short = self.cut_short or outer
        return found

    # The index, remembered

    def page(self, file: int) -> Page | None:
        return self.library.page(file)

    def definition(self, ref: Ref) -> Definition:
        page = self.library.page(ref.file)
        return page.definitions[ref.at] if page else _GONE

    def definitions(self, name: str) -> list[DefinitionRow]:
        return self.remember(("definitions", name), lambda: self.library.definitions(name), [])

    def definitions_in(self, name: str, place: str) -> list[DefinitionRow]:
        """Definitions of that name directly inside a place."""
        return self._by_place(name).get(place, [])

    def _by_place(self, name: str) -> dict[str, list[DefinitionRow]]:
        def work() -> dict[str, list[DefinitionRow]]:
            found: dict[str, list[DefinitionRow]] = {}
            for row in self.definitions(name):
                found.setdefault(row.scope, []).append(row)
            return found

        return self.remember(("places", name), work, {})

    def definitions_added(self, name: str, owner: str) -> list[DefinitionRow]:
        """Definitions of that name written outside their type, for types with the last name `owner`."""

        def work() -> dict[str, list[DefinitionRow]]:
            found: dict[str, list[DefinitionRow]] = {}
            for row in self.definitions(name):
                if row.added:
                    found.setdefault(row.scope.rpartition(".")[2], []).append(row)
            return found

        none: dict[str, list[DefinitionRow]] = {}
        return self.remember(("added", name), work, none).get(owner, [])

    def is_module(self, module: tuple[str, ...]) -> bool:
        """Whether a file stands for exactly this module."""
        place = ".".join(module)
        return bool(module) and any(row.module == place for row in self.modules(module[-1]))

    def modules(self, last: str) -> list[FileRow]:
        return self.remember(("modules", last), lambda: self.library.shelf.modules_ending(last), [])

    def has_package(self, target: Target) -> bool:
        """A package or folder without a file of its own, but with some below it."""
        place = ".".join(target.parts)
        return self.remember(("package", place), lambda: self.library.shelf.has_module_below(place), False)

    def top_space(self, page: Page, scope: int, name: str) -> Meaning | None:
        """The first part of a full name: a namespace around this place or a package of the project."""
        for row in self.definitions(name):
            if row.kind == "namespace":
                other = self.page(row.file)
                if other is not None and other.language.family == page.language.family:
                    return Space(Target(tuple(f"{row.scope}.{name}".strip(".").split(".")), anchored=True))
        if page.language.visibility != "file" and self.library.shelf.has_module_below(name):
            return Space(Target((name,), anchored=True))
        if name in page.language.roots or name in page.language.here or name in page.language.above:
            return self.names.space(page, self._rooted(page, name))
        return None

    def _rooted(self, page: Page, name: str) -> Target:
        if name in page.language.roots:
            return Target((), anchored=False)
        own = tuple(page.module.split(".")) if page.module else ()
        return Target(own[:-1] if name in page.language.above else own, anchored=True)

    def included(self, page: Page) -> frozenset[int]:
        """A file and the files it includes, directly or through others."""
        return self.remember(("included", page.id), lambda: self._included(page), frozenset({page.id}))

    def _included(self, page: Page) -> frozenset[int]:
        found, level = {page.id}, [page]
        while level:
            at = level.pop()
            for item in at.wildcards:
                for file in self._include(at, item.module):
                    other = self.page(file)
                    if file not in found and other is not None:
                        found.add(file)
                        level.append(other)
        return frozenset(found)

    def _include(self, page: Page, name: str) -> list[int]:
        """The file beside this one, else any that ends so."""
        near = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), name))
        file = self.library.shelf.file_named(near)
        return [file] if file is not None else self.library.shelf.files_ending(name)

    # Types

    def types(self, page: Page, scope: int, text: str) -> tuple[Ref, ...]:
        """The project's types that a written type stands for."""
        return self.remember(("types", page.id, scope, text), lambda: self._types(page, scope, text), ())

    def _types(self, page: Page, scope: int, text: str) -> tuple[Ref, ...]:
        found: list[Ref] = []
        for name in type_names(text, page.language.wrappers):
            if name in page.language.self_names or name == "Self":
                found.extend(self.around(page, scope))
                continue
            meaning = self.expressions.qualified(page, scope, name, values=False)
            if isinstance(meaning, Things | Instance):
                found.extend(ref for ref in meaning.refs if self.definition(ref).kind in TYPE_KINDS)
        return tuple(dict.fromkeys(found))

    def around(self, page: Page, scope: int) -> tuple[Ref, ...]:
        """The type whose `self` is meant at a place."""
        while scope != NOWHERE:
            definition = page.definitions[scope]
            if definition.kind in TYPE_KINDS:
                return self.own_types(page, scope)
            if definition.owner:
                return self.owner_types(page, scope)
            scope = definition.parent
        return ()

    def own_types(self, page: Page, index: int) -> tuple[Ref, ...]:
        """The type a definition is, or for an `impl` the type it adds to."""
        definition = page.definitions[index]
        if definition.kind != "impl":
            return (Ref(page.id, index),)
        return self.types(page, definition.parent, definition.name)

    def owner_types(self, page: Page, index: int) -> tuple[Ref, ...]:
        definition = page.definitions[index]
        return self.types(page, definition.parent, definition.owner)

    def ancestors(self, ref: Ref) -> tuple[Ref, ...]:
        found: dict[Ref, None] = {}
        level = [ref]
        while level:
            at = level.pop()
            for base in self.members.bases(at):
                if base not in found:
                    found[base] = None
                    level.append(base)
        return tuple(found)

    def of_variable(self, page: Page, variable: Variable) -> Meaning | None:
        if variable.type and variable.type not in _INFERRED:
            types = self.types(page, variable.scope, variable.type)
            if types:
                return Instance(types)
            return OUTSIDE if any(map(_says_something, type_names(variable.type, page.language.wrappers))) else None
        if variable.role == "p":
            return self._of_parameter(page, variable)
        return self.expressions.meaning(page, variable.within, variable.value) if variable.value else None

    def _of_parameter(self, page: Page, parameter: Variable) -> Meaning | None:
        """What is passed for it, or what it is where nothing is passed; a plain value there says little."""
        above = page.definitions[parameter.scope].parent
        default = self.expressions.meaning(page, above, parameter.value) if parameter.value else None
        known = [self.passed.to(page, parameter), default if isinstance(default, Instance) else None]
        return weaker(united(meaning for meaning in known if meaning is not None), Certainty.LIKELY)

    def written_type(self, page: Page, scope: int, text: str) -> str:
        """The type an argument was declared with, as written: a variable's, or what a called function returns."""
        if text.endswith(")"):
            called = self.expressions.called(page, scope, text)
            returns = {self.definition(ref).returns for ref in called}
            return returns.pop() if len(returns) == 1 else ""
        while True:
            found = page.variables.get((scope, text))
            if found:
                return found[0].type
            if scope == NOWHERE:
                return ""
            scope = page.definitions[scope].parent

    def bodies(self, ref: Ref) -> tuple[Ref, ...]:
        """The definitions behind a declared head: the same name in the same place, with a body."""
        page = self.page(ref.file)
        if page is None or page.definitions[ref.at].kind != "declaration":
            return (ref,)
        place, _, name = page.qualified(ref.at).rpartition(".")
        rows = self.definitions_in(name, place)
        found = [row for row in rows if row.kind in CALLABLE_KINDS and row.kind != "declaration"]
        return tuple(Ref(row.file, row.at) for row in found)

    # Calls

    def call(self, page: Page, call: Call) -> tuple[Reached, ...]:
        """Every definition the call may reach; nothing if it leaves the project."""
        key = ("call", page.id, call.scope, call.line, call.receiver, call.name, call.arguments)
        return self.remember(key, lambda: self._call(page, call), ())

    def _call(self, page: Page, call: Call) -> tuple[Reached, ...]:
        if call.kind == "new":
            return self._construct(page, call, self._constructed(page, call))
        if call.receiver:
            return self._member_call(page, call)
        if call.name in page.language.self_names:
            around = self.around(page, call.scope)
            return self._construct(page, call, Things(around) if around else None)
        if call.name == page.language.construct:
            return self._construct(page, call, Things(self.around(page, call.scope)))
        found = self.names.lookup(page, call.scope, call.name, values=page.language.function_values)
        if found is None:
            return self._by_name(page, call, member=False)
        return self._targets(page, call, found, virtual=page.language.implicit_self)

    def _constructed(self, page: Page, call: Call) -> Meaning | None:
        around = self.around(page, call.scope)
        if call.name in page.language.super_names:
            bases = tuple(base for ref in around for base in self.members.bases(ref))
            return Things(bases) if bases else None
        if call.name in page.language.self_names:
            return Things(around)
        dotted = f"{call.receiver}.{call.name}" if call.receiver else call.name
        return self.expressions.qualified(page, call.scope, dotted.replace("::", ".").replace("\\", "."))

    def _member_call(self, page: Page, call: Call) -> tuple[Reached, ...]:
        receiver = self.expressions.meaning(page, call.scope, call.receiver)
        if isinstance(receiver, Outside):
            return ()
        if isinstance(receiver, Things) and call.name == page.language.construct:
            return self._construct(page, call, receiver)
        found = self.expressions.member(page, receiver, call.name, calling=True)
        if found is None:
            return self._by_name(page, call, member=True)
        virtual = isinstance(receiver, Instance) and call.receiver not in page.language.super_names
        return self._targets(page, call, found, virtual=virtual)

    def _targets(self, page: Page, call: Call, found: Meaning, virtual: bool) -> tuple[Reached, ...]:
        if not isinstance(found, Things):
            return ()
        functions = tuple(ref for ref in found.refs if self.definition(ref).kind in CALLABLE_KINDS)
        if not functions:
            return self._construct(page, call, found)
        chosen, sure = select(self, page, call, functions, found.sure)
        reached = [Reached(ref, sure, "direct") for ref in chosen]
        if virtual:
            reached.extend(self._overriding(page, call, chosen))
        return tuple(reached)

    def _overriding(self, page: Page, call: Call, methods: tuple[Ref, ...]) -> list[Reached]:
        found: dict[Ref, None] = {}
        for ref in methods:
            holder = self.page(ref.file)
            if holder is None or self.definition(ref).kind not in ("method", "declaration"):
                continue
            for type_ref in self.around(holder, ref.at):
                for below in self.members.subtypes(type_ref):
                    rows = tuple(Ref(row.file, row.at) for row in self.members.rows(below, call.name))
                    found.update(dict.fromkeys(select(self, page, call, rows, Certainty.LIKELY)[0]))
        return [Reached(ref, Certainty.LIKELY, "override") for ref in found if ref not in methods]

    def _construct(self, page: Page, call: Call, meaning: Meaning | None) -> tuple[Reached, ...]:
        """The constructors of the types, or the types themselves where they have none."""
        if not isinstance(meaning, Things):
            return ()
        reached: list[Reached] = []
        for ref in meaning.refs:
            if self.definition(ref).kind in TYPE_KINDS:
                constructors = self.constructors(ref)
                chosen, sure = (
                    select(self, page, call, constructors, meaning.sure) if constructors else ((ref,), meaning.sure)
                )
                reached.extend(Reached(one, sure, "direct") for one in chosen)
        return tuple(reached)

    def constructors(self, ref: Ref) -> tuple[Ref, ...]:
        return self.remember(("constructors", ref), lambda: self._constructors(ref), ())

    def _constructors(self, ref: Ref) -> tuple[Ref, ...]:
        page = self.page(ref.file)
        if page is None:
            return ()
        names = {page.definitions[ref.at].name, *page.language.constructors}
        rows = [row for name in sorted(names) for row in self.members.rows(ref, name) if row.kind == "constructor"]
        if rows:
            return tuple(Ref(row.file, row.at) for row in rows)
        if not page.language.inherits_constructors:
            return ()
        return next((above for base in self.members.bases(ref) if (above := self.constructors(base))), ())

    def _by_name(self, page: Page, call: Call, member: bool) -> tuple[Reached, ...]:
        kinds = ("method",) if member else ("function",)
        rows = [row for row in self.definitions(call.name) if row.kind in kinds]
        family = page.language.family
        refs = tuple(
            Ref(row.file, row.at)
            for row in rows
            if (other := self.page(row.file)) is not None and other.language.family == family
        )
        return tuple(
            Reached(ref, Certainty.NAME_ONLY, "name")
            for ref in select(self, page, call, refs, Certainty.NAME_ONLY)[0]
        )


def _says_something(name: str) -> bool:
    """False for types that allow anything: a type parameter, or the language's word for "whatever"."""
    return name not in _ANYTHING and not _PARAMETER.match(name)


_ANYTHING = frozenset({"any", "Any", "object", "Object", "dynamic", "unknown", "mixed", "void", "interface"})
_PARAMETER = re.compile(r"^[A-Z][A-Z0-9]?$")
_GONE = Definition("gone", "", NOWHERE, "", 0, 0, "", "")
_INFERRED = frozenset({"var", "auto", "val", "let", "dynamic", "const auto", "auto&", "const auto&"})
