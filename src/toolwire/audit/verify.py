"""Prove a store and the inverses beside it whole, or say which record is broken first. Nothing is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from toolwire.audit.findings import Finding, Report
from toolwire.audit.inverses import InverseCheck
from toolwire.audit.ledger import LedgerCheck
from toolwire.audit.log import LogCheck
from toolwire.errors import StoreError
from toolwire.seal.files import audit_files
from toolwire.seal.heads import HeadsRead, read_heads
from toolwire.seal.key import read_key
from toolwire.settings import Settings
from toolwire.store.migrations import VERSION
from toolwire.store.sqlite_file import connect

LISTED = 20
"""Broken records that are listed; the rest is counted."""


class Verification:
    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings or Settings()
        self.checked: dict[str, int] = {}
        self.remarks: list[str] = []

    def run(self, store: Path, now: int, inverses: Iterable[Path] = ()) -> Report:
        """`now` in milliseconds: what has expired may be gone."""
        findings = [*self._store(store, now), *self._inverses(inverses)]
        return Report(not findings, self.checked, findings[:LISTED], max(0, len(findings) - LISTED), self.remarks)

    def _store(self, path: Path, now: int) -> Iterator[Finding]:
        files = audit_files(path, self._settings.audit_folder)
        heads = read_heads(files.heads)  # before the store: a head never leads it
        with closing(connect(path, self._settings, read_only=True)) as db:
            try:
                db.execute("BEGIN")
                _check_layout(db, path)
                try:
                    key = read_key(files.key)
                except StoreError as error:
                    yield Finding("heads", "the audit key", error.message)
                else:
                    yield from self._tables(db, key, heads, now)
            except sqlite3.Error as error:
                yield Finding("log", str(path), f"the store's file is damaged: {error}")

    def _tables(self, db: sqlite3.Connection, key: bytes, heads: HeadsRead | None, now: int) -> Iterator[Finding]:
        ledger = LedgerCheck(db)
        broken_notes = list(ledger.findings())
        wanted = frozenset(head.number for head in heads.heads) if heads else frozenset[int]()
        log = LogCheck(db, key, ledger.hashes, wanted=wanted)
        yield from log.findings()
        yield from broken_notes
        yield from ledger.sealed(log.noted)
        yield from ledger.responses(now)
        yield from ledger.rows()
        yield from self._heads(heads, log)
        self.checked |= {"rows": log.rows, "runs": log.runs, "events": log.events, "notes": len(ledger.hashes)}
        if log.unsealed:
            self.remarks.append(f"rows 1 to {log.unsealed} of the log are older than seals: nothing proves them")

    def _heads(self, heads: HeadsRead | None, log: LogCheck) -> Iterator[Finding]:
        if heads is None:
            if log.last_row > log.unsealed:
                yield Finding("heads", "the file", "is missing: rows cut off at the end would not show")
            return
        self.checked["heads"] = len(heads.heads)
        for line in heads.garbled:
            yield Finding("heads", f"line {line}", "was changed")
        for row in heads.lost:
            yield Finding("heads", "the file", f"was missing when the log was at row {row}")
        last = 0
        for head in heads.heads:
            last = max(last, head.number)
            if head.number > log.last_row:
                yield Finding(
                    "log", f"row {log.last_row + 1}", f"missing: the log was cut; it went on to row {head.number}"
                )
                return
            if log.seals.get(head.number) != head.seal:
                yield Finding("log", f"row {head.number}", f"is not the one that line {head.line} of the heads is of")
        if log.last_row > max(last, log.unsealed):
            self.remarks.append(
                f"the last head is of row {last}, the log goes on to row {log.last_row}: a crash, or work"
            )

    def _inverses(self, records: Iterable[Path]) -> Iterator[Finding]:
        self.checked["writes"] = 0
        for record in records:
            check = InverseCheck(record)
            yield from check.findings()
            self.checked["writes"] += check.writes
            if check.old:
                self.remarks.append(f"{record} has no seals yet: it is older than they are")


def _check_layout(db: sqlite3.Connection, path: Path) -> None:
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if "meta" not in tables or "log" not in tables:
        raise StoreError(f"{path} is not a store of ours")
    version = db.execute("SELECT version FROM meta").fetchone()[0]
    if version != VERSION:
        older = "start its gateway once: that brings it up to date"
        hint = older if version < VERSION else "use the newer toolwire that wrote it"
        raise StoreError(f"{path} has layout version {version}, and this program verifies {VERSION}", hint=hint)
