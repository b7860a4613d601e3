"""Runs a call whose effect is one store transaction: claim, request, effect, record and outcome in one commit.

After a crash all of it is there, or none.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from toolwire.core.events import AnyEvent, CallSettled
from toolwire.errors import FlashError, StoreError
from toolwire.server import responses
from toolwire.server.asked import Asked
from toolwire.server.catalogue import CallContext, Effect, ServiceResult
from toolwire.server.clock import now_ms
from toolwire.server.execution import Execution, Overtaken
from toolwire.server.programs import Record
from toolwire.server.responses import Response
from toolwire.store.group_commit import Append
from toolwire.store.refusals import CONFLICT

if TYPE_CHECKING:
    from toolwire.server.hub import Hub


class AtomicExecution(Execution):
    """One call of an `atomic` service. With `claims` it takes the key itself, in the same transaction; if another
    call was quicker, its response is empty."""

    def __init__(self, hub: Hub, asked: Asked, call_id: str, *, claims: bool) -> None:
        super().__init__(hub, asked, call_id, "server")
        self._claims = claims
        self._stored: Response | None = None
        """The response that was committed with the effect."""
        self._committed = False

    def context(self) -> CallContext:
        return replace(super().context(), committer=self._commit)

    async def _use_service(self) -> None:
        try:
            await self._try_service(self.context())
        except Overtaken:
            self._response = {}
            return
        if not self._committed:  # refused before, or there was nothing to do
            await self._ask()
            await self._settle_service()
        else:
            error = self._error or FlashError("INTERNAL_ERROR", "工具在提交后失败，详情见网关日志")
            self._response = self._stored or responses.failure(error, self._asked.entry.tool_id, self._asked.trace_id)

    def _record_of(self, event: CallSettled) -> Record | None:
        """Without a commit there was no effect, and nothing is kept of it."""
        super()._record_of(event)
        key = self._asked.key
        if key is None or self._claims:
            return None
        return lambda tables: self._hub.records.abandon(tables, key)

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
            try:
                outcome = await hub.store.transact(partial(self._apply, effect, events), append=append)
            except StoreError as error:
                if error.code != CONFLICT:
                    raise
                continue
            self._committed = True
            if isinstance(outcome, Exception):
                raise outcome
            return outcome
        raise self._crowded()

    def _apply(self, effect: Effect, events: list[AnyEvent], tables: sqlite3.Connection) -> ServiceResult | Exception:
        """In the store's thread. The outcome in `events` becomes what it really is, before they are stored.

        A refusal undoes the effect alone: that it was asked for, and refused, is on record.
        """
        settled = events[1]
        assert isinstance(settled, CallSettled)
        if self._claims and not self._take(tables):
            error = "another call has taken the idempotency key; nothing was done"
            events[1] = msgspec.structs.replace(settled, outcome="cancelled", error=error, ms=self._ms())
            return Overtaken()
        tables.execute("SAVEPOINT effect")
        try:
            result = effect(tables)
            response = responses.served(self._asked.entry, self._asked.trace_id, result, self._ms())
            self._finish(tables, response)
        except sqlite3.OperationalError:  # the disk or the lock
            raise
        except Exception as error:
            self._give_up(tables)
            events[1] = msgspec.structs.replace(settled, outcome="failed", error=_told(error), ms=self._ms())
            return error
        tables.execute("RELEASE effect")
        self._stored = response
        events[1] = msgspec.structs.replace(settled, result=result.data, ms=self._ms())
        return result

    def _take(self, tables: sqlite3.Connection) -> bool:
        asked = self._asked
        assert asked.key is not None
        claim = self._hub.records.claim(
            tables, asked.key, asked.digest, trace=asked.trace_id, call_id=self._call_id, now=now_ms()
        )
        return claim.verdict == "run"

    def _give_up(self, tables: sqlite3.Connection) -> None:
        assert self._asked.key is not None
        tables.execute("ROLLBACK TO effect")
        tables.execute("RELEASE effect")
        self._hub.records.abandon(tables, self._asked.key)


def _told(error: Exception) -> str:
    return f"{error.code}: {error.message}" if isinstance(error, FlashError) else type(error).__name__
