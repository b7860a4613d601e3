"""Adds to the ledger (`ledger.py`), in the transaction that stores what a note speaks of.

The notes of a commit are written together at its end (`tables.py`).
"""

from __future__ import annotations

import sqlite3

from toolwire.store.ledger import APPROVAL, EXECUTION_LOG, Note, row_digest
from toolwire.store.tables import check, together


def add_note(tables: sqlite3.Connection, note: Note) -> None:
    """Inside a transaction that writes; the note goes in at the end of the commit."""
    check(note.kind, note.subject, note.trace, note.digest)
    together(tables).note(note)


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
