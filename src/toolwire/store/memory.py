"""A store that forgets everything when the process ends: for tests, and for `--store memory:`."""

from __future__ import annotations

import asyncio
import sqlite3
from bisect import bisect_right
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

from toolwire.core.events import AnyEvent, Message, decode_run, encode_run
from toolwire.errors import StoreError
from toolwire.settings import Settings
from toolwire.store.base import Committed, Failed, SessionRecord, SessionSummary, Store, Withdrawn
from toolwire.store.group_commit import Append
from toolwire.store.ledger import last_note
from toolwire.store.migrations import migrate
from toolwire.store.projection import messages, resets
from toolwire.store.refusals import UNSTORABLE, closed, follows, not_following, not_started, nowhere, unstorable
from toolwire.store.tables import Key, Tables
from toolwire.store.tally import preview, tally

T = TypeVar("T")


@dataclass(slots=True)
class _Session:
    number: int
    tenant: str
    name: str
    epoch: str
    created: int
    updated: int
    touched: int
    """Counts up with every use, to order sessions used in the same millisecond."""
    turns: int = 0
    open: int = 0
    rest: int = 0
    last: int = 0
    last_prompt: str = ""
    firsts: list[int] = field(default_factory=list)
    """The first sequence number of each run, for looking runs up."""
    runs: list[bytes] = field(default_factory=list)
    """Kept encoded, as every store keeps them: what can't be stored elsewhere can't be stored here."""

    def record(self) -> SessionRecord:
        return SessionRecord(self.number, self.tenant, self.name, self.epoch, self.last, self.rest)

    def summary(self) -> SessionSummary:
        return SessionSummary(
            self.name,
            self.tenant,
            self.epoch,
            self.created,
            self.updated,
            self.turns,
            self.open,
            self.last,
            self.last_prompt,
        )


