"""Runs a call whose effect is one store transaction: claim, request, effect, record and outcome in one commit.

After a crash all of it is there, or none. A call that only reads the store has its request and outcome stored
together, too, before it is answered.
"""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from toolwire.core.events import AnyEvent, CallSettled
from toolwire.errors import FlashError, StoreError
from toolwire.server import responses
from toolwire.server.asked import Asked
from toolwire.server.catalogue import Effect, ServiceResult
from toolwire.server.clock import now_ms
from toolwire.server.execution import Execution, Overtaken, timed_out
from toolwire.server.programs import Record
from toolwire.server.responses import Response
from toolwire.store.base import Withdrawn
from toolwire.store.group_commit import Append
from toolwire.store.refusals import CONFLICT

if TYPE_CHECKING:
    from toolwire.server.hub import Hub


class AtomicExecution(Execution):
    """One call of an `atomic` service. With `claims` it takes the key itself, in the same transaction; if another
    call was quicker, its response is empty. Without, its key was claimed before, or it has none because it reads."""

    def __init__(self, hub: Hub, asked: Asked, call_id: str, *, claims: bool) -> None:
        super().__init__(hub, asked, call_id, "server")
        self._claims = claims
        self._stored: Response | None = None
        """The response that was committed with the effect."""
        self._handed_over = False
        """The transaction is in the store's hands, and will be made."""
        self._committed = False

    async def run_within(self, seconds: float) -> Response:
        """Run here and now: whoever waits may stop waiting at any time. Not for a key that was claimed before."""
        try:
            with self._hub.deadlines.within(seconds):
                return await self.run()
        except TimeoutError:
            self._error = error = timed_out(self._asked.entry, seconds)
            if not self._handed_over:
                await self._put_on_record()
            raise error from None

    async def _use_service(self) -> None:
        context = self.context(self._commit)
        try:
            if self._claims or self._asked.key is None:
                await self._try_service(context)
            else:
                await self._try_in_time(context)
        except Overtaken:
            self._response = {}
            return
        if not self._committed:  # refused before, or there was nothing to do
            await self._put_on_record()
        elif self._stored is not None:
            self._response = self._stored
        else:
            error = self._error or FlashError("INTERNAL_ERROR", "工具在提交后失败，详情见网关日志")
            self._response = responses.failure(error, self._asked.entry.tool_id, self._asked.trace_id)

    def _record_of(self, event: CallSettled) -> Record | None:
        """Without a commit there was no effect, and nothing is kept of it."""
        super()._record_of(event)
        key = self._asked.key
        if key is None or self._claims:
            return None
        return lambda tables: self._hub.records.abandon(tables, key)

    async def _put_on_record(self) -> None:
        """Request and outcome at once, of what has had no effect."""
        self._known = True
        done = self._done()
        for _ in range(self._hub.settings.call_session_tries):
            live = await self._live()
            call = self._new_call(live)
            settled = live.core.settle(call.call_id, done.ok, done.result, done.error, now_ms())
            assert settled is not None
            settled = msgspec.structs.replace(settled, ms=self._ms())
            append = Append(live.record.number, [call, settled], live.committed, live.lost)
            try:
                await self._hub.store.transact(self._record_of(settled) or _nothing, append=append)
                return
            except StoreError as error:
                done = self._next_try(done, error)
        raise self._crowded()

    async def _commit(self, effect: Effect) -> ServiceResult:
        if self._committed:
            raise RuntimeError(f"{self._asked.entry.tool_id} commits twice")
        hub = self._hub
        for _ in range(hub.settings.call_session_tries):
            live = await self._live()
            call = self._new_call(live)
            settled = live.core.settle(call.call_id, True, None, "", now_ms())
            assert settled is not None
            events: list[AnyEvent] = [call, settled]
            append = Append(live.record.number, events, live.committed, live.lost)
            self._handed_over = True
            try:
                outcome = await hub.store.transact(
                    partial(self._apply, effect, events, settled), append=append, claims=self._asked.key
                )
            except StoreError as error:
                if error.code != CONFLICT:
                    raise
                self._handed_over = False
                continue
            self._committed = True
            if isinstance(outcome, Exception):
                raise outcome
            return outcome
        raise self._crowded()

    def _apply(
        self, effect: Effect, events: list[AnyEvent], settled: CallSettled, tables: sqlite3.Connection
    ) -> ServiceResult | Exception:
        """In the store's thread. The outcome in `events` becomes what it really is, before they are stored.

        A refusal undoes the effect alone: that it was asked for, and refused, is on record.
        """
        if self._claims and not self._take(tables):
            error = "another call has taken the idempotency key; nothing was done"
            events[1] = msgspec.structs.replace(settled, outcome="cancelled", error=error, ms=self._ms())
            return Overtaken()
        try:
            result = effect(tables)
            response = responses.served(self._asked.entry, self._asked.trace_id, result, self._ms())
            self._finish(tables, response)
        except Exception as error:
            if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
                raise  # the disk or the lock, not a wrong statement: nothing of this commit can be stored
            events[1] = msgspec.structs.replace(settled, outcome="failed", error=_told(error), ms=self._ms())
            raise Withdrawn(error, None if self._claims else self._give_up) from error
        self._stored = response
        events[1] = msgspec.structs.replace(settled, result=self._logged(result.data), ms=self._ms())
        return result

    def _take(self, tables: sqlite3.Connection) -> bool:
        asked = self._asked
        assert asked.key is not None
        claim = self._hub.records.claim(
            tables, asked.key, asked.digest, trace=asked.trace_id, call_id=self._call_id, now=now_ms()
        )
        return claim.verdict == "run"

    def _give_up(self, tables: sqlite3.Connection) -> None:
        """The key was taken before; what is undone leaves it taken."""
        assert self._asked.key is not None
        self._hub.records.abandon(tables, self._asked.key)


def _nothing(_: sqlite3.Connection) -> None:
    """The events are all there is to store."""


def _told(error: Exception) -> str:
    return f"{error.code}: {error.message}" if isinstance(error, FlashError) else type(error).__name__
