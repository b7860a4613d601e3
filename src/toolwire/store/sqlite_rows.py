"""From the appends of one commit to the rows they add to the tables of the SQLite store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from toolwire.core.events import (
    AnyEvent,
    CallRequested,
    CallSettled,
    MessageAdded,
    SessionReset,
    TurnAsked,
    TurnEnded,
    encode_run,
)
from toolwire.seal.chain import digest_of, row_seal, run_hash
from toolwire.store.projection import messages, resets
from toolwire.store.sqlite_insert import Table, in_steps
from toolwire.store.sqlite_places import Run, encode
from toolwire.store.sqlite_seals import Tip
from toolwire.store.tally import preview, tally

_PROJECTED = frozenset((TurnAsked, TurnEnded, SessionReset, MessageAdded))
"""Events that change more than the log; so do calls that belong to no turn."""
_CALLS = frozenset((CallRequested, CallSettled))


LOG = Table(5, "INSERT INTO log (id, runs, body, noted, chain) VALUES {rows}")
MESSAGES = Table(4, "INSERT INTO messages (tenant, conversation, role, text) VALUES {rows}")
SESSIONS = Table(
    7,
    """
    UPDATE sessions SET
        updated = max(updated, change.column2),
        turns = turns + change.column3,
        open = open + change.column4,
        rest = CASE WHEN open + change.column5 = 0 THEN change.column6 ELSE rest END,
        last_prompt = coalesce(change.column7, last_prompt)
    FROM (VALUES {rows}) AS change WHERE number = change.column1
    """,
)


class Rows:
    """What a commit adds, as flat lists of parameters. `tip` is the end of the log, with them."""

    __slots__ = (
        *("_body", "_bytes", "_hashes", "_key", "_preview", "_row_bytes", "_runs"),
        *("log", "messages", "sessions", "tip"),
    )

    def __init__(self, tip: Tip, key: bytes, *, row_bytes: int, prompt_preview: int) -> None:
        self.tip = tip
        self._key = key
        self.log: list[Any] = []
        self.messages: list[Any] = []
        self.sessions: list[Any] = []
        self._row_bytes = row_bytes
        self._preview = prompt_preview
        self._runs: list[Run] = []
        self._body: list[bytes] = []
        self._hashes: list[bytes] = []
        self._bytes = 0

    def add(self, session: int, tenant: Callable[[int], str | None], events: list[AnyEvent], before: bytes) -> bytes:
        """Consecutive events of one session. `tenant` is asked only if they add to a conversation.

        Gives the hash of the session's last run; `before` is what it was until now.
        """
        after = self._store(session, events, before)
        for event in events:
            kind = type(event)
            if kind in _PROJECTED or (kind in _CALLS and not event.turn):  # type: ignore[union-attr]
                self._project(session, tenant, events)
                break
        return after

    def seal_notes(self) -> None:
        """The ledger has grown: if no event goes in with it, a row of the log without any seals it."""
        if not self._runs and not self.log:
            self._seal_row()

    def statements(self) -> Iterator[tuple[str, list[Any]]]:
        self._end_row()
        yield from in_steps(LOG, self.log)
        yield from in_steps(MESSAGES, self.messages)
        yield from in_steps(SESSIONS, self.sessions)

    def _project(self, session: int, tenant: Callable[[int], str | None], events: list[AnyEvent]) -> None:
        for event in events:
            if type(event) not in _PROJECTED:
                continue
            forgotten = resets(event)
            if forgotten is not None:
                self.messages += (tenant(session), forgotten, "reset", "")
            added = messages(event)
            if added is not None:
                for message in added[1]:
                    self.messages += (tenant(session), added[0], message.role, message.text)
        change = tally(events)
        if change is not None:
            prompt = change.prompt and preview(change.prompt, self._preview)
            self.sessions += (session, *change[:5], prompt)

    def _store(self, session: int, events: list[AnyEvent], before: bytes) -> bytes:
        run = encode_run(events)
        size = len(run)
        if size > self._row_bytes and len(events) > 1:
            middle = len(events) // 2
            return self._store(session, events[middle:], self._store(session, events[:middle], before))
        if self._bytes and self._bytes + size > self._row_bytes:
            self._end_row()
        self._bytes += size
        self._body.append(run)
        first, last = events[0].seq, events[-1].seq
        self._runs.append((session, first, last, size))
        after = run_hash(before, first, last, digest_of(run))
        self._hashes.append(after)
        return after

    def _end_row(self) -> None:
        if self._runs:
            self._seal_row()
            self._runs = []
            self._body = []
            self._hashes = []
            self._bytes = 0

    def _seal_row(self) -> None:
        before, runs, hashes = self.tip, encode(self._runs), b"".join(self._hashes)
        row = before.row + 1
        seal = row_seal(self._key, before.seal, row, runs, hashes, before.noted, before.ledger)
        self.tip = Tip(row, seal, before.noted, before.ledger)
        self.log += (row, runs.decode(), b"".join(self._body), before.noted, seal + hashes)
