"""The one door for programs (document 3, sections 4 to 6): envelope in, response out, every write once.

A call is checked, permitted, claimed under its idempotency key, confirmed by a person where the tool says so, run in
its session, and answered. What is stored is answered again without being run again.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from logging import INFO
from typing import TYPE_CHECKING, Any

import orjson
from structlog.contextvars import bind_contextvars, reset_contextvars

from toolwire.core.events import CallRequested, Placement, TurnAsked
from toolwire.core.idempotency import Kept
from toolwire.dialects.flash_calls import MESSAGES
from toolwire.errors import FlashError, QueueFull, StoreError
from toolwire.server import responses
from toolwire.server.adopting import take_on
from toolwire.server.agent_services import serve
from toolwire.server.arguments import Arguments, refuse
from toolwire.server.asked import Asked, named, understand
from toolwire.server.atomic_execution import AtomicExecution
from toolwire.server.catalogue import Catalogue, Entry, ServiceResult
from toolwire.server.clock import now_ms
from toolwire.server.confirming import confirmed
from toolwire.server.execution import Execution, timed_out
from toolwire.server.logs import log, shows
from toolwire.server.recovering import IN_IDE, what_became
from toolwire.server.responses import Response
from toolwire.server.security import Caller
from toolwire.server.spans import call_span
from toolwire.server.toolroom import WRITE_PATIENCE, Done
from toolwire.store.call_records import RecordKey

if TYPE_CHECKING:
    from toolwire.server.hub import Hub
    from toolwire.server.live import LiveSession


class CallService:
    """Answers calls. One per gateway."""

    def __init__(self, hub: Hub, catalogue: Catalogue) -> None:
        self._hub = hub
        self.catalogue = catalogue
        self._arguments = Arguments(hub.tools.registry)
        self._fresh_keys: dict[RecordKey, asyncio.Event] = {}
        """Keys that a call of this process is about to claim together with its effect."""
        self._used_keys: dict[RecordKey, None] = {}
        """Keys that were used here, the oldest first: for these it is not worth trying."""

    async def call(self, envelope: object, caller: Caller) -> tuple[Response, int]:
        """A request as it came in → its response and HTTP status. Never raises for what a caller can do."""
        tool_id, trace_id = named(envelope)
        bound = bind_contextvars(trace_id=trace_id)
        try:
            with call_span(tool_id, trace_id, caller.name):
                response = await self._understood(envelope, caller, tool_id, trace_id)
            if shows(INFO):
                log.info("a call was answered", tool=tool_id, caller=caller.name, code=response["code"])
        finally:
            reset_contextvars(**bound)
        return response, responses.status_of(response)

    async def _understood(
        self, envelope: object, caller: Caller, tool_id: str | None, trace_id: str | None
    ) -> Response:
        try:
            asked = understand(envelope, caller, self.catalogue, self._arguments, self._hub.projects.roots)
            return await self._answer(asked)
        except FlashError as error:
            return responses.failure(error, tool_id, trace_id)
        except QueueFull as error:
            busy = FlashError("UPSTREAM_ERROR", error.message, reason=error.code)
            return responses.failure(busy, tool_id, trace_id)
        except StoreError as error:
            log.error("a call could not be stored", tool=tool_id, error=error.message)
            return responses.failure(_ours(error.code), tool_id, trace_id)
        except Exception:
            log.exception("a call failed unexpectedly", tool=tool_id)
            return responses.failure(_ours("INTERNAL_ERROR"), tool_id, trace_id)

    async def serve(self, live: LiveSession, call: CallRequested, entry: Entry, asked: TurnAsked | None) -> Done:
        """A service for the agent of a turn."""
        return await serve(live, call, entry, asked)

    def check_arguments(self, tool_id: str, arguments: dict[str, Any]) -> None:
        """Raises VALIDATION_FAILED if a tool we know does not take these."""
        entry = self.catalogue.find(tool_id)
        if entry is not None and (faults := self._arguments.faults(entry, arguments)):
            raise refuse(faults)

    async def look_after(self, live: LiveSession) -> bool:
        """After a restart: calls whose outcome was recorded get it in the log, too; so do those whose outcome can be
        told by what is there.

        False if the session is in another gateway's hands: leave it alone.
        """
        ids = [prefix + call.call_id for call in live.core.calls for prefix in ("", IN_IDE)]
        kept = await self._hub.store.query(lambda tables: self._hub.records.of_calls(tables, ids)) if ids else {}
        if any(alive and record.response is None for record, alive in kept.values()):
            return False
        for call in list(live.core.calls):
            record, _ = kept.get(call.call_id) or kept.get(IN_IDE + call.call_id) or (None, False)
            if record is not None and record.response is not None:
                response: Response = orjson.loads(record.response)
                done = Done(response["ok"], response.get("data"), "" if response["ok"] else response["message"])
                live.settle(call.call_id, done)
        dead = {call_id: record.owner for call_id, (record, _) in kept.items() if record.response is None}
        await take_on(self._hub, live, dead)
        return True

    async def _answer(self, asked: Asked) -> Response:
        while asked.entry.confirm and (asked.key is None or await self._is_new(asked.key)):
            allowed = await confirmed(self._hub, asked)
            if allowed is not None:
                asked = allowed
                break
            # Another call under the same key has taken the answer, and is about to claim the key.
            await asyncio.sleep(self._hub.settings.call_poll_first)
        if asked.key is None:
            return await self._run(asked, self._fresh_id(asked), self._placement(asked))
        return await self._once(asked, asked.key)

    async def _is_new(self, key: RecordKey) -> bool:
        """Nothing runs or has run under the key. What has needs no second word."""
        return not await self._hub.store.query(lambda tables: self._hub.records.known(tables, key))

    # Once under a key --------------------------------------------------------------------------------------

    async def _once(self, asked: Asked, key: RecordKey) -> Response:
        if asked.entry.atomic and (response := await self._at_once(asked, key)) is not None:
            return response
        hub, patience = self._hub, self._patience(asked)
        until = time.monotonic() + patience
        while True:
            placement, call_id = self._placement(asked), self._fresh_id(asked)
            noted = IN_IDE + call_id if placement == "client" else call_id
            claim = await hub.records.ask(key, asked.digest, trace=asked.trace_id, call_id=noted, now=now_ms())
            if claim.verdict == "run":
                return await self._run(asked, call_id, placement)
            assert claim.first is not None
            if claim.verdict == "replay":
                return _replay(asked, claim.first)
            if claim.verdict == "conflict":
                raise FlashError("CONFLICT", MESSAGES["CONFLICT"], field="idempotency_key")
            if claim.verdict == "undecided":
                try:
                    return await self._left_behind(asked, key, claim.first)
                except StoreError:
                    hub.records.forsake(key)
                    raise
            try:
                await hub.records.ended(key, max(0.0, until - time.monotonic()))
            except TimeoutError:
                raise timed_out(asked.entry, patience) from None

    async def _at_once(self, asked: Asked, key: RecordKey) -> Response | None:
        """A key of an atomic tool that nobody has used here yet: claim and effect are one transaction.

        None if it turns out to be used (before a restart, or through another gateway).
        """
        while (running := self._fresh_keys.get(key)) is not None:
            await running.wait()
        if key in self._used_keys:
            return None
        self._used_keys[key] = None
        if len(self._used_keys) > self._hub.settings.call_keys_remembered:
            del self._used_keys[next(iter(self._used_keys))]
        over = self._fresh_keys[key] = asyncio.Event()
        try:
            response = await self._run(asked, self._fresh_id(asked), "server", claims=True)
        finally:
            del self._fresh_keys[key]
            over.set()
        return response or None

    async def _left_behind(self, asked: Asked, key: RecordKey, first: Kept) -> Response:
        """The process that ran the first call is gone. We own the record now: find out what it did."""
        hub = self._hub
        became = await what_became(hub, asked, Execution(hub, asked, first.call_id, "server").context())
        if became == "not_done":
            # What was meant for an IDE's files waits for that IDE.
            placement: Placement = "client" if first.call_id.startswith(IN_IDE) else self._placement(asked)
            call_id = self._fresh_id(asked)
            noted = IN_IDE + call_id if placement == "client" else call_id
            await hub.store.transact(partial(hub.records.restart, key=key, call_id=noted))
            return await self._run(asked, call_id, placement)
        if became == "undecidable":
            response = responses.failure(responses.indeterminate(), asked.entry.tool_id, first.trace)
        else:
            result = became if isinstance(became, ServiceResult) else ServiceResult({})
            response = responses.served(asked.entry, first.trace, result, 0)
            response["meta"]["recovered"] = True
        text = orjson.dumps(response).decode()
        await hub.store.transact(lambda tables: hub.records.finish(tables, key, text, now_ms()))
        hub.records.tell(key)
        return responses.replayed(response, asked.trace_id, first.trace)

    # Running -----------------------------------------------------------------------------------------------

    async def _run(self, asked: Asked, call_id: str, placement: Placement, *, claims: bool = False) -> Response:
        """Run, and answer when it is done or its time is up; a write goes on beyond that, and its key tells how.

        One that is a single transaction need not: once that is in the store's hands it is made, whoever waits.
        """
        limit = asked.entry.timeout or self._hub.settings.call_timeout
        if asked.entry.atomic:
            atomic = AtomicExecution(self._hub, asked, call_id, claims=claims)
            if claims or asked.key is None:
                return await atomic.run_within(limit)
            execution: Execution = atomic
        else:
            execution = Execution(self._hub, asked, call_id, placement)
        task = asyncio.create_task(execution.run(), name=f"call {call_id}")
        self._hub.keep(task)
        if await _done_within(task, limit):
            return task.result()
        raise timed_out(asked.entry, limit)

    def _patience(self, asked: Asked) -> float:
        """Seconds to wait for somebody else's call: as long as it may take at most."""
        return (asked.entry.timeout or self._hub.settings.call_timeout) * WRITE_PATIENCE

    def _fresh_id(self, asked: Asked) -> str:
        return self._hub.ids.call(asked.entry.tool_id, now_ms())

    def _placement(self, asked: Asked) -> Placement:
        """A workspace tool runs in an IDE that is connected to the session, else in the gateway's own workspace."""
        if asked.entry.placement == "service":
            return "server"
        live = self._hub.sessions.get((asked.caller.tenant, asked.session))
        return "client" if live is not None and live.routing.has_ide else "server"


async def _done_within(task: asyncio.Task[Response], seconds: float) -> bool:
    """Whether a task ends in time. It goes on if not. (`asyncio.wait` does the same at three times the cost.)"""
    if task.done():
        return True
    loop = asyncio.get_running_loop()
    waiter: asyncio.Future[None] = loop.create_future()

    def wake(_: object = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    timer = loop.call_later(seconds, wake)
    task.add_done_callback(wake)
    try:
        await waiter
    finally:
        timer.cancel()
        task.remove_done_callback(wake)
    return task.done()


def _replay(asked: Asked, first: Kept) -> Response:
    assert first.response is not None
    stored: dict[str, Any] = orjson.loads(first.response)
    return responses.replayed(stored, asked.trace_id, first.trace)


def _ours(reason: str) -> FlashError:
    return FlashError("INTERNAL_ERROR", "网关内部错误，详情见网关日志", reason=reason)
