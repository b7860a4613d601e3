"""The connection that work on the store's tables is given, and what a commit's transactions do together.

Every write under an idempotency key looks a record up, and adds one and a note. Transactions that share a commit are
served together: their keys are looked up at its beginning, what they add is written at its end. A statement for each
would cost more than all the rest. What a transaction has left here is taken back if it is undone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from toolwire.core.idempotency import Kept
from toolwire.store.ledger import Note, write_notes
from toolwire.store.sqlite_insert import Table, in_steps

Key = tuple[str, str, str, str]
"""Tenant, caller, tool, key."""

_KEPT = "digest, trace, call_id, owner, expires, response"
_FIND = f"SELECT {_KEPT} FROM call_records WHERE tenant = ? AND caller = ? AND tool = ? AND key = ?"
_LOOK_UP = Table(
    4,
    f"SELECT tenant, caller, tool, key, {_KEPT} FROM (VALUES {{rows}}) AS asked CROSS JOIN call_records ON"
    " tenant = asked.column1 AND caller = asked.column2 AND tool = asked.column3 AND key = asked.column4",
)
_ADD = Table(10, f"INSERT INTO call_records (tenant, caller, tool, key, {_KEPT}) VALUES {{rows}}")


class Together:
    """What the transactions of one commit share. Used by one thread."""

    __slots__ = ("_changes", "_known", "_new", "_noted_before", "_notes")

    def __init__(self) -> None:
        self._known: dict[Key, Kept | None] = {}
        """What is stored under keys that were looked up."""
        self._new: dict[Key, Kept] = {}
        """Records to be added."""
        self._notes: list[Note] = []
        self._noted_before = 0
        self._changes: list[tuple[Key, Kept | None]] = []
        """New records that the present transaction has changed, as they were before."""

    def look_up(self, tables: sqlite3.Connection, keys: Iterable[Key]) -> None:
        """Find what is stored under many keys."""
        known = self._known
        known.update(dict.fromkeys(keys))
        for statement, values in in_steps(_LOOK_UP, [part for key in known for part in key]):
            for row in tables.execute(statement, values):
                known[row[:4]] = Kept(*row[4:])

    def find(self, tables: sqlite3.Connection, key: Key) -> Kept | None:
        """What is kept under a key."""
        kept = self._new.get(key)
        if kept is not None:
            return kept
        if key in self._known:
            return self._known[key]
        row = tables.execute(_FIND, key).fetchone()
        return None if row is None else Kept(*row)

    def forget(self, key: Key) -> None:
        """What is stored under a key is being changed."""
        self._known.pop(key, None)

    def new(self, key: Key) -> Kept | None:
        """A record that is to be added."""
        return self._new.get(key)

    def put(self, key: Key, kept: Kept | None) -> None:
        """Have a record added (None: not added after all). Nothing may be stored under its key."""
        if kept is not None:
            check(*key, kept.digest, kept.trace, kept.call_id, kept.owner, kept.response or "")
        self._changes.append((key, self._new.get(key)))
        self._set(key, kept)

    def note(self, note: Note) -> None:
        """Have a note added. Its texts must be such as can be stored."""
        self._notes.append(note)

    def begin(self) -> None:
        """A transaction begins: `undo` goes back to here."""
        self._noted_before = len(self._notes)
        self._changes.clear()

    def undo(self) -> None:
        del self._notes[self._noted_before :]
        while self._changes:
            key, before = self._changes.pop()
            self._set(key, before)

    def write(self, tables: sqlite3.Connection, number: int, ledger: bytes) -> tuple[int, bytes]:
        """Add it all. The ledger's last note and its hash so far → the same afterwards."""
        if not self._new and not self._notes:
            self._known.clear()
            return number, ledger
        if self._new:
            parameters: list[Any] = []
            for key, kept in self._new.items():
                parameters += key
                parameters += (kept.digest, kept.trace, kept.call_id, kept.owner, kept.expires, kept.response)
            for statement, values in in_steps(_ADD, parameters):
                tables.execute(statement, values)
        if self._notes:
            number, ledger = write_notes(tables, self._notes, number, ledger)
        self.clear()
        return number, ledger

    def clear(self) -> None:
        self._known.clear()
        self._new.clear()
        self._notes.clear()
        self._changes.clear()

    def _set(self, key: Key, kept: Kept | None) -> None:
        if kept is None:
            self._new.pop(key, None)
        else:
            self._new[key] = kept


class Tables(sqlite3.Connection):
    """A connection to a store."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.together = Together()


def together(tables: sqlite3.Connection) -> Together:
    """What work on `tables` shares with the other transactions of its commit."""
    assert isinstance(tables, Tables)
    return tables.together


def check(*texts: str) -> None:
    """What can't be stored is the fault of the transaction that brings it, not of all that share its commit."""
    "".join(texts).encode()
