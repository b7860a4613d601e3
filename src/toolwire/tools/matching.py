"""Where a piece of code that a caller remembers is in a file (spec README, "apply_change").

Exactly as given, else line by line without regard to indentation and to blanks at line ends. More than one place is
the caller's to decide, so all are given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from toolwire.tools.indentation import moved, unit
from toolwire.tools.places import Places


@dataclass(frozen=True, slots=True)
class Match:
    start: int
    end: int
    """Characters of the text that the replacement takes the place of."""
    replacement: str
    how: Literal["exact", "indentation"]


def matches(text: str, search: str, replace: str) -> list[Match]:
    """Every place; the exact ones if there is any. Line ends of all three are `\\n` or all the file's own."""
    exact = [Match(start, end, replace, "exact") for start, end in Places(text).find(search)]
    if exact and not all(_inside_margin(text, match.start, search) for match in exact):
        return exact
    loose = _loose(text, _lines(search), _lines(replace)) or _loose(text, *_bare(search, replace))
    return loose if len(loose) >= len(exact) else exact


def _inside_margin(text: str, start: int, search: str) -> bool:
    """The string is there, but only because its line is set in deeper than the caller thought."""
    line = text.rfind("\n", 0, start) + 1
    return line < start and not text[line:start].strip() and search[:1] in (" ", "\t")


def _lines(content: str) -> list[str]:
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def _bare(search: str, replace: str) -> tuple[list[str], list[str]]:
    """Both without the blank lines around them, which models add and drop freely."""
    return _trimmed(_lines(search)), _trimmed(_lines(replace))


def _trimmed(lines: list[str]) -> list[str]:
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _loose(text: str, search: list[str], replace: list[str]) -> list[Match]:
    wanted = [line.strip() for line in search]
    if not any(wanted):
        return []
    lines = text.split("\n")
    bare = [line.strip() for line in lines]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    step = unit(lines)
    found: list[Match] = []
    at, size = 0, len(wanted)
    while at + size <= len(lines):
        if bare[at] == wanted[0] and bare[at : at + size] == wanted:
            there = lines[at : at + size]
            # A line's own `\r` stays; a deleted stretch takes its last line end along.
            end = starts[at + size] - 1 - (len(there[-1]) - len(there[-1].rstrip("\r")))
            end = min(starts[at + size], len(text)) if not replace else end
            carriage = "\r" if there[0].endswith("\r") else ""
            new = f"{carriage}\n".join(moved(replace, search, there, step))
            found.append(Match(starts[at], end, new, "indentation"))
            at += size
        else:
            at += 1
    return found
