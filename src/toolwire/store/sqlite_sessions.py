"""The sessions of an SQLite store, as its readers list and find them."""

from __future__ import annotations

import sqlite3

from toolwire.store.base import SessionRecord, SessionSummary
from toolwire.store.sqlite_places import last_seqs


def summaries(tenant: str | None, limit: int, connection: sqlite3.Connection) -> list[SessionSummary]:
    rows = connection.execute(
        "SELECT name, tenant, epoch, created, updated, turns, open, last_prompt, number FROM sessions"
        " WHERE ?1 IS NULL OR tenant = ?1 ORDER BY updated DESC, number DESC LIMIT ?2",
        (tenant, limit),
    ).fetchall()
    lasts = last_seqs(connection, [row[-1] for row in rows])
    return [
        SessionSummary(name, owner, epoch, created, updated, turns, unended, lasts[number], prompt)
        for name, owner, epoch, created, updated, turns, unended, prompt, number in rows
    ]


def session_records(connection: sqlite3.Connection, where: str, *values: str) -> list[SessionRecord]:
    rows = connection.execute(f"SELECT number, tenant, name, epoch, rest FROM sessions {where}", values).fetchall()
    lasts = last_seqs(connection, [row[0] for row in rows])
    return [
        SessionRecord(number, tenant, name, epoch, lasts[number], rest) for number, tenant, name, epoch, rest in rows
    ]
