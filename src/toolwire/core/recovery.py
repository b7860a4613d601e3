"""Resuming a connection: from a cursor to the part of the log its reader has missed, or the news that it is lost.

A cursor is `epoch.seq`; `0` means from the start (design, "Resume").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CURSOR = re.compile(r"([0-9a-z]{1,32})\.(0|[1-9][0-9]{0,15})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Replay:
    """Send every event with a greater sequence number than `after`."""

    after: int


@dataclass(frozen=True, slots=True)
class Lost:
    """The cursor belongs to another log than the one kept here."""

    reason: str


def cursor(epoch: str, seq: int) -> str:
    return f"{epoch}.{seq}"


def resume(text: str, *, epoch: str, last: int) -> Replay | Lost:
    """What to send to a reader that has seen everything up to `text`."""
    if text == "0":
        return Replay(0)
    match = _CURSOR.fullmatch(text)
    if match is None:
        return Lost(f"not a cursor: {text[:80]!r}; a cursor is the `seq` of the last message seen, or 0")
    seen_epoch, seen = match[1], int(match[2])
    if seen_epoch != epoch:
        return Lost(f"the log was started anew (epoch {epoch}, the cursor is of {seen_epoch})")
    if seen > last:
        return Lost(f"the cursor is ahead of the log ({seen} > {last})")
    return Replay(seen)
