"""The end of the log as the writer goes on from it: the last row, its seal, and the hashes of sessions' last runs.

A row's `chain` is its seal and then the hash of each of its runs, 32 bytes each (docs/audit.md).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from toolwire.seal.chain import SIZE, seal_genesis, session_genesis
from toolwire.seal.heads import Head
from toolwire.store.ledger import last_note
from toolwire.store.sqlite_places import Run, decode_runs, last_place


class Tip(NamedTuple):
    """The end of the log."""

    row: int
    seal: bytes
    noted: int
    """The last note of the ledger that is sealed with it, and the ledger's hash there."""
    ledger: bytes


def read_tip(connection: sqlite3.Connection, key: bytes) -> Tip:
    row = connection.execute("SELECT id, chain FROM log ORDER BY id DESC LIMIT 1").fetchone()
    number, chain = row or (0, None)
    if chain is None:  # nothing is sealed yet
        seal = seal_genesis(key, connection.execute("SELECT unsealed FROM meta").fetchone()[0])
    else:
        seal = chain[:SIZE]
    return Tip(number, seal, *last_note(connection))


def sealed_after(connection: sqlite3.Connection, row: int) -> Iterator[tuple[list[Run], bytes]]:
    """The rows after a given one: runs and chain."""
    for runs, chain in connection.execute("SELECT runs, chain FROM log WHERE id > ? ORDER BY id", (row,)):
        yield decode_runs(runs), chain or b""


def hash_at(chain: bytes, index: int) -> bytes:
    """The hash of a row's run. (A chain that was cut gives something else, and verifying tells.)"""
    return chain[SIZE * (index + 1) : SIZE * (index + 2)]


def last_hash(connection: sqlite3.Connection, session: int) -> bytes:
    """The hash of a session's last run that is in `places`; if it has none, where its chain begins."""
    place = last_place(connection, session)
    if place is not None:
        runs, chain = connection.execute("SELECT runs, chain FROM log WHERE id = ?", (place.row,)).fetchone()
        if chain is not None:
            offset = 0
            for index, run in enumerate(decode_runs(runs)):
                if offset == place.offset:
                    return hash_at(chain, index)
                offset += run[3]
    found = connection.execute("SELECT tenant, name, epoch FROM sessions WHERE number = ?", (session,)).fetchone()
    return session_genesis(*found)


def good_heads(connection: sqlite3.Connection, heads: list[Head]) -> list[bool]:
    """Which heads are those of the log as it is."""
    question = "SELECT substr(chain, 1, ?) FROM log WHERE id = ?"
    return [connection.execute(question, (SIZE, head.number)).fetchone() == (head.seal,) for head in heads]
