"""What a run of events changes in a session's line: turns, what is open, where it is at rest.

Shared by every store.
"""

from __future__ import annotations

from typing import NamedTuple

from toolwire.core.events import AnyEvent, TurnAsked, opens


class Tally(NamedTuple):
    """Changes relative to whatever the session's line says, so that it need not be known."""

    updated: int
    turns: int
    delta: int
    """How many more things are open after the run than before it."""
    lowest: int
    """The smallest such difference at any point after an event; the session is at rest there if it makes zero."""
    lowest_at: int
    """Sequence number of the last event where that was so."""
    prompt: str | None
    """The last prompt asked, if any was."""


def tally(events: list[AnyEvent]) -> Tally | None:
    """None if the run opens and ends nothing: then the session's line stays as it is."""
    delta = turns = lowest_at = updated = 0
    lowest: int | None = None
    prompt = None
    for event in events:
        change = opens(event)
        if not change:
            continue
        delta += change
        updated = event.at
        if isinstance(event, TurnAsked):
            turns += 1
            prompt = event.prompt
        if lowest is None or delta <= lowest:
            lowest, lowest_at = delta, event.seq
    return None if lowest is None else Tally(updated, turns, delta, lowest, lowest_at, prompt)


def preview(text: str, length: int) -> str:
    """The first words of a text on one line."""
    line = " ".join(text[: length * 4].split())
    return line if len(line) <= length else line[: length - 1] + "…"
