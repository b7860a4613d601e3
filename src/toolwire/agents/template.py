"""`{{1}}` and `{{1.content}}` in a script's strings: results of earlier calls of the turn (see the design).

A string is compiled once. One without a reference stays a plain string and costs nothing to fill in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from toolwire.core.events import CallSettled

Results = Sequence[CallSettled]
Fill = Callable[[Results], Any]

_REFERENCE = re.compile(r"\{\{\s*([1-9][0-9]{0,5})((?:\.[^{}.\s]+)*)\s*\}\}")
_ABSENT = object()


class Template:
    """A text with references in it."""

    __slots__ = ("_parts",)

    def __init__(self, text: str) -> None:
        self._parts: list[str | tuple[int, tuple[str, ...], str]] = []
        end = 0
        for found in _REFERENCE.finditer(text):
            self._parts.append(text[end : found.start()])
            self._parts.append((int(found[1]) - 1, tuple(found[2].split(".")[1:]), found[0]))
            end = found.end()
        self._parts.append(text[end:])

    def fill(self, results: Results) -> str:
        """The text with results in it. A reference to nothing stays as it is written, for the author to see."""
        return "".join(part if isinstance(part, str) else _resolve(part, results) for part in self._parts)


def compile_text(text: str) -> str | Template:
    return Template(text) if "{{" in text and _REFERENCE.search(text) else text


def fill_text(text: str | Template, results: Results) -> str:
    return text if isinstance(text, str) else text.fill(results)


def compile_value(value: Any) -> Fill | None:
    """How to fill in the strings anywhere inside a JSON value, or None if there is nothing to fill in."""
    if isinstance(value, str):
        text = compile_text(value)
        return None if isinstance(text, str) else text.fill
    if isinstance(value, Mapping):
        fills = {name: fill for name, item in value.items() if (fill := compile_value(item))}
        return (lambda results: {**value, **{name: fill(results) for name, fill in fills.items()}}) if fills else None
    if isinstance(value, list):
        items = [(item, compile_value(item)) for item in value]
        if any(fill for _, fill in items):
            return lambda results: [fill(results) if fill else item for item, fill in items]
    return None


def _resolve(reference: tuple[int, tuple[str, ...], str], results: Results) -> str:
    index, path, written = reference
    if index >= len(results):
        return written
    settled = results[index]
    if settled.outcome != "ok":
        return settled.error
    if isinstance(settled.result, str):
        return settled.result
    value = _walk(settled.result, path)
    if value is _ABSENT:
        return written
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _walk(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return _ABSENT
    return value
