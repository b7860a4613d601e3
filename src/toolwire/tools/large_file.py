"""Some lines of a file too large to hold: it is read once to the end, counted and hashed, and only those are kept."""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass

from toolwire.tools.textfile import Text, decode_beginning

PIECE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which lines, from 1, inclusive; `last` None to the end; never more than fit."""

    first: int
    last: int | None
    lines: int
    chars: int
    """The last line is cut there if it is the only one."""


@dataclass(frozen=True, slots=True)
class Window:
    content: str
    end: int
    """The last line given."""
    total: int
    size: int
    digest: str
    sample: Text
    """The beginning: how the file is encoded and how its lines end."""


def read_window(descriptor: int, path: str, wanted: Wanted, check: Callable[[], None]) -> Window:
    """The lines of an open file; `check` may raise between two pieces. ToolError if it is no text."""
    sample = decode_beginning(os.pread(descriptor, PIECE, 0), path)
    decoder = codecs.getincrementaldecoder(sample.encoding)(errors="replace")
    digest = hashlib.sha256()
    collector = _Collector(wanted)
    size = 0
    while piece := os.pread(descriptor, PIECE, size):
        check()
        digest.update(piece)
        collector.add(decoder.decode(piece[len(sample.bom) :] if size == 0 else piece))
        size += len(piece)
    collector.add(decoder.decode(b"", final=True))
    return Window(collector.content, collector.end, collector.total, size, digest.hexdigest(), sample)


class _Collector:
    """Lines as their text comes in pieces."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._last = wanted.first + wanted.lines - 1 if wanted.last is None else wanted.last
        self._last = min(self._last, wanted.first + wanted.lines - 1)
        self._whole: list[str] = []
        self._part = ""
        """Of the line that is coming in, as much as is wanted of it."""
        self._room = wanted.chars
        self._full = False
        self._ended = 0
        """Lines that have ended."""
        self._open = False
        """Whether another one has begun."""

    def add(self, text: str) -> None:
        if not text:
            return
        if self._full or self._ended + text.count("\n") + 1 < self._wanted.first:
            self._ended += text.count("\n")
        else:
            *ended, rest = text.split("\n")
            for line in ended:
                self._take(line)
                self._end_line()
            self._take(rest)
        self._open = not text.endswith("\n")

    def _take(self, text: str) -> None:
        if not self._full and self._ended + 1 >= self._wanted.first:
            self._part += text[: max(0, self._wanted.chars - len(self._part))]

    def _end_line(self, newline: str = "\n") -> None:
        self._ended += 1
        if self._full or self._ended < self._wanted.first:
            return
        self._room -= len(self._part) + len(newline)
        if self._room < 0 and self._whole:
            self._full = True
        else:
            self._whole.append(self._part + newline)
            self._full = self._room <= 0 or self._ended >= self._last
        self._part = ""

    @property
    def total(self) -> int:
        return self._ended + self._open

    @property
    def end(self) -> int:
        return self._wanted.first + len(self._given()) - 1

    @property
    def content(self) -> str:
        return "".join(self._given())

    def _given(self) -> list[str]:
        """With the line that the file ends in without a newline, if it is wanted and fits."""
        fits = not self._whole or len(self._part) <= self._room
        if self._part and not self._full and fits:
            return [*self._whole, self._part]
        return self._whole
