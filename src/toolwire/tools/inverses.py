"""The inverse of every write, under its call id, in the workspace's state folder.

The intent (path, hash before, hash after, inverse) is on disk before the effect begins, so that after a crash the
content itself decides whether the write happened. An inverse is the bytes that a write replaced and where they were.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from toolwire.errors import StoreError
from toolwire.settings import Settings
from toolwire.tools.inverse_seals import SCHEMA, WriteSeals, digest
from toolwire.tools.textfile import content_hash
from toolwire.tools.workspace import Workspace

_VERSION = 2
_REMOVED = ""
"""Stands for the hash of a file that is not there any more."""
_SCHEMA = """
CREATE TABLE writes (
    id INTEGER PRIMARY KEY,
    call_id TEXT NOT NULL,
    path TEXT NOT NULL,
    hash_before TEXT,
    hash_after TEXT NOT NULL,
    head INTEGER NOT NULL,
    tail INTEGER NOT NULL,
    middle BLOB NOT NULL,
    size INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'begun'
);
CREATE INDEX writes_by_call ON writes (call_id);
CREATE INDEX writes_by_size ON writes (size);
"""


@dataclass(frozen=True, slots=True)
class Splice:
    """Old bytes out of new ones: keep `head` at the beginning and `tail` at the end, put `middle` between."""

    head: int
    tail: int
    middle: bytes

    @classmethod
    def between(cls, old: bytes, new: bytes) -> Splice:
        head = _common(old, new)
        tail = _common(old[head:][::-1], new[head:][::-1])
        return cls(head, tail, old[head : len(old) - tail])

    def apply(self, new: bytes) -> bytes:
        return new[: self.head] + self.middle + new[len(new) - self.tail :]


@dataclass(frozen=True, slots=True)
class Write:
    """One recorded write. `hash_before` is None if it made the file, `hash_after` if it removed it."""

    id: int
    call_id: str
    path: str
    hash_before: str | None
    hash_after: str | None
    inverse: Splice
    state: Literal["begun", "done", "undone"]
    """(A fourth, `withdrawn`, is never found: as if it had not been recorded.)"""


class UndoLog:
    """The record of one workspace. Each operation is one short transaction, so threads and processes may share it."""

    def __init__(self, workspace: Workspace) -> None:
        self._file = workspace.state / "undo.sqlite"
        self._settings = workspace.settings
        self._seals = WriteSeals(self._file, workspace.settings)

    def begin(self, call_id: str, path: str, before: bytes | None, after: bytes | None) -> int:
        """Record what is about to happen; the number is for `done` or `withdraw`."""
        splice = Splice.between(before or b"", after or b"")
        row = (
            call_id,
            path,
            None if before is None else content_hash(before),
            _REMOVED if after is None else content_hash(after),
            splice.head,
            splice.tail,
            splice.middle,
            len(splice.middle),
            digest(splice.middle),
        )
        with self._transaction(synced=True) as db:
            number = db.execute(
                "INSERT INTO writes (call_id, path, hash_before, hash_after, head, tail, middle, size, inverse)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            ).lastrowid
            assert number is not None
            seal = self._seals.seal(db, number)
            _forget_oldest(db, number, self._settings, self._seals)
            db.execute("COMMIT")
            self._seals.committed(number, seal, db)
            return number

    def done(self, number: int) -> None:
        """Not synced: if this is lost in a crash, the file's content still tells."""
        self._mark(number, "done")

    def undone(self, number: int) -> None:
        self._mark(number, "undone")

    def withdraw(self, number: int) -> None:
        """The effect was refused before it began."""
        with self._transaction() as db:
            db.execute("UPDATE writes SET middle = x'', size = 0 WHERE id = ?", (number,))
            self._seals.mark(db, number, "withdrawn")

    def find(self, call_id: str) -> Write | None:
        """The last write of that call that was not undone; else its last one."""
        query = (
            "SELECT id, call_id, path, hash_before, hash_after, head, tail, middle, state FROM writes"
            " WHERE call_id = ? AND state != 'withdrawn' ORDER BY state = 'undone', id DESC LIMIT 1"
        )
        with self._transaction() as db:
            row = db.execute(query, (call_id,)).fetchone()
        if row is None:
            return None
        number, call_id, path, before, after, head, tail, middle, state = row
        return Write(number, call_id, path, before, after or None, Splice(head, tail, middle), state)

    def _mark(self, number: int, state: str) -> None:
        with self._transaction() as db:
            self._seals.mark(db, number, state)

    @contextlib.contextmanager
    def _transaction(self, *, synced: bool = False) -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(
                sqlite3.connect(self._file, timeout=self._settings.undo_timeout, isolation_level=None)
            ) as db:
                _prepare(db, self._seals)
                db.execute(f"PRAGMA synchronous = {'FULL' if synced else 'NORMAL'}")
                db.execute("BEGIN IMMEDIATE")
                with db:
                    yield db
        except sqlite3.Error as error:
            raise StoreError(f"the undo record {self._file} can't be used: {error}") from error


def _prepare(db: sqlite3.Connection, seals: WriteSeals) -> None:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version == _VERSION:
        return
    if version > _VERSION:
        raise StoreError(f"the undo record was written by a newer version ({version} > {_VERSION})")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("BEGIN IMMEDIATE")
    with db:
        # Another process may have been first.
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version == 0:
            for statement in _SCHEMA.split(";"):
                db.execute(statement)
        if version < _VERSION:
            seals.prepare()
            for statement in SCHEMA:
                db.execute(statement)
            for number, middle in db.execute("SELECT id, middle FROM writes ORDER BY id").fetchall():
                db.execute("UPDATE writes SET inverse = ? WHERE id = ?", (digest(middle), number))
                seals.seal(db, number)
        db.execute(f"PRAGMA user_version = {_VERSION}")


def _forget_oldest(db: sqlite3.Connection, newest: int, settings: Settings, seals: WriteSeals) -> None:
    seals.forget(db, newest - settings.undo_entries)
    (total,) = db.execute("SELECT sum(size) FROM writes").fetchone()
    while total > settings.undo_bytes:
        oldest = db.execute("SELECT id, size FROM writes WHERE id < ? ORDER BY id LIMIT 1", (newest,)).fetchone()
        if oldest is None:
            break
        number, size = oldest
        seals.forget(db, number)
        total -= size


def _common(a: bytes, b: bytes) -> int:
    """Length of the common beginning, by halving: comparing slices is much faster than bytes one by one."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
