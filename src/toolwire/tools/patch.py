"""Structured patches, as npm's `diff` and document 4 (appendix "Hunk") have them.

Lines are split at `\\n` only, so a `\\r` stays in its line; a last line without newline is followed by a line of its
own that says so. Line numbers start at 1; an empty side is numbered by the line that would come next.
`apply(old, unified(old, new)) == new`, always.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from toolwire.errors import ToolError
from toolwire.tools.diff import Block, blocks

NO_NEWLINE = "\\ No newline at end of file"

_OPEN = "\n"
"""Ends a last line that has no newline: no other line can contain it, so it equals no line that has one."""


class Hunk(BaseModel):
    """One stretch of lines that changed: context ` `, removed `-`, added `+`."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]


def unified(old: str, new: str, context: int = 3) -> list[Hunk]:
    """The smallest line diff, with `context` unchanged lines around each change."""
    if old == new:
        return []
    mine, theirs = split(old), split(new)
    return [_around(mine, theirs, group, context) for group in _groups(blocks(mine, theirs), context)]


def whole(old: Sequence[str], new: Sequence[str], old_line: int, new_line: int) -> Hunk | None:
    """One hunk over all of two stretches (lines as `split` gives them) that start after those many lines.

    None if nothing differs.
    """
    found = blocks(old, new)
    if not found:
        return None
    hunk = _around(old, new, found, max(len(old), len(new)))
    return hunk.model_copy(update={"old_start": old_line + 1, "new_start": new_line + 1})


def apply(old: str, hunks: Sequence[Hunk]) -> str:
    """The new text. Strict: every context and removed line must be found where the patch says."""
    lines, result = split(old), list[str]()
    done = 0
    for number, hunk in enumerate(hunks, 1):
        before, after = _sides(hunk, number)
        start = hunk.old_start - 1
        if start < done or lines[start : start + len(before)] != before:
            raise _misfit(number, "the lines at its place are not the ones it expects")
        result += lines[done:start]
        if hunk.new_start - 1 != len(result):
            raise _misfit(number, "its new line number does not follow from the hunks before")
        result += after
        done = start + len(before)
    result += lines[done:]
    if any(line.endswith(_OPEN) for line in result[:-1]):
        raise _misfit(len(hunks), "a line without newline would not be the last one")
    return join(result)


def invert(hunks: Sequence[Hunk]) -> list[Hunk]:
    """The patch that takes the new text back to the old one."""
    return [
        Hunk(
            old_start=hunk.new_start,
            old_lines=hunk.new_lines,
            new_start=hunk.old_start,
            new_lines=hunk.old_lines,
            lines=tuple(_inverted(hunk.lines)),
        )
        for hunk in hunks
    ]


def as_text(hunks: Sequence[Hunk]) -> str:
    """The hunks as people read them: the body of a unified diff."""
    rows: list[str] = []
    for hunk in hunks:
        # The format's own quirk: an empty side is numbered by the line before it.
        old = hunk.old_start - (hunk.old_lines == 0)
        new = hunk.new_start - (hunk.new_lines == 0)
        rows.append(f"@@ -{old},{hunk.old_lines} +{new},{hunk.new_lines} @@")
        rows += hunk.lines
    return "\n".join(rows)


def tally(hunks: Sequence[Hunk]) -> tuple[int, int]:
    """How many lines were added, and how many removed."""
    signs = [line[:1] for hunk in hunks for line in hunk.lines]
    return signs.count("+"), signs.count("-")


def split(text: str) -> list[str]:
    """Lines without their newline; a last line that has none carries a mark instead."""
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += _OPEN
    else:
        lines.pop()
    return lines


def join(lines: list[str]) -> str:
    if not lines:
        return ""
    text = "\n".join(lines)
    return text[:-1] if lines[-1].endswith(_OPEN) else text + "\n"


def _groups(found: Sequence[Block], context: int) -> Iterable[list[Block]]:
    """Blocks whose contexts meet share a hunk."""
    group: list[Block] = []
    for block in found:
        if group and block.old_start - group[-1].old_end > 2 * context:
            yield group
            group = []
        group.append(block)
    yield group


def _around(old: Sequence[str], new: Sequence[str], group: Sequence[Block], context: int) -> Hunk:
    first, last = group[0], group[-1]
    before = min(context, first.old_start)
    after = min(context, len(old) - last.old_end)
    lines: list[str] = []
    at = first.old_start - before
    for block in group:
        _write(lines, " ", old[at : block.old_start])
        _write(lines, "-", old[block.old_start : block.old_end])
        _write(lines, "+", new[block.new_start : block.new_end])
        at = block.old_end
    _write(lines, " ", old[at : at + after])
    # Right by construction, and there may be many: not checked again.
    return Hunk.model_construct(
        old_start=first.old_start - before + 1,
        old_lines=last.old_end + after - first.old_start + before,
        new_start=first.new_start - before + 1,
        new_lines=last.new_end + after - first.new_start + before,
        lines=tuple(lines),
    )


def _write(out: list[str], sign: str, lines: Sequence[str]) -> None:
    out += [sign + line for line in lines]
    if lines and lines[-1].endswith(_OPEN):
        out[-1] = out[-1][:-1]
        out.append(NO_NEWLINE)


def _sides(hunk: Hunk, number: int) -> tuple[list[str], list[str]]:
    before: list[str] = []
    after: list[str] = []
    for line, follower in zip(hunk.lines, (*hunk.lines[1:], ""), strict=True):
        sign, text = line[:1], line[1:]
        if sign == "\\":
            continue
        if sign not in (" ", "-", "+") or "\n" in text:
            raise _misfit(number, f"not a line of a patch: {line!r}")
        if follower.startswith("\\"):
            text += _OPEN
        if sign != "+":
            before.append(text)
        if sign != "-":
            after.append(text)
    if (len(before), len(after)) != (hunk.old_lines, hunk.new_lines):
        raise _misfit(number, "its line counts do not fit its lines")
    return before, after


def _inverted(lines: Sequence[str]) -> Iterable[str]:
    """Signs swapped, and within each run of changes what is now removed goes first."""
    swap = {"-": "+", "+": "-"}
    removed: list[str] = []
    added: list[str] = []
    side = removed
    for line in lines:
        sign = line[:1]
        if sign == " ":
            yield from removed
            yield from added
            removed, added = [], []
            side = removed
            yield line
        elif sign == "\\" and not removed and not added:
            yield line
        else:
            if sign != "\\":
                side = added if sign == "-" else removed
            side.append(swap.get(sign, sign) + line[1:])
    yield from removed
    yield from added


def _misfit(number: int, reason: str) -> ToolError:
    return ToolError("patch_misfit", hunk=number, reason=reason)
