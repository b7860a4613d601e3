"""Every event that belongs to a trace, wherever in the store it is, and what the ledger notes of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from toolwire.core.events import AnyEvent, decode_run
from toolwire.store.ledger import Note
from toolwire.store.sqlite_places import decode_runs


class Traced(NamedTuple):
    session: str
    number: int
    """Of the session in the store."""
    event: AnyEvent


def traced(db: sqlite3.Connection, trace: str) -> Iterator[Traced]:
    """Events with the trace, and those of turns and calls that have it, in the order they were stored."""
    names = dict(db.execute("SELECT number, name FROM sessions"))
    known: set[tuple[int, str]] = set()
    for runs, body in db.execute("SELECT runs, body FROM log ORDER BY id"):
        offset = 0
        for number, _, _, size in decode_runs(runs):
            for event in decode_run(body[offset : offset + size]):
                ids = {(number, name) for field in ("turn", "call_id") if (name := getattr(event, field, ""))}
                if getattr(event, "trace", "") == trace:
                    known |= ids
                elif known.isdisjoint(ids):
                    continue
                yield Traced(names.get(number, str(number)), number, event)
            offset += size


def notes_of(db: sqlite3.Connection, trace: str) -> list[Note]:
    found = db.execute(
        "SELECT at, kind, subject, trace, digest, until FROM notes WHERE trace = ? ORDER BY id", (trace,)
    )
    return [Note(*row) for row in found]
