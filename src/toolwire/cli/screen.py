"""Where commands write: text for people through rich, JSON lines for programs, notes beside the answer on stderr."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import msgspec
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

PIPED_WIDTH = 10_000
"""Columns of what is not a terminal: whoever reads it wraps it as they like."""
ARGUMENT_WIDTH = 60
"""Longer arguments of a call are shortened."""

ADDRESSES = ("projectKey", "webSocketSessionId")
"""What document 1 adds to the arguments of every call; nobody reads it twice."""

_CONTROLS = {code: None for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
_encoder = msgspec.json.Encoder()


def console(*, notes: bool = False) -> Console:
    """A console that wraps, cuts and colours nothing when its output is not a terminal."""
    stream = sys.stderr if notes else sys.stdout
    width = None if stream.isatty() else PIPED_WIDTH
    return Console(stderr=notes, highlight=False, markup=False, emoji=False, soft_wrap=True, width=width)


def table(*names: str) -> Table:
    """Columns without a frame."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        made.add_column(name, overflow="fold")
    return made


def print_table(screen: Console, made: Table, whole: int) -> None:
    """So many of its first columns are never cut, however narrow the terminal: they are what commands take."""
    for column in made.columns[:whole]:
        column.no_wrap = True
        column.min_width = max(cell_len(str(cell)) for cell in (column.header, *column.cells))
    screen.print(made, soft_wrap=False)


def clean(text: str) -> str:
    """Without control characters: what an agent says or a file holds must not steer the terminal."""
    return text.translate(_CONTROLS)


def json_text(value: Any) -> str:
    return _encoder.encode(value).decode("utf-8", "replace")


def json_line(value: Any) -> None:
    """One JSON value, one line, at once."""
    sys.stdout.write(json_text(value) + "\n")
    sys.stdout.flush()


def call_line(tool: str, arguments: Mapping[str, Any]) -> Text:
    """`→ grep_file pattern="TODO" limit=5`"""
    line = Text("", no_wrap=True, overflow="ellipsis")
    line.append("→ ", style="cyan").append(clean(tool), style="bold")
    for name, value in arguments.items():
        if name in ADDRESSES:
            continue
        line.append(f" {clean(name)}=", style="dim")
        line.append(short(_encoder.encode(value).decode("utf-8", "replace")))
    return line


def result_line(tool: str, ok: bool, *, ms: int | None = None, note: str = "") -> Text:
    """`✓ grep_file 12 ms` or `✗ read_file 1 ms: File not found: x`"""
    line = Text("✓ " if ok else "✗ ", style="green" if ok else "red")
    line.append(clean(tool), style="bold")
    if ms is not None:
        line.append(f" {ms} ms", style="dim")
    if note:
        line.append(f": {short(note, 200)}", style="" if ok else "red")
    return line


def short(text: str, width: int = ARGUMENT_WIDTH) -> str:
    """One line of it."""
    line = " ".join(clean(text).split())
    return line if len(line) <= width else line[: width - 1] + "…"
