"""Seals on the record of writes: a change of a stored inverse shows (docs/audit.md, "Inverses").

Rows are chained in order of their numbers. A row's `state` changes, so it is sealed beside the chain. Rows are
forgotten from the oldest on; `forgotten` keeps the end of what is no longer there.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from functools import cached_property
from pathlib import Path
from typing import Any

from toolwire.errors import StoreError
from toolwire.seal.chain import fields, keyed
from toolwire.seal.files import audit_files
from toolwire.seal.heads import Head, Heads
from toolwire.seal.key import load_key
from toolwire.settings import Settings

log = logging.getLogger(__name__)

SCHEMA = (
    "ALTER TABLE writes ADD COLUMN inverse TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE writes ADD COLUMN seal BLOB NOT NULL DEFAULT x''",
    "ALTER TABLE writes ADD COLUMN state_seal BLOB NOT NULL DEFAULT x''",
    "CREATE TABLE forgotten (id INTEGER NOT NULL, seal BLOB NOT NULL, proof BLOB NOT NULL)",
)
SEALED = "id, call_id, path, hash_before, hash_after, head, tail, inverse"
"""What the chain covers; `inverse` is the digest of the bytes in `middle`."""


def genesis(key: bytes) -> bytes:
    return keyed(key, b"toolwire writes 1")


def write_seal(key: bytes, before: bytes, row: tuple[Any, ...]) -> bytes:
    """Of a row as `SEALED` lists it."""
    parts = (b"-" if value is None else b"=" + str(value).encode("utf-8", "surrogatepass") for value in row)
    return keyed(key, before + fields(*parts))


def state_seal(key: bytes, seal: bytes, state: str) -> bytes:
    return keyed(key, fields(b"state", seal, state.encode()))


def forgotten_proof(key: bytes, number: int, seal: bytes) -> bytes:
    return keyed(key, fields(b"forgotten", str(number).encode(), seal))


def digest(middle: bytes) -> str:
    return hashlib.sha256(middle).hexdigest()


class WriteSeals:
    """The seals of one record of writes, for whoever adds to it."""

    def __init__(self, record: Path, settings: Settings) -> None:
        self._files = audit_files(record)
        self._limit = settings.audit_heads_bytes

    @cached_property
    def key(self) -> bytes:
        return load_key(self._files.key)

    def prepare(self) -> None:
        """Before the first row: from now on the heads must be there."""
        load_key(self._files.key)
        heads = Heads(self._files.heads)
        heads.open(0)
        heads.close()

    def seal(self, db: sqlite3.Connection, number: int) -> bytes:
        """Seal a row that has just been added."""
        row = db.execute(f"SELECT {SEALED}, state FROM writes WHERE id = ?", (number,)).fetchone()
        seal = write_seal(self.key, self._before(db, number), row[:-1])
        db.execute(
            "UPDATE writes SET seal = ?, state_seal = ? WHERE id = ?",
            (seal, state_seal(self.key, seal, row[-1]), number),
        )
        return seal

    def mark(self, db: sqlite3.Connection, number: int, state: str) -> None:
        """A row's state changes."""
        found = db.execute("SELECT seal FROM writes WHERE id = ?", (number,)).fetchone()
        if found is not None:
            db.execute(
                "UPDATE writes SET state = ?, state_seal = ? WHERE id = ?",
                (state, state_seal(self.key, found[0], state), number),
            )

    def forget(self, db: sqlite3.Connection, number: int) -> None:
        """Remove the rows up to a number, and remember where they ended."""
        last = db.execute("SELECT id, seal FROM writes WHERE id <= ? ORDER BY id DESC LIMIT 1", (number,)).fetchone()
        if last is None:
            return
        db.execute("DELETE FROM writes WHERE id <= ?", (number,))
        db.execute("DELETE FROM forgotten")
        db.execute("INSERT INTO forgotten VALUES (?, ?, ?)", (*last, forgotten_proof(self.key, *last)))

    def committed(self, number: int, seal: bytes, db: sqlite3.Connection) -> None:
        """A row is on disk: write its head. That it can't be written must not fail the write it is about."""
        heads = Heads(self._files.heads)
        try:
            heads.open(number - 1)
            heads.add(number, seal)
            if heads.size > self._limit:
                heads.compact(lambda found: _good(db, found))
        except (OSError, StoreError, sqlite3.Error) as error:
            log.error("the audit head of write %d is not written: %s", number, error)
        finally:
            heads.close()

    def _before(self, db: sqlite3.Connection, number: int) -> bytes:
        found = db.execute("SELECT seal FROM writes WHERE id < ? ORDER BY id DESC LIMIT 1", (number,)).fetchone()
        found = found or db.execute("SELECT seal FROM forgotten").fetchone()
        return bytes(found[0]) if found else genesis(self.key)


def _good(db: sqlite3.Connection, heads: list[Head]) -> list[bool]:
    """Which heads fit; what is forgotten can't contradict."""
    (floor,) = db.execute("SELECT coalesce(max(id), 0) FROM forgotten").fetchone()
    found = "SELECT seal FROM writes WHERE id = ?"
    return [head.number <= floor or db.execute(found, (head.number,)).fetchone() == (head.seal,) for head in heads]
