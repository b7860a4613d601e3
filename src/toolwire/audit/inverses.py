"""Are the stored inverses of a workspace's writes as they were recorded?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from toolwire.audit.findings import Finding
from toolwire.errors import StoreError
from toolwire.seal.files import audit_files
from toolwire.seal.heads import HeadsRead, read_heads
from toolwire.seal.key import read_key
from toolwire.tools.inverse_seals import SEALED, digest, forgotten_proof, genesis, state_seal, write_seal

RECORD = "undo.sqlite"
SEALED_SINCE = 2
"""Version of the record from which on it has seals."""


class InverseCheck:
    """One record of writes. Iterate `findings`, then look at the rest."""

    def __init__(self, record: Path) -> None:
        self.record = record
        self.writes = 0
        self.old = False
        """It was last used by a version without seals."""
        self._files = audit_files(record)
        self._seals: dict[int, bytes] = {}
        self._floor = 0
        """The last write that was forgotten, as the oldest are."""

    def findings(self) -> Iterator[Finding]:
        heads = read_heads(self._files.heads)  # before the record: a head never leads it
        if not self.record.exists():
            yield self._finding("the record of writes", "is missing")
            return
        try:
            with closing(sqlite3.connect(f"{self.record.as_uri()}?mode=rw", uri=True, isolation_level=None)) as db:
                db.execute("BEGIN")
                yield from self._record(db, heads)
        except sqlite3.Error as error:
            yield self._finding("the record of writes", f"can't be read: {error}")

    def _record(self, db: sqlite3.Connection, heads: HeadsRead | None) -> Iterator[Finding]:
        if db.execute("PRAGMA user_version").fetchone()[0] < SEALED_SINCE:
            self.old = heads is None
            if heads is not None:
                yield self._finding("the record of writes", "was replaced by one without seals")
            return
        try:
            key = read_key(self._files.key)
        except StoreError as error:
            yield self._finding("its key", error.message)
            return
        yield from self._rows(db, key)
        if heads is None:
            yield self._finding("its heads", "are missing: writes cut off at the end would not show")
        else:
            yield from self._heads(heads)

    def _rows(self, db: sqlite3.Connection, key: bytes) -> Iterator[Finding]:
        before = genesis(key)
        for self._floor, before, proof in db.execute("SELECT id, seal, proof FROM forgotten"):
            if proof != forgotten_proof(key, self._floor, before):
                yield self._finding("the end of the forgotten writes", "was changed")
        last = self._floor
        for *row, middle, size, state, seal, mark in db.execute(
            f"SELECT {SEALED}, middle, size, state, seal, state_seal FROM writes ORDER BY id"
        ):
            number, inverse = row[0], row[-1]
            self.writes += 1
            if number != last + 1:
                yield self._finding(f"write {last + 1}", "is missing")
            kept = state == "withdrawn" or (isinstance(middle, bytes) and digest(middle) == inverse)
            if write_seal(key, before, tuple(row)) != seal or not kept or size != len(middle):
                yield self._finding(f"write {number} (call {row[1]})", "was changed, moved or added")
            elif state_seal(key, seal, state) != mark:
                yield self._finding(f"write {number} (call {row[1]})", f"its state was changed to {state!r}")
            before, last = seal, number
            self._seals[number] = seal

    def _heads(self, heads: HeadsRead) -> Iterator[Finding]:
        last = max(self._seals, default=self._floor)
        for head in heads.heads:
            if head.number > last:
                yield self._finding(f"write {last + 1}", f"is missing: the record went on to write {head.number}")
                break
            if head.number > self._floor and self._seals.get(head.number) != head.seal:
                yield self._finding(f"write {head.number}", "is not the one its head speaks of")
        for line in heads.garbled:
            yield self._finding(f"line {line} of its heads", "was changed")
        for lost in heads.lost:
            yield self._finding("its heads", f"were missing when write {lost + 1} was recorded")

    def _finding(self, record: str, problem: str) -> Finding:
        return Finding("inverses", f"{self.record.parent.name}, {record}", problem)


def records_in(folder: Path) -> list[Path]:
    """The records of all workspaces whose state is kept in a folder, also those whose file is gone."""
    found = {path.parent for path in folder.glob(f"*/{RECORD}")}
    found |= {path.parent for path in folder.glob(f"*/{audit_files(Path(RECORD)).heads.name}")}
    return sorted(parent / RECORD for parent in found)
