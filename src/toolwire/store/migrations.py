"""The layout of the SQLite store, version by version. A file is brought up to date in one transaction at start.

One row of `log` is a commit: the runs (consecutive events) of every session in it, one after another in `body`, and
how they lie there in `runs`: `[[session, first, last, bytes], …]`. Rows are only ever added at the end, so a commit
changes a page or two however many sessions it is for; with a key that keeps sessions apart it was a page for each,
measured as three to ten times the work. The writer gives each row the number after the last it knows of: if another
process was quicker, the two collide on the key.

`places` finds a session's runs. It is filled in arrears, a few hundred commits at a time; rows of `log` after
`meta.indexed` are not in it yet. The key is the session's number and the sequence number of the first event, the
value where runs lie: `[[first, last, row, offset, bytes], …]`.
"""

from __future__ import annotations

import sqlite3

from toolwire.errors import StoreError
from toolwire.store.approval_records import APPROVAL_TABLES
from toolwire.store.flash_tables import FLASH_TABLES

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE sessions (
            number INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL,
            name TEXT NOT NULL,
            epoch TEXT NOT NULL,
            created INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            turns INTEGER NOT NULL DEFAULT 0,
            open INTEGER NOT NULL DEFAULT 0,
            rest INTEGER NOT NULL DEFAULT 0,
            last_prompt TEXT NOT NULL DEFAULT '',
            UNIQUE (tenant, name)
        )
        """,
        "CREATE INDEX sessions_by_use ON sessions (updated)",
        "CREATE INDEX sessions_open ON sessions (number) WHERE open > 0",
        "CREATE TABLE log (id INTEGER PRIMARY KEY, runs TEXT NOT NULL, body BLOB NOT NULL)",
        "CREATE TABLE places (id INTEGER PRIMARY KEY, runs TEXT NOT NULL)",
        "ALTER TABLE meta ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0",
        """
        CREATE TABLE messages (
            id INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL,
            conversation TEXT NOT NULL,
            role TEXT NOT NULL,
            text TEXT NOT NULL
        )
        """,
        "CREATE INDEX messages_by_conversation ON messages (tenant, conversation, id)",
    ),
    (
        # Idempotency records; the ledger; hashes and seals of the log (docs/audit.md).
        """
        CREATE TABLE call_records (
            id INTEGER PRIMARY KEY,
            tenant TEXT NOT NULL,
            caller TEXT NOT NULL,
            tool TEXT NOT NULL,
            key TEXT NOT NULL,
            digest TEXT NOT NULL,
            trace TEXT NOT NULL,
            call_id TEXT NOT NULL,
            owner TEXT NOT NULL,
            expires INTEGER NOT NULL,
            response TEXT,
            UNIQUE (tenant, caller, tool, key)
        )
        """,
        "CREATE INDEX call_records_by_expiry ON call_records (expires)",
        """
        CREATE TABLE notes (
            id INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            trace TEXT NOT NULL,
            digest TEXT NOT NULL,
            until INTEGER NOT NULL,
            chain BLOB NOT NULL
        )
        """,
        "ALTER TABLE log ADD COLUMN noted INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE log ADD COLUMN chain BLOB",
        "ALTER TABLE meta ADD COLUMN unsealed INTEGER NOT NULL DEFAULT 0",
        "UPDATE meta SET unsealed = (SELECT coalesce(max(id), 0) FROM log)",
    ),
    FLASH_TABLES,
    APPROVAL_TABLES,
    # Records lie in the order they expire in: an index to find the oldest costs every write and finds nothing sooner.
    ("DROP INDEX call_records_by_expiry",),
)
"""Statements that lead from each version to the next; the first ones make an empty file version 1."""

VERSION = len(MIGRATIONS)
SEQ_BITS = 32
"""A key of `places` is the session's number, shifted by this, and a sequence number."""


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file up to date, or refuse it if it is not ours or newer than this program."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = _version(connection)
        if found > VERSION:
            raise StoreError(
                f"the store has layout version {found}, and this program knows only up to {VERSION}",
                hint="use the newer toolwire that wrote it, or name another file with --store",
            )
        for statements in MIGRATIONS[found:]:
            for statement in statements:
                connection.execute(statement)
        if found < VERSION:
            connection.execute("UPDATE meta SET version = ?", (VERSION,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if not tables:
        connection.execute("CREATE TABLE meta (version INTEGER NOT NULL)")
        connection.execute("INSERT INTO meta VALUES (0)")
        return 0
    row = connection.execute("SELECT version FROM meta").fetchone() if "meta" in tables else None
    if row is None or not isinstance(row[0], int):
        raise StoreError("the file is an SQLite database of another program", hint="name another file with --store")
    return int(row[0])
