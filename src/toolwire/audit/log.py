"""Is the log of events as it was stored? Every row by its seal, every run by its session's chain.

After a break it goes on from what is stored there, so that one changed row is one finding.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from toolwire.audit.findings import Finding
from toolwire.core.events import AnyEvent, decode_run
from toolwire.seal.chain import LEDGER_GENESIS, SIZE, digest_of, row_seal, run_hash, seal_genesis, session_genesis
from toolwire.store.migrations import SEQ_BITS
from toolwire.store.projection import messages, resets
from toolwire.store.sqlite_places import Place, Run, decode_places, decode_runs

Row = tuple[int, Any, Any, Any, Any]


@dataclass(slots=True)
class _Session:
    tenant: str
    name: str
    hash: bytes
    last: int = 0


@dataclass(slots=True)
class LogCheck:
    """One walk over the log. Iterate `findings`, then look at the rest."""

    connection: sqlite3.Connection
    key: bytes
    ledger: dict[int, bytes]
    """The ledger's hash after each note."""
    rows: int = 0
    runs: int = 0
    events: int = 0
    last_row: int = 0
    noted: int = 0
    """The last note that is sealed."""
    unsealed: int = 0
    """Rows up to here are older than seals."""
    seals: dict[int, bytes] = field(default_factory=dict)
    """The seal of each row that is asked for, see `wanted`."""
    wanted: frozenset[int] = frozenset()
    indexed: tuple[int, int] = (0, 0)
    """How many runs `places` should know, and their sum."""

    def findings(self) -> Iterator[Finding]:
        db = self.connection
        self.unsealed, indexed = db.execute("SELECT unsealed, indexed FROM meta").fetchone()
        sessions = {
            number: _Session(tenant, name, session_genesis(tenant, name, epoch))
            for number, tenant, name, epoch in db.execute("SELECT number, tenant, name, epoch FROM sessions")
        }
        said = db.cursor().execute("SELECT id, tenant, conversation, role, text FROM messages ORDER BY id")
        before = seal_genesis(self.key, self.unsealed)
        for row in db.cursor().execute("SELECT id, runs, body, noted, chain FROM log ORDER BY id"):
            number, _, _, noted, chain = row
            if number != self.last_row + 1:
                yield _gap(self.last_row, number)
            self.rows += 1
            self.last_row = number
            trouble = _misshapen(row, sealed=number > self.unsealed)
            if trouble is not None:
                yield trouble
                before = chain[:SIZE] if isinstance(chain, bytes) else before
                continue
            if number <= indexed:
                self.indexed = _summed(self.indexed, number, decode_runs(row[1]))
            yield from self._runs(row, sessions, said)
            if number > self.unsealed:
                yield from self._seal(row, before)
                before = chain[:SIZE]
                self.noted = max(self.noted, noted)
                if number in self.wanted:
                    self.seals[number] = before
        yield from _left_over(said)
        yield from self._places()

    def _seal(self, row: Row, before: bytes) -> Iterator[Finding]:
        number, runs, _, noted, chain = row
        ledger = LEDGER_GENESIS if noted == 0 else self.ledger.get(noted)
        if ledger is None:
            yield Finding("ledger", f"note {noted}", f"is missing: row {number} of the log was sealed with it")
            return
        if row_seal(self.key, before, number, runs.encode(), chain[SIZE:], noted, ledger) != chain[:SIZE]:
            yield Finding(
                "log",
                f"row {number}",
                "its seal does not fit: it was changed, moved or added, or sealed with another key",
            )

    def _runs(self, row: Row, sessions: dict[int, _Session], said: sqlite3.Cursor) -> Iterator[Finding]:
        number, runs, body, _, chain = row
        offset = 0
        for index, (owner, first, last, size) in enumerate(decode_runs(runs)):
            run = body[offset : offset + size]
            offset += size
            self.runs += 1
            session = sessions.get(owner)
            if session is None:
                yield Finding("log", f"row {number}", f"belongs to session number {owner}, which is missing")
                continue
            what = f"row {number}, events {first} to {last} of session {session.name!r}"
            if first != session.last + 1:
                yield Finding("log", what, f"do not follow event {session.last}: something is missing or moved")
            if number > self.unsealed:
                stored = chain[SIZE * (index + 1) : SIZE * (index + 2)]
                if run_hash(session.hash, first, last, digest_of(run)) != stored:
                    yield Finding("log", what, "were changed after they were stored, or are another session's")
                session.hash = stored
            session.last = last
            yield from self._events(run, what, session, said)

    def _events(self, run: bytes, what: str, session: _Session, said: sqlite3.Cursor) -> Iterator[Finding]:
        try:
            events = decode_run(run)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            yield Finding("log", what, f"can't be read: {error}")
            return
        self.events += len(events)
        for event in events:
            for expected in _told(event, session.tenant):
                found = said.fetchone()
                if found is None or found[1:] != expected:
                    where = f"message {found[0]}" if found else "the last message"
                    yield Finding("messages", where, f"is not what {what} say")

    def _places(self) -> Iterator[Finding]:
        """`places` only says where runs lie, but whoever reads a session relies on it."""
        known = (0, 0)
        for key, line in self.connection.execute("SELECT id, runs FROM places ORDER BY id"):
            try:
                places = decode_places(line)
            except msgspec.DecodeError:
                yield Finding("places", f"line {key}", "can't be read")
                continue
            for place in places:
                known = _added(known, key >> SEQ_BITS, place)
        if known != self.indexed:
            yield Finding("places", "the index of the log", "does not fit the log: readers may miss events")


def _misshapen(row: Row, *, sealed: bool) -> Finding | None:
    """What the other checks rely on."""
    number, runs, body, noted, chain = row
    try:
        listed = decode_runs(runs)
    except (msgspec.DecodeError, TypeError, UnicodeDecodeError):
        return Finding("log", f"row {number}", "its list of runs can't be read")
    if not isinstance(runs, str) or not isinstance(body, bytes) or not isinstance(noted, int):
        return Finding("log", f"row {number}", "is not of the types it was stored with")
    if sum(run[3] for run in listed) != len(body):
        return Finding("log", f"row {number}", "its events were changed: they are not as long as they were")
    if sealed and (not isinstance(chain, bytes) or len(chain) != SIZE * (len(listed) + 1)):
        return Finding("log", f"row {number}", "its seal was changed or removed, or it was added by another program")
    return None


def _gap(last: int, number: int) -> Finding:
    missing = f"row {last + 1}" if number == last + 2 else f"rows {last + 1} to {number - 1}"
    return Finding("log", missing, "missing")


def _told(event: AnyEvent, tenant: str) -> Iterator[tuple[str, str, str, str]]:
    """The rows of `messages` an event adds."""
    forgotten = resets(event)
    if forgotten is not None:
        yield tenant, forgotten, "reset", ""
    added = messages(event)
    if added is not None:
        for message in added[1]:
            yield tenant, added[0], message.role, message.text


def _left_over(said: sqlite3.Cursor) -> Iterator[Finding]:
    extra = said.fetchone()
    if extra is not None:
        yield Finding("messages", f"message {extra[0]}", "is in no event")


def _summed(known: tuple[int, int], row: int, runs: list[Run]) -> tuple[int, int]:
    offset = 0
    for session, first, last, size in runs:
        known = _added(known, session, Place(first, last, row, offset, size))
        offset += size
    return known


def _added(known: tuple[int, int], session: int, place: Place) -> tuple[int, int]:
    """A sum that does not depend on the order, so that a long index need not be held in memory."""
    return known[0] + 1, (known[1] + hash((session, *place))) % (1 << 64)
