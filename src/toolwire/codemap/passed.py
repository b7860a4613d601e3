"""What is passed for a parameter whose type is not written down: the arguments of the calls of its function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolwire.codemap.library import Page, Ref
from toolwire.codemap.meaning import Certainty, Instance, Meaning, Things, united, weaker
from toolwire.codemap.reading import argument_texts
from toolwire.codemap.sheet import CALLABLE_KINDS, Call, Variable

if TYPE_CHECKING:
    from toolwire.codemap.resolver import Resolver

_CALLS = 15
"""Calls of one function looked at; its callers seldom pass many different types."""
_FILES = 10
"""Files with such calls looked at, the nearest first."""
_DEPTH = 3
"""An argument may itself be a parameter that somebody else passed; that is not followed any further, for time."""


class Passed:
    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self._depth = 0

    def to(self, page: Page, parameter: Variable) -> Meaning | None:
        """The types of what is passed for a parameter. Never more than likely: others may call it too."""
        if self._depth >= _DEPTH:
            self._resolver.cut_short = True
            return None
        key = ("passed", page.id, parameter.scope, parameter.name)
        return self._resolver.remember(key, lambda: self._look(page, parameter), None)

    def _look(self, page: Page, parameter: Variable) -> Meaning | None:
        position = self._position(page, parameter)
        if position is None:
            return None
        self._depth += 1
        try:
            known = list(self._known(page, parameter, position))
        finally:
            self._depth -= 1
        return weaker(united(known), Certainty.LIKELY) if known else None

    def _known(self, page: Page, parameter: Variable, position: int) -> Iterator[Meaning]:
        target = Ref(page.id, parameter.scope)
        for other, call in self._calls(page, parameter.scope):
            skip = self._receiver_written_out(page, parameter.scope, other, call)
            text = _argument(call, position, parameter.name, 1 if skip else 0)
            if not text or not any(reached.ref == target for reached in self._resolver.call(other, call)):
                continue
            meaning = self._resolver.expressions.meaning(other, call.scope, text)
            if isinstance(meaning, Instance) and meaning.refs:
                yield meaning

    def _receiver_written_out(self, page: Page, scope: int, other: Page, call: Call) -> bool:
        """Called on the type itself, with the receiver as the first argument: `Base.method(self, value)`."""
        definition = page.definitions[scope]
        if definition.kind == "function" or call.name != definition.name or not call.receiver:
            return False
        receiver = self._resolver.expressions.meaning(other, call.scope, call.receiver)
        first = argument_texts(call.arguments)[:1]
        return isinstance(receiver, Things) and bool(first) and first[0] in other.language.self_names

    def _position(self, page: Page, parameter: Variable) -> int | None:
        """Which argument it is; None for the receiver itself and for what takes the rest."""
        if parameter.flag == "*" or page.definitions[parameter.scope].kind not in CALLABLE_KINDS:
            return None
        names = [one.name for one in page.parameters.get(parameter.scope, ())]
        receiver = 1 if names and names[0] in page.language.self_names else 0
        position = names.index(parameter.name) - receiver if parameter.name in names else -1
        return position if position >= 0 else None

    def _calls(self, page: Page, scope: int) -> Iterator[tuple[Page, Call]]:
        names = [page.definitions[scope].name]
        if page.definitions[scope].kind == "constructor" and (around := page.enclosing_type(scope)) >= 0:
            # Called by the type's name or, from the types below, by its own.
            names = list(dict.fromkeys((page.definitions[around].name, *names)))
        for name in names:
            left = _CALLS
            for other in self._nearest(page, name):
                for call in other.calls_named.get(name, ()):
                    if call.arguments and left > 0:
                        left -= 1
                        yield other, call

    def _nearest(self, page: Page, name: str) -> list[Page]:
        files = self._resolver.library.shelf.calling(name)
        pages = [other for file in files if (other := self._resolver.page(file)) is not None]
        same = [other for other in pages if other.language.family == page.language.family]
        folder = page.path.rpartition("/")[0]
        same.sort(key=lambda other: (other.id != page.id, not other.path.startswith(folder), other.path))
        return same[:_FILES]


def _argument(call: Call, position: int, name: str, skip: int) -> str:
    """The argument by its name, else by its place after those to skip. One that is unpacked says nothing."""
    texts = argument_texts(call.arguments)
    for text in texts:
        given, equals, value = text.partition("=")
        if equals and given.strip() == name and not value.startswith("="):
            return value.strip()
    texts = texts[skip:]
    if any(text.startswith("*") for text in texts[: position + 1]) or position >= len(texts):
        return ""
    text = texts[position]
    return "" if "=" in text.partition("(")[0] else text
