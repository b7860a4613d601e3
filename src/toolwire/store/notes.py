"""The ledger: a chained list of digests of what the store keeps outside the log of events, such as responses.

A note is added in the transaction that stores what it speaks of. Each carries a hash over itself and the one before;
the writer seals the last one together with the log (`toolwire.seal`).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from typing import Any, Final, NamedTuple

from toolwire.seal.chain import LEDGER_GENESIS, note_hash

RESPONSE: Final = "response"
EXECUTION_LOG: Final = "execution_log"
APPROVAL: Final = "approval"


class Note(NamedTuple):
    at: int
    kind: str
    """What is noted: one of the above."""
    subject: str
    """Which one."""
    trace: str
    digest: str
    """SHA-256 of what is stored of it, in hex."""
    until: int
    """Milliseconds; from then on it may be gone. 0: it is kept for good."""


_COLUMNS = "at, kind, subject, trace, digest, until"


def add_note(tables: sqlite3.Connection, note: Note) -> None:
    """Inside a transaction that writes: nobody else can add one meanwhile."""
    number, before = last_note(tables)
    chain = note_hash(before, number + 1, *note)
    tables.execute(
        f"INSERT INTO notes (id, {_COLUMNS}, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (number + 1, *note, chain)
    )


def last_note(tables: sqlite3.Connection) -> tuple[int, bytes]:
    """The number and the hash of the last note; of an empty ledger, 0 and where every ledger begins."""
    row = tables.execute("SELECT id, chain FROM notes ORDER BY id DESC LIMIT 1").fetchone()
    return (0, LEDGER_GENESIS) if row is None else (row[0], bytes(row[1]))


def note_execution_log(tables: sqlite3.Connection, line: str, trace: str, at: int) -> None:
    """Note a line of the execution log that has just been added, by its id."""
    row = tables.execute("SELECT * FROM flash_logs WHERE id = ?", (line,)).fetchone()
    add_note(tables, Note(at, EXECUTION_LOG, line, trace, row_digest(row), 0))


def note_approval(tables: sqlite3.Connection, approval: str) -> None:
    """Note a request for a person's word as it is now: it was made, answered or used."""
    row = tables.execute("SELECT * FROM approvals WHERE id = ?", (approval,)).fetchone()
    trace, at = tables.execute(
        "SELECT trace, coalesce(answered, asked) FROM approvals WHERE id = ?", (approval,)
    ).fetchone()
    add_note(tables, Note(at, APPROVAL, approval, trace, row_digest(row), 0))


def row_digest(row: tuple[Any, ...]) -> str:
    """Of a row as it is stored: all columns, in their order."""
    return hashlib.sha256(
        json.dumps(row, ensure_ascii=True, separators=(",", ":"), default=repr).encode()
    ).hexdigest()
