"""The ledger: a chained list of digests of what the store keeps outside the log of events, such as responses.

Each note carries a hash over itself and the one before; the writer seals the last one together with the log
(`toolwire.seal`).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from toolwire.seal.chain import LEDGER_GENESIS, note_hash
from toolwire.store.sqlite_insert import Table, in_steps

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


_NOTES = Table(8, "INSERT INTO notes (id, at, kind, subject, trace, digest, until, chain) VALUES {rows}")


def write_notes(tables: sqlite3.Connection, notes: Iterable[Note], number: int, chain: bytes) -> tuple[int, bytes]:
    """Add to the ledger after its last note, given by number and hash; gives the same of the new last one."""
    parameters: list[Any] = []
    for note in notes:
        number += 1
        chain = note_hash(chain, number, *note)
        parameters.append(number)
        parameters += note
        parameters.append(chain)
    for statement, values in in_steps(_NOTES, parameters):
        tables.execute(statement, values)
    return number, chain


def last_note(tables: sqlite3.Connection) -> tuple[int, bytes]:
    """The number and the hash of the last note; of an empty ledger, 0 and where every ledger begins."""
    row = tables.execute("SELECT id, chain FROM notes ORDER BY id DESC LIMIT 1").fetchone()
    return (0, LEDGER_GENESIS) if row is None else (row[0], bytes(row[1]))


def row_digest(row: tuple[Any, ...]) -> str:
    """Of a row as it is stored: all columns, in their order."""
    return hashlib.sha256(
        json.dumps(row, ensure_ascii=True, separators=(",", ":"), default=repr).encode()
    ).hexdigest()
