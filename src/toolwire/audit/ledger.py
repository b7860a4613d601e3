"""Is the ledger whole, and is what it speaks of as it was: responses under their keys, execution logs, approvals?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from toolwire.audit.findings import Finding, Part
from toolwire.core.idempotency import Kept
from toolwire.seal.chain import LEDGER_GENESIS, note_hash
from toolwire.store.call_records import RecordKey, response_digest, subject_of
from toolwire.store.ledger import APPROVAL, EXECUTION_LOG, RESPONSE, Note, row_digest

_RECORDS = "SELECT tenant, caller, tool, key, digest, trace, call_id, owner, expires, response FROM call_records"


class LedgerCheck:
    """Iterate `findings`, then look at the rest."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.hashes: dict[int, bytes] = {}
        """The ledger's hash after each note, as it is stored."""
        self.latest: dict[tuple[str, str], Note] = {}
        """What it says of each subject."""

    def findings(self) -> Iterator[Finding]:
        before, last = LEDGER_GENESIS, 0
        question = "SELECT id, at, kind, subject, trace, digest, until, chain FROM notes ORDER BY id"
        for number, *values, chain in self.connection.execute(question):
            if number != last + 1:
                yield Finding("ledger", f"note {last + 1}", "missing")
            if not _fits(before, number, values, chain):
                yield Finding("ledger", f"note {number}", "was changed, moved or added")
            before, last = chain if isinstance(chain, bytes) else before, number
            self.hashes[number] = before
            note = Note(*values)
            self.latest[note.kind, note.subject] = note

    def sealed(self, noted: int) -> Iterator[Finding]:
        """`noted`: the last note that a row of the log was sealed with."""
        last = max(self.hashes, default=0)
        if last > noted:
            yield Finding("ledger", f"note {noted + 1}", "is not sealed: it was added by another program")
        elif last < noted:
            yield Finding("ledger", f"note {last + 1}", f"missing: the ledger was sealed up to note {noted}")

    def responses(self, now: int) -> Iterator[Finding]:
        found = set()
        for row in self.connection.execute(_RECORDS):
            key, kept = RecordKey(*row[:4]), Kept(*row[4:])
            if not all(isinstance(part, str) for part in key):
                yield _response(key, "its key is not of the type it was stored with")
                continue
            found.add(subject_of(key))
            note = self.latest.get((RESPONSE, subject_of(key)))
            if kept.response is None:
                if note is not None and note.until > now:
                    yield _response(key, "its response was removed")
            elif note is None:
                yield _response(key, "is not in the ledger: it was added by another program")
            elif not _is_of(note, key, kept):
                yield _response(key, "was changed after it was stored")
        for (kind, subject), note in self.latest.items():
            if kind == RESPONSE and note.until > now and subject not in found:
                yield Finding("responses", subject, f"was removed (trace {note.trace})")

    def rows(self) -> Iterator[Finding]:
        """What is noted row by row."""
        yield from self._rows(EXECUTION_LOG, "execution logs", "SELECT id, flash_logs.* FROM flash_logs")
        yield from self._rows(APPROVAL, "approvals", "SELECT id, approvals.* FROM approvals")

    def _rows(self, kind: str, part: Part, question: str) -> Iterator[Finding]:
        found = set()
        for subject, *row in self.connection.execute(question):
            found.add(subject)
            note = self.latest.get((kind, str(subject)))
            if note is None:
                yield Finding(part, str(subject), "is not in the ledger: it was added by another program")
            elif note.digest != row_digest(tuple(row)):
                yield Finding(part, str(subject), "was changed after it was stored")
        for noted, subject in self.latest:
            if noted == kind and subject not in found:
                yield Finding(part, subject, "was removed")


def _fits(before: bytes, number: int, values: list[Any], chain: object) -> bool:
    try:
        return note_hash(before, number, *values) == chain
    except (AttributeError, TypeError):  # a value is not of the type it was stored with
        return False


def _is_of(note: Note, key: RecordKey, kept: Kept) -> bool:
    try:
        return note.digest == response_digest(key, kept)
    except TypeError:  # a value is not of the type it was stored with
        return False


def _response(key: RecordKey, problem: str) -> Finding:
    return Finding("responses", f"{key.tool} under key {key.key!r} of {key.caller or 'nobody'}", problem)
