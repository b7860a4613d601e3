"""Requests for a person's word, in the store (document 3, confirmation): asked, answered once, used once.

Functions take the connection that `Store.transact` or `Store.query` gives its work.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any, Literal

from toolwire.store.notes import note_approval

State = Literal["pending", "approved", "edited", "rejected", "expired", "withdrawn"]

APPROVAL_TABLES: tuple[str, ...] = (
    """
    CREATE TABLE approvals (
        id TEXT PRIMARY KEY,
        tenant TEXT NOT NULL,
        session TEXT NOT NULL,
        turn TEXT NOT NULL,
        tool TEXT NOT NULL,
        arguments TEXT NOT NULL,
        digest TEXT NOT NULL,
        call_key TEXT NOT NULL,
        risk TEXT NOT NULL,
        role TEXT NOT NULL,
        caller TEXT NOT NULL,
        trace TEXT NOT NULL,
        owner TEXT NOT NULL,
        asked INTEGER NOT NULL,
        expires INTEGER NOT NULL,
        state TEXT NOT NULL DEFAULT 'pending',
        edited TEXT,
        reason TEXT NOT NULL DEFAULT '',
        answered_by TEXT NOT NULL DEFAULT '',
        answered INTEGER,
        used INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID
    """,
    "CREATE INDEX approvals_pending ON approvals (tenant, asked) WHERE state = 'pending'",
    "CREATE INDEX approvals_by_call ON approvals (tenant, caller, tool, call_key) WHERE used = 0",
)

_COLUMNS = (
    "id, tenant, session, turn, tool, arguments, digest, call_key, risk, role, caller, trace, owner, asked, expires,"
    " state, edited, reason, answered_by, answered, used"
)


@dataclass(frozen=True, slots=True)
class Approval:
    """One request. `call_key` is the idempotency key it was asked for under, or the call's own mark."""

    id: str
    tenant: str
    session: str
    turn: str
    tool: str
    arguments: dict[str, Any]
    digest: str
    call_key: str
    risk: str
    role: str
    """The least role that may answer."""
    caller: str
    trace: str
    owner: str
    """The process whose turn waits for it."""
    asked: int
    expires: int
    state: State = "pending"
    edited: dict[str, Any] | None = None
    reason: str = ""
    answered_by: str = ""
    answered: int | None = None
    used: bool = False

    @property
    def granted(self) -> dict[str, Any] | None:
        """The arguments that may be used; None if none may."""
        if self.state == "approved":
            return self.arguments
        return self.edited if self.state == "edited" else None


def add(tables: sqlite3.Connection, approval: Approval) -> None:
    tables.execute(
        "INSERT INTO approvals (id, tenant, session, turn, tool, arguments, digest, call_key, risk, role, caller,"
        " trace, owner, asked, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(approval.id, approval.tenant, approval.session, approval.turn, approval.tool),
            *(json.dumps(approval.arguments), approval.digest, approval.call_key, approval.risk, approval.role),
            *(approval.caller, approval.trace, approval.owner, approval.asked, approval.expires),
        ),
    )
    note_approval(tables, approval.id)


def find(tables: sqlite3.Connection, tenant: str, number: str) -> Approval | None:
    row = tables.execute(f"SELECT {_COLUMNS} FROM approvals WHERE id = ? AND tenant = ?", (number, tenant)).fetchone()
    return None if row is None else _read(row)


def for_call(
    tables: sqlite3.Connection, tenant: str, caller: str, tool: str, call_key: str, digest: str
) -> Approval | None:
    """The last request that was made for this very call and has not been used."""
    row = tables.execute(
        f"SELECT {_COLUMNS} FROM approvals WHERE tenant = ? AND caller = ? AND tool = ? AND call_key = ?"
        " AND digest = ? AND used = 0 ORDER BY asked DESC, id DESC LIMIT 1",
        (tenant, caller, tool, call_key, digest),
    ).fetchone()
    return None if row is None else _read(row)


def pending(tables: sqlite3.Connection, tenant: str, session: str | None, now: int, limit: int) -> list[Approval]:
    rows = tables.execute(
        f"SELECT {_COLUMNS} FROM approvals WHERE tenant = ?1 AND state = 'pending' AND expires > ?2"
        " AND (?3 IS NULL OR session = ?3) ORDER BY asked, id LIMIT ?4",
        (tenant, now, session, limit),
    )
    return [_read(row) for row in rows]


def count_pending(tables: sqlite3.Connection, tenant: str, now: int) -> int:
    found = tables.execute(
        "SELECT count(*) FROM approvals WHERE tenant = ? AND state = 'pending' AND expires > ?", (tenant, now)
    )
    return int(found.fetchone()[0])


def answer(
    tables: sqlite3.Connection,
    number: str,
    state: State,
    now: int,
    *,
    edited: dict[str, Any] | None = None,
    reason: str = "",
    by: str = "",
) -> bool:
    """The first answer counts; False if there was one already."""
    changed = tables.execute(
        "UPDATE approvals SET state = ?, edited = ?, reason = ?, answered_by = ?, answered = ?"
        " WHERE id = ? AND state = 'pending'",
        (state, None if edited is None else json.dumps(edited), reason, by, now, number),
    )
    if changed.rowcount == 1:
        note_approval(tables, number)
    return changed.rowcount == 1


def use(tables: sqlite3.Connection, number: str) -> bool:
    """An answer serves one call; False if it has served already."""
    used = tables.execute("UPDATE approvals SET used = 1 WHERE id = ? AND used = 0", (number,)).rowcount == 1
    if used:
        note_approval(tables, number)
    return used


def of_turns(tables: sqlite3.Connection) -> list[Approval]:
    """Those that turns wait for."""
    rows = tables.execute(f"SELECT {_COLUMNS} FROM approvals WHERE state = 'pending' AND turn <> ''")
    return [_read(row) for row in rows]


def _read(row: tuple[Any, ...]) -> Approval:
    values = list(row)
    values[5] = json.loads(values[5])
    values[16] = None if values[16] is None else json.loads(values[16])
    values[20] = bool(values[20])
    return Approval(*values)
