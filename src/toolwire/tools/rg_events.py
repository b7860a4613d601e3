"""rg's JSON output, event by event: pieces of bytes in, matched and surrounding lines out.

A line of a generated file can be as long as the file. Its event is not kept: only where it is, so that an excerpt can
be read from the file itself.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

EVENT_BYTES = 1024 * 1024
"""A longer event is only looked through for the numbers below."""
_OVERLAP = 256
_PLACE = re.compile(rb'"line_number":(\d+),"absolute_offset":(\d+)')
_START = re.compile(rb'"start":(\d+)')


@dataclass(frozen=True, slots=True)
class Line:
    """A line that matched (`start` is where, in bytes) or that surrounds one (`start` is None)."""

    number: int
    content: bytes
    """UTF-8 if the search program could decode it, else the bytes as they are in the file."""
    decoded: bool
    start: int | None
    offset: int
    """Of the line in the file, or in the file as decoded."""
    too_long: bool = False


@dataclass(frozen=True, slots=True)
class Begin:
    path: str


@dataclass(frozen=True, slots=True)
class End:
    binary: bool


Event = Line | Begin | End


def events(pieces: Iterable[bytes]) -> Iterator[Event]:
    for raw in _lines(pieces):
        event = raw if isinstance(raw, Line) else _event(raw)
        if event is not None:
            yield event


def _event(raw: bytes) -> Event | None:
    parsed = orjson.loads(raw)
    data = parsed["data"]
    match parsed["type"]:
        case "match" | "context":
            return _line(data, parsed["type"] == "match")
        case "begin":
            return Begin(data["path"].get("text", ""))
        case "end":
            return End(data["binary_offset"] is not None)
    return None


def _line(data: dict[str, Any], matched: bool) -> Line:
    lines, places = data["lines"], data["submatches"]
    text = lines.get("text")
    content = text.encode() if isinstance(text, str) else base64.b64decode(lines["bytes"])
    start = (places[0]["start"] if places else 0) if matched else None
    return Line(data["line_number"], content, isinstance(text, str), start, data["absolute_offset"])


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes | Line]:
    """Whole events as bytes; of a too long one a Line without its content."""
    held = b""
    skipping: _LongEvent | None = None
    for piece in pieces:
        *whole, rest = piece.split(b"\n")
        for part in whole:
            if skipping is None:
                yield held + part
            else:
                skipping.look_at(part)
                yield from skipping.found()
            held, skipping = b"", None
        if skipping is not None:
            skipping.look_at(rest)
        elif len(held) + len(rest) > EVENT_BYTES:
            skipping = _LongEvent(held + rest)
            held = b""
        else:
            held += rest


class _LongEvent:
    def __init__(self, head: bytes) -> None:
        self._matched = head.startswith(b'{"type":"match"')
        self._tail = b""
        self._place: tuple[int, int] | None = None
        self._start: int | None = None
        self.look_at(head)

    def look_at(self, piece: bytes) -> None:
        """Quotes inside the text are escaped, so these names can't be met in it."""
        window = self._tail + piece
        if self._place is None:
            found = _PLACE.search(window)
            if found:
                self._place = int(found[1]), int(found[2])
                window = window[found.end() :]
        if self._place is not None and self._start is None:
            start = _START.search(window)
            self._start = int(start[1]) if start else None
        self._tail = window[-_OVERLAP:]

    def found(self) -> Iterator[Line]:
        if self._place is not None:
            number, offset = self._place
            yield Line(number, b"", True, (self._start or 0) if self._matched else None, offset, too_long=True)