class MemoryStore(Store):
    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings or Settings()
        self._sessions: list[_Session] = []
        self._by_name: dict[tuple[str, str], _Session] = {}
        self._messages: dict[tuple[str, str], list[Message]] = {}
        self._waiting: list[tuple[int, list[AnyEvent], Committed, Failed]] = []
        self._drained: list[asyncio.Future[None]] = []
        self._backlog = 0
        self._uses = 0
        self._refusal: StoreError | None = not_started()
        self._tables: Tables | None = None

    async def start(self) -> None:
        self._refusal = None

    async def close(self) -> None:
        await self.drained()
        self._refusal = closed()
        if self._tables is not None:
            self._tables.close()

    async def open_session(self, tenant: str, name: str, *, epoch: str, now: int) -> SessionRecord:
        self._check()
        await self.drained()
        session = self._by_name.get((tenant, name))
        if session is None:
            _check_text(tenant, name, epoch)
            session = _Session(len(self._sessions) + 1, tenant, name, epoch, now, now, self._use())
            self._sessions.append(session)
            self._by_name[tenant, name] = session
        return session.record()

    async def find_session(self, tenant: str, name: str) -> SessionRecord | None:
        self._check()
        session = self._by_name.get((tenant, name))
        return session.record() if session is not None else None

    def append(self, session: int, events: list[AnyEvent], committed: Committed, failed: Failed) -> None:
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._commit)
        self._waiting.append((session, events, committed, failed))
        self._backlog += len(events)

    @property
    def backlog(self) -> int:
        return self._backlog

    async def drained(self) -> None:
        if self._backlog:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.append(0, [], lambda _: _wake(future), lambda *_: None)
            await future

    async def read(self, session: int, *, after: int = 0, limit: int = 1000) -> list[AnyEvent]:
        self._check()
        found: list[AnyEvent] = []
        if not 0 < session <= len(self._sessions):
            return found
        kept = self._sessions[session - 1]
        for run in kept.runs[max(0, bisect_right(kept.firsts, after + 1) - 1) :]:
            found += [event for event in decode_run(run) if event.seq > after]
            if len(found) >= limit:
                break
        return found[:limit]

    async def history(self, tenant: str, conversation: str, limit: int) -> list[Message]:
        self._check()
        await self.drained()
        return self._messages.get((tenant, conversation), [])[-limit:] if limit > 0 else []

    async def sessions(self, tenant: str | None = None, *, limit: int = 100) -> list[SessionSummary]:
        self._check()
        chosen = [session for session in self._sessions if tenant is None or session.tenant == tenant]
        chosen.sort(key=lambda session: (session.updated, session.touched), reverse=True)
        return [session.summary() for session in chosen[:limit]]

    async def unfinished(self) -> list[SessionRecord]:
        self._check()
        return [session.record() for session in self._sessions if session.open > 0]

    def transact(
        self, work: Callable[[sqlite3.Connection], T], *, append: Append | None = None, claims: Key | None = None
    ) -> Awaitable[T]:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        try:
            result = self._together(work)
        except Exception as error:
            if append is not None:
                append.failed(append.events, StoreError(f"not stored: {error}"))
            future.set_exception(error)
            return future
        if append is None:
            future.set_result(result)
            return future

        def committed(events: list[AnyEvent]) -> None:
            append.committed(events)
            future.set_result(result)

        def failed(events: list[AnyEvent], error: StoreError) -> None:
            append.failed(events, error)
            future.set_exception(error)

        self.append(append.session, append.events, committed, failed)
        return future

    def _together(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._check()
        tables = self._open_tables()
        tables.execute("BEGIN")
        try:
            result = self._work(tables, work)
            tables.together.write(tables, *last_note(tables))
        except BaseException:
            tables.execute("ROLLBACK")
            tables.together.clear()
            raise
        tables.execute("COMMIT")
        return result

    def _work(self, tables: Tables, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return work(tables)
        except Withdrawn as withdrawn:
            tables.execute("ROLLBACK")
            tables.together.clear()
            tables.execute("BEGIN")
            if withdrawn.instead is not None:
                withdrawn.instead(tables)
            return cast(T, withdrawn.outcome)

    async def query(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._check()
        return work(self._open_tables())

    def _open_tables(self) -> Tables:
        """The tables of a file store, in memory: the same statements work on both."""
        if self._tables is None:
            self._tables = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=Tables)
            migrate(self._tables)
        return self._tables

    # Committing --------------------------------------------------------------------------------------------

    def _commit(self) -> None:
        batch, self._waiting = self._waiting, []
        loop = asyncio.get_running_loop()
        for number, events, committed, failed in batch:
            error = self._keep(number, events) if events else None
            self._backlog -= len(events)
            try:
                if error is None:
                    committed(events)
                else:
                    failed(events, error)
            except Exception as defect:
                loop.call_exception_handler({"message": "a store callback failed", "exception": defect})

    def _keep(self, number: int, events: list[AnyEvent]) -> StoreError | None:
        if self._refusal is not None:
            return self._refusal
        if not 0 < number <= len(self._sessions):
            return nowhere(number)
        session = self._sessions[number - 1]
        if not follows(events, session.last):
            return not_following(number, events[0].seq, session.last)
        try:
            run = encode_run(events)
        except UNSTORABLE as error:
            return unstorable(error)
        session.firsts.append(events[0].seq)
        session.runs.append(run)
        session.last = events[-1].seq
        self._project(session, events)
        return None

    def _project(self, session: _Session, events: list[AnyEvent]) -> None:
        for event in events:
            forgotten = resets(event)
            if forgotten is not None:
                self._messages.pop((session.tenant, forgotten), None)
            added = messages(event)
            if added is not None:
                self._messages.setdefault((session.tenant, added[0]), []).extend(added[1])
        change = tally(events)
        if change is None:
            return
        if session.open + change.lowest == 0:
            session.rest = change.lowest_at
        session.open += change.delta
        session.turns += change.turns
        session.updated = change.updated
        session.touched = self._use()
        if change.prompt is not None:
            session.last_prompt = preview(change.prompt, self._settings.prompt_preview)

    def _use(self) -> int:
        self._uses += 1
        return self._uses

    def _check(self) -> None:
        if self._refusal is not None:
            raise self._refusal


def _check_text(*texts: str) -> None:
    try:
        "".join(texts).encode()
    except UNSTORABLE as error:
        raise unstorable(error) from error


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
