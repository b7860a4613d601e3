"""What a receiver or a value is: its steps taken one by one, from what each step is known to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire.codemap.library import Page, Ref
from toolwire.codemap.meaning import OUTSIDE, Certainty, Instance, Meaning, Outside, Space, Things, united, weaker
from toolwire.codemap.reading import Segment, alternatives, literal_kind, segments, unwrap
from toolwire.codemap.sheet import CALLABLE_KINDS, NOWHERE, TYPE_KINDS

if TYPE_CHECKING:
    from toolwire.codemap.resolver import Resolver


class Expressions:
    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def meaning(self, page: Page, scope: int, text: str) -> Meaning | None:
        """None if nothing is known of it; OUTSIDE if it is known not to be of this project."""
        key = ("meaning", page.id, scope, text)
        return self._resolver.remember(key, lambda: self._meaning(page, scope, text), None)

    def _meaning(self, page: Page, scope: int, text: str) -> Meaning | None:
        text, cast = unwrap(text)
        if cast:
            types = self._resolver.types(page, scope, cast)
            return Instance(types) if types else OUTSIDE
        if literal_kind(text) or text[:1] in "[{":
            return OUTSIDE
        either = alternatives(text)
        if len(either) > 1:
            return united([self.meaning(page, scope, one) for one in either])
        steps = segments(text, page.language.members)
        if steps is None:
            return None
        return self._walk(page, scope, steps)

    def called(self, page: Page, scope: int, text: str) -> tuple[Ref, ...]:
        """The functions that an expression which ends in a call may call last."""
        steps = segments(unwrap(text)[0], page.language.members)
        if not steps or not steps[-1].called:
            return ()
        last = steps[-1].name
        if len(steps) == 1:
            found = self._resolver.names.lookup(page, scope, last, values=page.language.function_values)
        else:
            found = self.member(page, self._walk(page, scope, steps[:-1]), last, calling=True)
        return found.refs if isinstance(found, Things) else ()

    def qualified(self, page: Page, scope: int, dotted: str, *, values: bool = True) -> Meaning | None:
        """A dotted name as types and imports write it; without `values` a variable of that name is not meant."""
        parts = tuple(Segment(part) for part in dotted.split(".") if part)
        return self._walk(page, scope, parts, values) if parts else None

    def _walk(self, page: Page, scope: int, steps: tuple[Segment, ...], values: bool = True) -> Meaning | None:
        meaning, used = self._start(page, scope, steps, values)
        for step in steps[used:]:
            if step.name == page.language.construct and isinstance(meaning, Things):
                meaning = Instance(meaning.refs, meaning.sure)
                continue
            meaning = self._apply(self.member(page, meaning, step.name, step.called), step)
        return meaning

    def _start(self, page: Page, scope: int, steps: tuple[Segment, ...], values: bool) -> tuple[Meaning | None, int]:
        first = steps[0]
        language = page.language
        spelled = f"{first.name}()" if first.called else first.name
        if spelled in language.super_names:
            bases = [base for ref in self._resolver.around(page, scope) for base in self._resolver.members.bases(ref)]
            return (Instance(tuple(dict.fromkeys(bases))) if bases else OUTSIDE), 1
        if first.name in language.self_names:
            types = self._resolver.around(page, scope)
            if types:
                return Instance(types), 1
        imported, used = self._dotted_import(page, steps)
        if imported is not None:
            return imported, used
        values = values and (language.function_values or not first.called)
        names = self._resolver.names
        found = names.lookup(page, scope, first.name, values=values)
        if found is None and not values:
            found = names.lookup(page, scope, first.name)
        if found is None:
            found = self._namespace(page, scope, first.name) or self._unseen(page, scope)
        return self._apply(found, first), 1

    def _dotted_import(self, page: Page, steps: tuple[Segment, ...]) -> tuple[Meaning | None, int]:
        """`import a.b` is used as `a.b.c`: the longest imported prefix counts."""
        for length in range(len(steps), 1, -1):
            if any(step.called or step.indexed for step in steps[:length]):
                continue
            name = ".".join(step.name for step in steps[:length])
            for item in page.imports.get(name, ()):
                return self._resolver.names.of_import(page, item) or OUTSIDE, length
        return None, 0

    def _namespace(self, page: Page, scope: int, name: str) -> Meaning | None:
        """The first part of a fully written name: a package or namespace of the project."""
        return self._resolver.top_space(page, scope, name)

    def _unseen(self, page: Page, scope: int) -> Meaning | None:
        """A name that is visible nowhere is a language's own, unless an ancestor we don't see may have it."""
        if page.language.implicit_self:
            around = self._resolver.around(page, scope)
            if any(self._resolver.members.foreign_ancestor(ref) for ref in around):
                return None
        return OUTSIDE

    def member(self, page: Page, meaning: Meaning | None, name: str, calling: bool = False) -> Meaning | None:
        values = page.language.function_values or not calling
        if isinstance(meaning, Space):
            found = self._resolver.names.in_module(page, meaning.target, name) or OUTSIDE
            return weaker(found, meaning.sure)
        if isinstance(meaning, Things):
            types = tuple(ref for ref in meaning.refs if self._resolver.definition(ref).kind in TYPE_KINDS)
            if types:
                return weaker(self._resolver.members.of_types(types, name, values=values), meaning.sure)
            returned = self._returned(meaning)
            return self.member(page, returned, name, calling) if returned is not None else None
        if isinstance(meaning, Instance):
            if not meaning.refs:
                return None
            return weaker(self._resolver.members.of_types(meaning.refs, name, values=values), meaning.sure)
        return meaning

    def _apply(self, meaning: Meaning | None, step: Segment) -> Meaning | None:
        """Calling a class makes an instance, calling a function gives what it returns."""
        if meaning is None or isinstance(meaning, Outside):
            return meaning
        if step.called:
            if isinstance(meaning, Things):
                types = tuple(ref for ref in meaning.refs if self._resolver.definition(ref).kind in TYPE_KINDS)
                meaning = Instance(types, meaning.sure) if types else self._returned(meaning)
            else:
                meaning = None
        return None if step.indexed else meaning

    def _returned(self, meaning: Things) -> Meaning | None:
        found = [
            self._return_of(ref) for ref in meaning.refs if self._resolver.definition(ref).kind in CALLABLE_KINDS
        ]
        return weaker(united(found), meaning.sure) if found else None

    def _return_of(self, ref: Ref) -> Meaning | None:
        page = self._resolver.page(ref.file)
        definition = self._resolver.definition(ref)
        if page is None:
            return None
        if definition.kind == "constructor":
            return Instance(self._resolver.around(page, ref.at))
        if not definition.returns:
            return self._resolver.remember(("returned", ref), lambda: self._shown_by_body(page, ref), None)
        if definition.returns.strip(": ->&") in ("Self", "self", "static", "this"):
            return Instance(self._resolver.around(page, ref.at))
        types = self._resolver.types(
            page, definition.parent if definition.parent != NOWHERE else ref.at, definition.returns
        )
        return Instance(types) if types else OUTSIDE

    def _shown_by_body(self, page: Page, ref: Ref) -> Meaning | None:
        """What the return statements give, where the head does not say it. Never more than likely."""
        found = [self.meaning(page, ref.at, one.value) for one in page.returned.get(ref.at, ())]
        known = [meaning for meaning in found if isinstance(meaning, Instance) and meaning.refs]
        return weaker(united(known), Certainty.LIKELY) if known else None
