"""The patch of edits that name strings (Edit, MultiEdit): one hunk per edited place.

A hunk covers the lines that the old and the new string touch and no others; places that overlap or adjoin become
one hunk (spec, "structuredPatch").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from toolwire.tools.patch import Hunk, split, whole

Span = tuple[int, int]


class _Place(NamedTuple):
    """Characters `old_start:old_end` of the first text are now `new_start:new_end` of the present one."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


class Places:
    """A text under edit: each replacement works on the result of the last, and remembers where it happened."""

    def __init__(self, old: str) -> None:
        self.old = old
        self.text = old
        self._places: list[_Place] = []

    def find(self, string: str) -> list[Span]:
        """Where a non-empty string occurs in the present text, left to right, without overlaps."""
        spans: list[Span] = []
        at = self.text.find(string)
        while at >= 0:
            spans.append((at, at + len(string)))
            at = self.text.find(string, at + len(string))
        return spans

    def replace(self, spans: Sequence[Span], new: str) -> None:
        """Put `new` in place of each span of the present text; spans are in order and do not overlap."""
        self._places = list(_merged(self._places, spans, len(new)))
        pieces: list[str] = []
        done = 0
        for start, end in spans:
            pieces += (self.text[done:start], new)
            done = end
        pieces.append(self.text[done:])
        self.text = "".join(pieces)

    def hunks(self) -> list[Hunk]:
        hunks: list[Hunk] = []
        old_line = new_line = old_at = new_at = 0
        for place in self._by_lines():
            old_line += self.old.count("\n", old_at, place.old_start)
            new_line += self.text.count("\n", new_at, place.new_start)
            old_at, new_at = place.old_start, place.new_start
            old = split(self.old[place.old_start : place.old_end])
            new = split(self.text[place.new_start : place.new_end])
            hunk = whole(old, new, old_line, new_line)
            if hunk is not None:
                hunks.append(hunk)
        return hunks

    def _by_lines(self) -> Iterator[_Place]:
        """The places, each widened to whole lines on both sides alike, those that meet made one."""
        current: _Place | None = None
        for place in self._places:
            if current is not None and place.old_start >= current.old_end:
                widened = self._to_line_start(place)
                if widened.old_start > current.old_end:
                    yield current
                    current = None
            if current is None:
                current = self._to_line_start(place)
            current = self._to_line_end(_Place(current.old_start, place.old_end, current.new_start, place.new_end))
        if current is not None:
            yield current

    def _to_line_start(self, place: _Place) -> _Place:
        back = place.old_start - (self.old.rfind("\n", 0, place.old_start) + 1)
        return place._replace(old_start=place.old_start - back, new_start=place.new_start - back)

    def _to_line_end(self, place: _Place) -> _Place:
        if _at_line_start(self.old, place.old_end) and _at_line_start(self.text, place.new_end):
            return place
        end = self.old.find("\n", place.old_end) + 1 or len(self.old)
        on = end - place.old_end
        return place._replace(old_end=end, new_end=place.new_end + on)


def _at_line_start(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n"


def _merged(places: Sequence[_Place], spans: Sequence[Span], length: int) -> Iterator[_Place]:
    """Earlier places and new spans, those that touch made one, in the coordinates after the replacement.

    Everything is laid out on the text before the replacement; `back` leads from there to the first text, `on` to
    the text after it.
    """
    rows = sorted(
        [(p.new_start, p.new_end, (p.old_end - p.old_start) - (p.new_end - p.new_start), 0) for p in places]
        + [(start, end, 0, length - (end - start)) for start, end in spans]
    )
    back = on = 0
    index = 0
    while index < len(rows):
        start, end = rows[index][:2]
        back_before, on_before = back, on
        while index < len(rows) and rows[index][0] <= end:
            end = max(end, rows[index][1])
            back += rows[index][2]
            on += rows[index][3]
            index += 1
        yield _Place(start + back_before, end + back, start + on_before, end + on)
