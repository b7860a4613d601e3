"""How a text is indented, and moving lines from one indentation to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

_WIDTHS = range(2, 9)


def margin(line: str) -> str:
    """The blanks a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def unit(lines: Iterable[str]) -> str | None:
    """One step of indentation: a tab, or as many blanks as lines are most often set in by; None if none is."""
    tabs = spaces = 0
    before: int | None = None
    steps: Counter[int] = Counter()
    for line in lines:
        if not line.strip():
            continue
        blanks = margin(line)
        tabs += blanks.startswith("\t")
        spaces += blanks.startswith(" ")
        if "\t" not in blanks:
            if before is not None and len(blanks) - before in _WIDTHS:
                steps[len(blanks) - before] += 1
            before = len(blanks)
    if tabs > spaces:
        return "\t"
    return " " * steps.most_common(1)[0][0] if steps else None


def moved(lines: Sequence[str], written: Sequence[str], found: Sequence[str], step: str | None) -> list[str]:
    """Lines meant to replace `written`, set in as the `found` lines of the file are, which say the same.

    Each margin of the written lines has its counterpart among the found ones; a deeper one is built on the nearest,
    a shallower one is cut from it. `step` is the file's own.
    """
    margins: dict[str, str] = {}
    for mine, theirs in zip(written, found, strict=True):
        if mine.strip():
            margins.setdefault(margin(mine), margin(theirs))
    steps = (unit(lines) or unit(written) or "", step or "")
    return [_set_in(margin(line), margins, steps) + line.strip(" \t\r") if line.strip() else "" for line in lines]


def _set_in(blanks: str, margins: Mapping[str, str], steps: tuple[str, str]) -> str:
    if blanks in margins:
        return margins[blanks]
    below = [known for known in margins if blanks.startswith(known)]
    if below:
        nearest = max(below, key=len)
        return margins[nearest] + _converted(blanks[len(nearest) :], *steps)
    nearest = min(margins, key=len, default="")
    missing = _converted(nearest[len(blanks) :], *steps)
    there = margins.get(nearest, "")
    return there[: len(there) - len(missing)] if missing and there.endswith(missing) else ""


def _converted(blanks: str, mine: str, theirs: str) -> str:
    """Blanks counted in one unit, written in another."""
    if not mine or not theirs or mine == theirs or blanks.strip(mine[0]):
        return blanks
    count, rest = divmod(len(blanks), len(mine))
    return theirs * count + " " * rest
