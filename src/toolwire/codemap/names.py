"""What a plain name means at a place in a file: locals, members of the type around it, the file, imports, peers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolwire.codemap.languages import EXTENSIONS
from toolwire.codemap.library import Page, Ref
from toolwire.codemap.meaning import OUTSIDE, Certainty, Instance, Meaning, Outside, Space, Things, united, weaker
from toolwire.codemap.modules import Target, target_of
from toolwire.codemap.sheet import CALLABLE_KINDS, NOWHERE, SPACE_KINDS, TYPE_KINDS, Import, Variable
from toolwire.codemap.shelf import DefinitionRow, FileRow

if TYPE_CHECKING:
    from toolwire.codemap.resolver import Resolver

_FOLLOW = 6
"""How many re-exports are followed; a longer chain is a cycle."""

_NOTHING = frozenset({"None", "null", "nil", "undefined", "nullptr", "NULL"})

_NO_RANK = (0, False, False, 0)


class Names:
    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def lookup(self, page: Page, scope: int, name: str, *, values: bool = True) -> Meaning | None:
        """None if nothing of that name is visible. Without `values` variables don't hide functions and types."""
        for meaning in self._lexical(page, scope, name, values):
            if meaning is not None:
                return self._or_imported(page, name, meaning) if name in page.imports else meaning
        imported = self._imported(page, scope, name)
        if imported is not None:
            return imported
        return self._peers(page, scope, name) or self._wildcards(page, name)

    # From the inside out

    def _lexical(self, page: Page, scope: int, name: str, values: bool) -> Iterator[Meaning | None]:
        at = scope
        while at != NOWHERE:
            definition = page.definitions[at]
            if definition.kind in TYPE_KINDS:
                yield self._in_type(page, at, name, values, direct=at == scope)
            else:
                if values:
                    yield self.variable(page, at, name)
                yield self._child(page, at, name)
                if definition.owner and page.language.implicit_self:
                    owner = self._resolver.owner_types(page, at)
                    yield self._resolver.members.of_types(owner, name) if owner else None
            at = definition.parent
        yield self._child(page, NOWHERE, name)
        if values:
            yield self.variable(page, NOWHERE, name)

    def _in_type(self, page: Page, at: int, name: str, values: bool, direct: bool) -> Meaning | None:
        definition = page.definitions[at]
        if page.language.implicit_self:
            own = self._resolver.own_types(page, at)
            if definition.name == name and definition.kind != "impl":
                return Things((Ref(page.id, at),))
            found = self._resolver.members.of_types(own, name, values=values)
            return None if isinstance(found, Outside) else found
        if direct:
            return self._child(page, at, name) or (self.variable(page, at, name) if values else None)
        return None

    def _child(self, page: Page, scope: int, name: str) -> Meaning | None:
        found = page.children.get(scope, {}).get(name)
        if not found:
            return None
        refs = tuple(Ref(page.id, index) for index in found)
        first = page.definitions[found[0]]
        if first.kind in SPACE_KINDS:
            return Space(Target(tuple(page.qualified(found[0]).split(".")), anchored=True))
        return Things(refs)

    def variable(self, page: Page, scope: int, name: str) -> Meaning | None:
        found = page.variables.get((scope, name))
        return self.of_variables(page, found) if found else None

    def of_variables(self, page: Page, variables: list[Variable]) -> Meaning:
        """A variable's type as written, or read off the values it is set to. Known to be a variable at least."""
        meanings = [self._resolver.of_variable(page, variable) for variable in variables if not _empty(variable)]
        return united(meanings) or Instance(())

    # Imports

    def _imported(self, page: Page, scope: int, name: str) -> Meaning | None:
        found = [item for item in page.imports.get(name, ()) if _encloses(page, item.scope, scope)]
        if not found:
            return None
        return united([self.of_import(page, item) for item in found]) or OUTSIDE

    def _or_imported(self, page: Page, name: str, found: Meaning) -> Meaning:
        """A file that both defines and imports a name at its top (`try: import … except: def …`) means either."""
        top = page.children.get(NOWHERE, {}).get(name, ())
        if not isinstance(found, Things) or found.refs != tuple(Ref(page.id, index) for index in top):
            return found
        items = [item for item in page.imports[name] if item.scope == NOWHERE]
        imported = [meaning for item in items if isinstance(meaning := self.of_import(page, item), Things)]
        return united((found, *imported)) or found

    def of_import(self, page: Page, item: Import, follow: int = 0) -> Meaning | None:
        if follow > _FOLLOW:
            return None
        if not item.module:
            if item.local == item.item:
                own = tuple(page.module.split(".")) if page.module else ()
                return self.space(page, Target((*own, item.item), anchored=True))
            return self._resolver.expressions.qualified(page, item.scope, item.item)
        target = target_of(item.module, page.path, page.module, page.language)
        if not item.item:
            return self.space(page, target)
        return self.in_module(page, target, item.item, follow)

    def space(self, page: Page, target: Target) -> Meaning | None:
        """A module, if the project has it."""
        if not target.parts or any(target.matches(row.module) for row in self._resolver.modules(target.last)):
            return Space(target)
        if self._has_below(target):
            return Space(target)
        return None

    def _has_below(self, target: Target) -> bool:
        return self._resolver.has_package(target)

    def in_module(self, page: Page, target: Target, name: str, follow: int = 0) -> Meaning | None:
        """What `name` is in a module: defined there, handed on from elsewhere, or a module below it."""
        family = page.language.family
        best = self._best(page, target, self._resolver.definitions(name))
        if best:
            return self.of_rows(best)
        for row in self._module_files(page, target) if follow <= _FOLLOW else ():
            other = self._resolver.page(row.id)
            if other is None or other.language.family != family:
                continue
            handed = self._handed_on(other, name, follow)
            if handed is not None:
                return handed
        return self.space(page, target.child(name))

    def _module_files(self, page: Page, target: Target) -> list[FileRow]:
        ranked = [(self._rank(page, target, row.module), row) for row in self._resolver.modules(target.last)]
        top = max((rank for rank, _ in ranked), default=_NO_RANK)
        return [row for rank, row in ranked if rank == top] if top != _NO_RANK else []

    def _handed_on(self, page: Page, name: str, follow: int) -> Meaning | None:
        for item in page.imports.get(name, ()):
            found = self.of_import(page, item, follow + 1)
            if found is not None:
                return found
        variable = self.variable(page, NOWHERE, name)
        if variable is not None:
            return variable
        for item in page.wildcards:
            target = target_of(item.module, page.path, page.module, page.language)
            found = self.in_module(page, target, name, follow + 1) if follow < _FOLLOW else None
            if found is not None:
                return found
        return None

    def _best(self, page: Page, target: Target, rows: list[DefinitionRow]) -> list[DefinitionRow]:
        """The rows in the module that the target means, seen from this file."""
        scored = [(self._rank(page, target, row.scope), row) for row in rows if row.kind != "impl"]
        top = max((score for score, _ in scored), default=_NO_RANK)
        if top == _NO_RANK:
            return []
        return [row for score, row in scored if score == top and self._family(row) == page.language.family]

    def _rank(self, page: Page, target: Target, place: str) -> tuple[int, bool, bool, int]:
        """How well a place fits a target of which only the last parts are known: the more parts agree the better;
        what lies before them must be a source folder, not a module; the nearer to this file the better."""
        agree = target.matches(place)
        if not agree:
            return _NO_RANK
        if target.anchored:
            return (agree, True, True, 0)
        parts = tuple(place.split("."))
        before = parts[: max(0, len(parts) - agree)]
        inside = page.module.startswith(".".join(before))
        return (agree, not self._resolver.is_module(before), inside, -len(before))

    def _family(self, row: DefinitionRow) -> str:
        page = self._resolver.page(row.file)
        return page.language.family if page else ""

    def of_rows(self, rows: list[DefinitionRow]) -> Meaning | None:
        """Several rows in one place are overloads or partial definitions; in several places they are a guess."""
        if rows and all(row.kind in SPACE_KINDS for row in rows):
            return Space(Target(tuple(f"{rows[0].scope}.{rows[0].name}".strip(".").split(".")), anchored=True))
        refs = tuple(Ref(row.file, row.at) for row in rows if row.kind not in SPACE_KINDS)
        if not refs:
            return None
        places = {row.scope for row in rows}
        return Things(refs, Certainty.EXACT if len(places) == 1 else Certainty.LIKELY)

    # Without an import

    def _peers(self, page: Page, scope: int, name: str) -> Meaning | None:
        """The same package or namespace, in other files; outwards where the language looks outwards."""
        if page.language.visibility == "file":
            return None
        if not self._resolver.definitions(name):
            return None
        for place in self._places(page, scope):
            rows = self._resolver.definitions_in(name, place)
            here = [row for row in rows if self._family(row) == page.language.family]
            found = self._included(page, here) if page.language.includes else self.of_rows(here)
            if found is not None:
                return found
        return None

    def _places(self, page: Page, scope: int) -> Iterator[str]:
        language = page.language
        at = scope
        while at != NOWHERE:
            definition = page.definitions[at]
            if definition.kind in SPACE_KINDS or definition.kind in TYPE_KINDS:
                place = page.qualified(at)
                yield place
                if definition.kind in SPACE_KINDS and language.nested_packages:
                    yield from _outwards(place)
            elif definition.owner and language.nested_packages:
                yield from _outwards(page.qualified(at).rpartition(".")[0])
            at = definition.parent
        yield page.module
        if language.nested_packages:
            yield from _outwards(page.module)

    def _wildcards(self, page: Page, name: str) -> Meaning | None:
        rows = self._resolver.definitions(name)
        found: list[Meaning | None] = []
        for item in page.wildcards:
            if page.language.includes and item.module.endswith(EXTENSIONS):
                continue
            target = target_of(item.module, page.path, page.module, page.language)
            best = self._best(page, target, rows)
            meaning = self.of_rows(best) if best else self._handed_by(page, target, name)
            if meaning is not None:
                found.append(meaning)
        return united(found) if found else None

    def _handed_by(self, page: Page, target: Target, name: str) -> Meaning | None:
        if page.language.modules == "package":
            return None
        found = self.in_module(page, target, name, 1)
        return None if isinstance(found, Space) else found

    def _included(self, page: Page, rows: list[DefinitionRow]) -> Meaning | None:
        """Where imports name files: what an included file has is meant; what none has can only be guessed."""
        seen = self._resolver.included(page)
        visible = [row for row in rows if row.file in seen or row.kind in SPACE_KINDS]
        return self.of_rows(visible) if visible else weaker(self.of_rows(rows), Certainty.LIKELY)


def _empty(variable: Variable) -> bool:
    """Says nothing of its type: `x = None`, a bare pattern. (For a parameter something may be passed.)"""
    return variable.role != "p" and not variable.type and variable.value in _NOTHING


def _encloses(page: Page, outer: int, scope: int) -> bool:
    """Imports in a function are for that function."""
    while outer != NOWHERE and scope != outer:
        if scope == NOWHERE:
            return False
        scope = page.definitions[scope].parent
    return True


def _outwards(place: str) -> Iterator[str]:
    while place:
        place = place.rpartition(".")[0]
        yield place


def callable_refs(resolver: Resolver, meaning: Meaning | None) -> tuple[Ref, ...]:
    """The functions among what a name means."""
    if not isinstance(meaning, Things):
        return ()
    return tuple(ref for ref in meaning.refs if resolver.definition(ref).kind in CALLABLE_KINDS)
