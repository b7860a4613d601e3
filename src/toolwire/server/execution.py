"""Runs one call of a program in its session: the request is stored, then the effect begins, then its outcome is
stored together with the record under its idempotency key.

A session's log may have another writer (a second gateway on the same store). Whoever comes second is told so by the
store, opens the session anew and goes on; what has happened is kept here meanwhile, so nothing happens twice.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from typing import TYPE_CHECKING, Any

import orjson

from toolwire.core.commands import RunTool
from toolwire.core.events import CallOutcome, CallRequested, CallSettled, Placement
from toolwire.errors import FlashError, StoreError, ToolwireError
from toolwire.server import responses
from toolwire.server.asked import Asked
from toolwire.server.catalogue import CallContext, Committer, Entry, ServiceResult
from toolwire.server.clock import now_ms
from toolwire.server.excerpts import excerpt
from toolwire.server.logs import log
from toolwire.server.programs import PROGRAM, Program, Record
from toolwire.server.responses import Response
from toolwire.server.toolroom import WRITE_PATIENCE, Done
from toolwire.store.call_records import RecordKey
from toolwire.store.refusals import CONFLICT, NOT_STORABLE
from toolwire.tools import undo

if TYPE_CHECKING:
    from toolwire.server.hub import Hub
    from toolwire.server.live import LiveSession


class Overtaken(Exception):
    """The key was taken by another call before this one came to it. Nothing was done."""


class Execution:
    """One call from here to its response. `run` never raises, but for the store being gone."""

    def __init__(self, hub: Hub, asked: Asked, call_id: str, placement: Placement) -> None:
        self._hub = hub
        self._asked = asked
        self._call_id = call_id
        self._placement = placement
        self._in_session: Program | None = None
        self._started = time.monotonic()
        self._result: ServiceResult | None = None
        self._error: FlashError | None = None
        self._kind = ""
        """A failed tool's own word for why."""
        self._began = True
        """Whether a failure came after the effect had begun: only then it is kept."""
        self._known = placement == "client"
        """Whether the outcome is the true one, not merely that the gateway shuts down while the tool runs."""
        self._response: Response | None = None

    async def run(self) -> Response:
        key = self._asked.key
        try:
            if self._asked.entry.placement == "workspace":
                await self._use_tool()
            else:
                await self._use_service()
        except ToolwireError:
            if key is not None:
                await self._leave(key)
            raise
        finally:
            if self._in_session is not None:
                self._hub.programs.remove(self._in_session)
            if key is not None:
                self._hub.records.tell(key)
        assert self._response is not None
        return self._response

    @property
    def _program(self) -> Program:
        """The call as its session sees it; one that is a single transaction needs none."""
        if self._in_session is None:
            self._in_session = Program(self._call_id, self._record_of)
        return self._in_session

    async def _leave(self, key: RecordKey) -> None:
        """There is no outcome. A call that never began gives its key back; of another, the next one finds out."""
        if self._requested:
            self._hub.records.forsake(key)
            return
        try:
            await self._hub.store.transact(lambda tables: self._hub.records.abandon(tables, key))
        except StoreError:
            self._hub.records.forsake(key)
            raise

    @property
    def _requested(self) -> bool:
        """Whether the request is stored: before that, nothing can have happened."""
        if self._in_session is None:
            return False
        requested = self._in_session.requested
        return requested.done() and not requested.cancelled() and requested.exception() is None

    def context(self, committer: Committer | None = None) -> CallContext:
        asked = self._asked
        return CallContext(
            hub=self._hub,
            caller=asked.caller,
            app_id=asked.app_id,
            session_id=asked.session,
            trace_id=asked.trace_id,
            call_id=self._call_id,
            mode=asked.mode,
            committer=committer,
        )

    # Tools of a workspace ----------------------------------------------------------------------------------

    async def _use_tool(self) -> None:
        call = await self._ask()
        if call.placement == "client":
            try:
                await self._program.settled
            except StoreError:
                await self._settle(_as_told(self._program.told))
            return
        session = (await self._live()).record
        done = await self._hub.toolroom.execute(session.number, call)
        self._kind = done.kind
        if not done.ok and not call.reads and not done.lost:
            self._began = await self._has_begun(call)
        await self._settle(done)

    async def _has_begun(self, call: CallRequested) -> bool:
        """Whether a write that failed has written anything: if not, its key stays free."""
        try:
            workspace = self._hub.projects.workspace(call.project)
            return await asyncio.to_thread(undo.decide, workspace, call.call_id) != "not_done"
        except ToolwireError:
            return True

    # Services of the gateway -------------------------------------------------------------------------------

    async def _use_service(self) -> None:
        await self._ask()
        await self._try_in_time(self.context())
        await self._settle_service()

    async def _try_in_time(self, context: CallContext) -> None:
        entry = self._asked.entry
        limit = entry.timeout or self._hub.settings.call_timeout
        try:
            async with asyncio.timeout(limit if entry.reads else limit * WRITE_PATIENCE):
                await self._try_service(context)
        except TimeoutError:
            self._error = timed_out(entry, limit, began=True)

    async def _try_service(self, context: CallContext) -> None:
        entry = self._asked.entry
        assert entry.run is not None
        try:
            self._result = await entry.run(context, self._asked.arguments)
        except FlashError as error:
            self._error = error
        except (StoreError, Overtaken):
            raise
        except ToolwireError as error:
            self._error = FlashError("UPSTREAM_ERROR", error.message, reason=error.code)
        except Exception:
            log.exception("a service tool failed unexpectedly", tool=entry.tool_id, call_id=self._call_id)
            self._error = FlashError("INTERNAL_ERROR", "工具内部错误，详情见网关日志", began=True)

    async def _settle_service(self) -> None:
        await self._settle(self._done())

    def _done(self) -> Done:
        if self._result is not None:
            return Done(ok=True, result=self._logged(self._result.data))
        assert self._error is not None
        return Done(error=f"{self._error.code}: {self._error.message}")

    # The session -------------------------------------------------------------------------------------------

    async def _live(self) -> LiveSession:
        """The session, which then stays live for a while."""
        hub, key = self._hub, (self._asked.caller.tenant, self._asked.session)
        live = hub.sessions.get(key)
        if live is None:
            async with hub.visit(*key) as live:
                hub.lingering.hold(live)
                return live
        hub.lingering.hold(live)
        return live

    def _new_call(self, live: LiveSession) -> CallRequested:
        asked = self._asked
        return live.core.run_tool(
            RunTool("", asked.entry.tool_id, self._logged(asked.arguments)),
            now_ms(),
            project=asked.project,
            reads=asked.entry.reads,
            asked_by=PROGRAM + asked.caller.name,
            placement=self._placement,
            trace=asked.trace_id,
            call_id=self._call_id,
        )

    def _logged(self, content: dict[str, Any]) -> dict[str, Any]:
        """What the session's log gets to see of arguments and results."""
        if not self._asked.entry.content_kept:
            return content
        short: dict[str, Any] = excerpt(content, self._hub.settings.call_text_logged)
        return short

    async def _ask(self) -> CallRequested:
        """Have the request stored. Until it is, nothing has happened."""
        self._hub.programs.add(self._program)
        for _ in range(self._hub.settings.call_session_tries):
            live = await self._live()
            live.submit([self._new_call(live)])
            try:
                return await self._program.requested
            except StoreError as error:
                if error.code != CONFLICT:
                    raise
                self._program.again()
        raise self._crowded()

    async def _settle(self, done: Done) -> None:
        """Have the outcome stored, with its record."""
        self._known = True
        for _ in range(self._hub.settings.call_session_tries):
            self._program.again()
            live = await self._live()
            if not live.settle(self._call_id, done):
                await self._settle_alone(done)
                return
            try:
                await self._program.settled
                return
            except StoreError as error:
                done = self._next_try(done, error)
        raise self._crowded()

    def _next_try(self, done: Done, error: StoreError) -> Done:
        """The outcome to try again with, after the store has refused one; raises if that would be of no use."""
        if error.code == NOT_STORABLE:
            return self._unstorable()
        if error.code != CONFLICT:
            raise error
        return done

    def _unstorable(self) -> Done:
        """What came out has no place in JSON. That it happened is all that can be kept of it."""
        self._result = None
        self._error = FlashError("INTERNAL_ERROR", "结果无法存储", reason=NOT_STORABLE, began=True)
        return Done(error=f"{self._asked.entry.tool_id} gave a result that can't be stored")

    def _crowded(self) -> StoreError:
        return StoreError(f"the session {self._asked.session} is written to by another gateway all the time")

    async def _settle_alone(self, done: Done) -> None:
        """The log has an outcome of this call already (another gateway has started and seen nobody): the record has
        the true one."""
        outcome: CallOutcome = "ok" if done.ok else "indeterminate" if done.lost else "failed"
        event = CallSettled(0, now_ms(), "", "", self._call_id, self._asked.entry.tool_id, outcome, done.result)
        record = self._record_of(event)
        if record is not None:
            await self._hub.store.transact(record)

    # The outcome -------------------------------------------------------------------------------------------

    def _record_of(self, event: CallSettled) -> Record | None:
        """What to store with an outcome; also makes the response of it."""
        if not self._known:
            return None
        self._response = response = self._respond(event)
        key = self._asked.key
        if key is None:
            return None
        began = self._began if self._error is None else self._error.began
        if response["ok"] or began:
            return lambda tables: self._finish(tables, response)
        return lambda tables: self._hub.records.abandon(tables, key)

    def _respond(self, event: CallSettled) -> Response:
        entry, trace = self._asked.entry, self._asked.trace_id
        if self._result is not None:
            return responses.served(entry, trace, self._result, self._ms())
        if self._error is None and event.outcome == "ok":
            return responses.success(entry, trace, responses.data_of(event), ms=self._ms())
        error = self._error or responses.upstream(entry, event, self._kind, in_gateway=self._placement == "server")
        return responses.failure(error, entry.tool_id, trace)

    def _finish(self, tables: sqlite3.Connection, response: Response) -> None:
        assert self._asked.key is not None
        self._hub.records.finish(tables, self._asked.key, orjson.dumps(response).decode(), now_ms())

    def _ms(self) -> int:
        return int((time.monotonic() - self._started) * 1000)


def _as_told(event: CallSettled | None) -> Done:
    """The outcome that an IDE told us and the store did not take."""
    if event is None:
        return Done(lost=True)
    lost = event.outcome in ("indeterminate", "timed_out", "cancelled")
    return Done(event.outcome == "ok", event.result, event.error, event.details, lost=lost)


def timed_out(entry: Entry, limit: float, *, began: bool = False) -> FlashError:
    """A write that takes too long may still happen: the same key asks for its outcome."""
    message = f"{entry.tool_id} 在 {limit:g} 秒内未完成"
    if entry.reads:
        return FlashError("TIMEOUT", message)
    hint = "send the same idempotency_key again to learn the outcome"
    return FlashError("TIMEOUT", message, indeterminate=True, hint=hint, began=began)
