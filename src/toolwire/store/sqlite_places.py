"""Where the runs of a session lie in the SQLite log (see `migrations.py` for the layout).

Every function takes a connection; those that look at more than one table expect a transaction around them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from toolwire.core.events import AnyEvent, decode_run
from toolwire.errors import StoreError
from toolwire.store.migrations import SEQ_BITS

Run = tuple[int, int, int, int]
"""Session, first, last, bytes: a run as its row lists it. Runs lie one after another in their row."""


class Place(NamedTuple):
    """A run of a known session, anywhere in the log."""

    first: int
    last: int
    row: int
    offset: int
    size: int


encode = msgspec.json.Encoder().encode
decode_runs = msgspec.json.Decoder(list[Run]).decode
decode_places = msgspec.json.Decoder(list[Place]).decode


def runs_after(connection: sqlite3.Connection, row: int) -> Iterator[tuple[int, list[Run]]]:
    """The runs of every row after a given one."""
    for found, runs in connection.execute("SELECT id, runs FROM log WHERE id > ? ORDER BY id", (row,)):
        yield found, decode_runs(runs)


def index_tail(connection: sqlite3.Connection) -> None:
    """Enter the rows that are not in `places` yet, a line for each session."""
    # Plain tuples: this is done for every run there is.
    lines: dict[int, list[tuple[int, int, int, int, int]]] = {}
    row = indexed = _indexed(connection)
    for row, runs in runs_after(connection, indexed):
        offset = 0
        for session, first, last, size in runs:
            place = (first, last, row, offset, size)
            line = lines.get(session)
            if line is None:
                lines[session] = [place]
            else:
                line.append(place)
            offset += size
    for session, line in sorted(lines.items()):
        key = session << SEQ_BITS | line[0][0]
        connection.execute("INSERT INTO places (id, runs) VALUES (?, ?)", (key, encode(line).decode()))
    connection.execute("UPDATE meta SET indexed = ?", (row,))


def last_seqs(connection: sqlite3.Connection, sessions: Iterable[int]) -> dict[int, int]:
    """The sequence number of each session's last event, 0 if it has none."""
    recent = {run[0]: run[2] for _, runs in runs_after(connection, _indexed(connection)) for run in runs}
    return {session: recent.get(session) or indexed_last(connection, session) for session in sessions}


def indexed_last(connection: sqlite3.Connection, session: int) -> int:
    """The same, for a session that is not in the rows after the index."""
    place = last_place(connection, session)
    return place.last if place is not None else 0


def last_place(connection: sqlite3.Connection, session: int) -> Place | None:
    """Where the last run of a session is that is in `places`."""
    line = connection.execute(
        "SELECT runs FROM places WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1", _keys(session)
    ).fetchone()
    return decode_places(line[0])[-1] if line is not None else None


def read_events(connection: sqlite3.Connection, session: int, after: int, limit: int) -> list[AnyEvent]:
    """At most `limit` events of a session after a sequence number."""
    found: list[AnyEvent] = []
    for place in _places_after(connection, session, after):
        if len(found) >= limit:
            break
        found += [event for event in _read_run(connection, place) if event.seq > after]
    return found[:limit]


def _read_run(connection: sqlite3.Connection, place: Place) -> list[AnyEvent]:
    found = connection.execute(
        "SELECT substr(body, ?, ?) FROM log WHERE id = ?", (place.offset + 1, place.size, place.row)
    ).fetchone()
    if found is None:
        raise StoreError(f"row {place.row} of the log is missing")
    return decode_run(found[0])


def _places_after(connection: sqlite3.Connection, session: int, after: int) -> Iterator[Place]:
    base, end = _keys(session)
    lines = connection.execute(
        "SELECT runs FROM places WHERE id <= :end AND id >="
        " coalesce((SELECT max(id) FROM places WHERE id BETWEEN :base AND :next), :base) ORDER BY id",
        {"base": base, "next": base + after + 1, "end": end},
    )
    for (line,) in lines:
        yield from (place for place in decode_places(line) if place.last > after)
    for row, runs in runs_after(connection, _indexed(connection)):
        offset = 0
        for owner, first, last, size in runs:
            if owner == session and last > after:
                yield Place(first, last, row, offset, size)
            offset += size


def _indexed(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT indexed FROM meta").fetchone()[0])


def _keys(session: int) -> tuple[int, int]:
    """The first and the last key that a session can have in `places`."""
    return session << SEQ_BITS, (session + 1 << SEQ_BITS) - 1
