"""The matches of one file, put together from rg's lines: decoded, cut to a readable length, with lines around."""

from __future__ import annotations

import os
from dataclasses import dataclass

from toolwire.errors import ToolError
from toolwire.settings import Settings
from toolwire.tools.pattern import Pattern
from toolwire.tools.rg_events import Line
from toolwire.tools.textfile import decode

ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class NumberedLine:
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Match:
    path: str
    line: int
    column: int
    """Of the first match in the line, in characters, counted from 1."""
    text: str
    """The line without its line end; several if the pattern spans them. A long one is cut around the match."""
    before: tuple[NumberedLine, ...]
    after: tuple[NumberedLine, ...]


class FileMatches:
    def __init__(self, path: str, descriptor: int, pattern: Pattern, around: int, settings: Settings) -> None:
        self._path = path
        self._descriptor = descriptor
        self._pattern = pattern
        self._around = around
        self._settings = settings
        self._encoding: str | None = None
        self._texts: dict[int, str] = {}
        """Every line seen, matched or not, cut for showing."""
        self._hits: list[tuple[int, int, str]] = []
        """Number, column and text of each line that matched."""

    def add(self, line: Line) -> None:
        if line.too_long:
            text, column = self._excerpt(line)
        else:
            text, column = self._decoded(line)
            if line.start is not None and self._pattern.legacy and not self._pattern.found_in(text):
                return  # other characters that happen to have these bytes
        shown = _cut(text, column, self._settings.grep_line_chars)
        for number, part in enumerate(shown.split("\n"), line.number):
            self._texts[number] = part
        if line.start is not None:
            self._hits.append((line.number, column, shown))

    def matches(self) -> list[Match]:
        return [self._match(*hit) for hit in self._hits]

    def _match(self, number: int, column: int, text: str) -> Match:
        last = number + text.count("\n")
        before = self._lines(number - self._around, number)
        after = self._lines(last + 1, last + 1 + self._around)
        return Match(self._path, number, column, text, before, after)

    def _lines(self, first: int, end: int) -> tuple[NumberedLine, ...]:
        numbers = range(max(1, first), end)
        return tuple(NumberedLine(number, self._texts[number]) for number in numbers if number in self._texts)

    def _decoded(self, line: Line) -> tuple[str, int]:
        start = line.start or 0
        encoding = "utf-8" if line.decoded else self._legacy_encoding()
        text = line.content.decode(encoding, "replace")
        column = len(line.content[:start].decode(encoding, "replace")) + 1
        text = text.removesuffix("\n").replace("\r\n", "\n").removesuffix("\r")
        return (text.removeprefix("\ufeff"), max(1, column - 1)) if text.startswith("\ufeff") else (text, column)

    def _legacy_encoding(self) -> str:
        """Judged by the whole file, once: a single line says too little."""
        if self._encoding is None:
            data = os.pread(self._descriptor, self._settings.read_max_bytes, 0)
            try:
                self._encoding = decode(data, self._path).encoding
            except ToolError:
                self._encoding = "utf-8"
        return self._encoding

    def _excerpt(self, line: Line) -> tuple[str, int]:
        """Around the match of a line too long to hold; its column is then in bytes."""
        start = line.start or 0
        room = self._settings.grep_line_chars
        first = max(0, start - room // 2)
        data = os.pread(self._descriptor, room * 2, line.offset + first)
        text = data.split(b"\n")[0].decode("utf-8", "replace").replace("\0", "")
        return ELLIPSIS + text[:room] + ELLIPSIS, start + 1


def _cut(text: str, column: int, most: int) -> str:
    if len(text) <= most or text.startswith(ELLIPSIS):
        return text
    first = max(0, min(column - 1 - most // 3, len(text) - most))
    head = ELLIPSIS if first else ""
    tail = ELLIPSIS if first + most < len(text) else ""
    return f"{head}{text[first : first + most]}{tail}"
