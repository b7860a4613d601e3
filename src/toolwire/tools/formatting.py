"""Formatting the lines an edit changed, and no others; never a failure of the edit itself.

Whatever a formatter gives back, only its changes that touch the changed lines are taken. If some were left out, it is
asked whether it can still read the outcome; and Python code must mean the same as before.
"""

from __future__ import annotations

import ast
import os
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from toolwire.tools import formatters, patch
from toolwire.tools.base import Context
from toolwire.tools.diff import Block, blocks
from toolwire.tools.formatters import Declined, Formatter, Job

_ENVIRONMENT = ("PATH", "HOME", "TMPDIR")


@dataclass(frozen=True, slots=True)
class Formatted:
    text: str
    by: str | None = None
    """The formatter that did it."""
    trouble: str | None = None
    """Why it was left as it was, if a formatter was there."""


def format_lines(context: Context, path: str, text: str, first: int, last: int) -> Formatted:
    """Lines `first` to `last` (from 1, inclusive) of a text whose lines end with `\\n`."""
    formatter = formatters.for_path(path, context.settings.formatters)
    program = formatter.program(context.workspace.root) if formatter else None
    if formatter is None or program is None or first > last:
        return Formatted(text)
    try:
        with tempfile.TemporaryDirectory(prefix="toolwire-") as scratch:
            job = Job(context.workspace, path, text, first, last, Path(scratch))
            kept = _kept(context, formatter, program, job)
    except (Declined, OSError, subprocess.SubprocessError, UnicodeError) as error:
        return Formatted(text, trouble=f"{formatter.name}: {_first_line(error)}")
    if formatter.name == "ruff" and not _same_meaning(text, kept):
        return Formatted(text, trouble=f"{formatter.name}: the meaning would have changed")
    return Formatted(kept, by=formatter.name)


def _kept(context: Context, formatter: Formatter, program: str, job: Job) -> str:
    kept, left_out = keep_changed(job.text, _run(context, formatter, program, job), job.first, job.last)
    if left_out and kept != job.text:
        _run(context, formatter, program, replace(job, text=kept))
    return kept


def keep_changed(old: str, new: str, first: int, last: int) -> tuple[str, bool]:
    """The old text with those differences to the new one that touch the lines; whether others were left out."""
    mine, theirs = patch.split(old), patch.split(new)
    result: list[str] = []
    done = 0
    left_out = False
    for block in blocks(mine, theirs):
        part = _touching(block, mine, theirs, first - 1, last)
        left_out |= part != block
        if part is not None:
            result += mine[done : part.old_start]
            result += theirs[part.new_start : part.new_end]
            done = part.old_end
    return patch.join(result + mine[done:]), left_out


def _touching(block: Block, old: list[str], new: list[str], start: int, end: int) -> Block | None:
    """The block without those lines at its ends that lie outside `start:end` and differ in blanks; None if all do."""
    i0, i1, j0, j1 = block
    if i0 == i1:
        return block if start <= i0 <= end else None
    while i0 < i1 and j0 < j1 and i0 < start and _same_but_blanks(old[i0], new[j0]):
        i0, j0 = i0 + 1, j0 + 1
    while i0 < i1 and j0 < j1 and i1 > end and _same_but_blanks(old[i1 - 1], new[j1 - 1]):
        i1, j1 = i1 - 1, j1 - 1
    touches = i0 < end and i1 > start
    return Block(i0, i1, j0, j1) if touches and (i0 < i1 or j0 < j1) else None


def _same_but_blanks(mine: str, theirs: str) -> bool:
    return mine.split() == theirs.split() or "".join(mine.split()) == "".join(theirs.split())


def _run(context: Context, formatter: Formatter, program: str, job: Job) -> str:
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    done = subprocess.run(
        [program, *formatter.arguments(job)],
        input=job.text.encode(),
        capture_output=True,
        timeout=min(context.settings.formatter_timeout, max(context.remaining(), 0.1)),
        cwd="/",
        env={**environment, "LC_ALL": "C.UTF-8"},
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise subprocess.SubprocessError(said[0] if said else f"exit code {done.returncode}")
    return done.stdout.decode()


def _same_meaning(old: str, new: str) -> bool:
    try:
        before = ast.dump(ast.parse(old))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Syntax newer than this Python: the formatter itself has read it.
        return True
    try:
        return before == ast.dump(ast.parse(new))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _first_line(error: Exception) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"took longer than {error.timeout:g} s"
    return (str(error).splitlines() or [type(error).__name__])[0]
