"""The text of an .ipynb file, cell by cell, so that changing one cell leaves the bytes of all others as they were.

Python's own JSON decoder tells where each cell begins and ends; new cells are written in the file's own style.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()

Cell = dict[str, Any]


class Kept(NamedTuple):
    """An old cell, by its number, in the new order."""

    number: int


@dataclass(frozen=True, slots=True)
class NotebookText:
    """Where the cells are in a notebook's text."""

    text: str
    notebook: dict[str, Any]
    opening: int
    """Just after the `[` of the cells."""
    closing: int
    """At their `]`."""
    spans: tuple[tuple[int, int], ...]
    indent: str | None
    """One step of indentation; None if the file is written on one line."""
    newline: str

    @classmethod
    def parse(cls, text: str) -> NotebookText:
        """Raises ValueError if the text is no JSON object with a list of cells."""
        notebook = json.loads(text)
        if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
            raise ValueError("no list of cells")
        opening, spans, closing = _cells(text)
        first = re.match(r"\s*\{(\r?\n)([ \t]*)", text)
        indent = first.group(2) if first else None
        return cls(text, notebook, opening, closing, tuple(spans), indent, first.group(1) if first else "\n")

    @property
    def cells(self) -> list[Cell]:
        cells: list[Cell] = self.notebook["cells"]
        return cells

    def with_cells(self, cells: Sequence[Cell | Kept]) -> str:
        """The text with these cells, in this order; a kept one byte for byte."""
        pieces: list[str] = []
        previous: int | None = -1
        for cell in cells:
            number = cell.number if isinstance(cell, Kept) else None
            pieces.append(self._gap(previous, number))
            pieces.append(self._cell_text(cell))
            previous = number
        pieces.append(self._end() if cells else "")
        return self.text[: self.opening] + "".join(pieces) + self.text[self.closing :]

    def _cell_text(self, cell: Cell | Kept) -> str:
        if isinstance(cell, Kept):
            start, end = self.spans[cell.number]
            return self.text[start:end]
        tight = self.indent is None and '": ' not in self.text
        separators = (",", ":") if tight else (", " if self.indent is None else ",", ": ")
        text = json.dumps(cell, ensure_ascii=False, indent=self.indent, separators=separators)
        return text if self.indent is None else text.replace("\n", self.newline + self.indent * 2)

    def _gap(self, previous: int | None, number: int | None) -> str:
        """What stands before a cell: as it was, between two that were neighbours; else as between any two."""
        if previous == -1:
            return self.text[self.opening : self.spans[0][0]] if self.spans else self._line(2)
        if previous is not None and number == previous + 1:
            return self.text[self.spans[previous][1] : self.spans[number][0]]
        if len(self.spans) > 1:
            return self.text[self.spans[0][1] : self.spans[1][0]]
        return "," + (self._line(2) or " ")

    def _end(self) -> str:
        return self.text[self.spans[-1][1] : self.closing] if self.spans else self._line(1)

    def _line(self, depth: int) -> str:
        return "" if self.indent is None else self.newline + self.indent * depth


def _cells(text: str) -> tuple[int, list[tuple[int, int]], int]:
    """Opening and closing of the top-level `cells` (the last, as for a decoder), and each cell between."""
    found: tuple[int, list[tuple[int, int]], int] | None = None
    at = _skip(text, _skip(text, 0) + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if key == "cells" and text[at] == "[":
            found = _items(text, at + 1)
        _, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    if found is None:
        raise ValueError("no list of cells")
    return found


def _items(text: str, opening: int) -> tuple[int, list[tuple[int, int]], int]:
    spans: list[tuple[int, int]] = []
    at = _skip(text, opening)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        spans.append((at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return opening, spans, at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()
