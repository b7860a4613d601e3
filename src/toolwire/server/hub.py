"""The hub: every live session and connection of a gateway, and the parts they share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from toolwire.agents.chain import Chain
from toolwire.core.events import Message
from toolwire.core.lasting import LastingSession
from toolwire.core.session import Limits
from toolwire.errors import AgentError, StoreError, ToolwireError
from toolwire.server.approvals import Approvals
from toolwire.server.calls import CallService
from toolwire.server.catalogue import Catalogue
from toolwire.server.clock import fresh_epoch, fresh_ids, now_ms
from toolwire.server.confirming import Policy, Words
from toolwire.server.connection import REFUSED, RESTARTING, Connection
from toolwire.server.deadlines import Deadlines
from toolwire.server.flash.bookmarks import Bookmark, Bookmarks
from toolwire.server.flash.controlled import ControlledFolder
from toolwire.server.lingering import Lingering
from toolwire.server.live import LiveSession
from toolwire.server.logs import log
from toolwire.server.metrics import Metrics
from toolwire.server.outbox import Flusher
from toolwire.server.programs import Programs
from toolwire.server.projects import Projects
from toolwire.server.security import Guard
from toolwire.server.toolroom import Toolroom
from toolwire.settings import Settings
from toolwire.store.base import SessionRecord, Store
from toolwire.store.call_records import CallRecords
from toolwire.tools.registry import Registry

TICK = 0.25
TOKENS_LOOK = 5.0
"""Seconds between looks at whether the tokens of open connections have expired."""
RESTORE_PAGE = 2000


class Tools:
    """The registry as sessions need it on their hot path."""

    def __init__(self, registry: Registry, catalogue: Catalogue) -> None:
        self.registry = registry
        self._catalogue = catalogue
        self._reads: dict[str, bool] = {}

    def reads(self, name: str) -> bool:
        """Whether a tool only reads. A tool we don't know may do anything."""
        known = self._reads.get(name)
        if known is None:
            entry = self._catalogue.find(name)
            known = entry is not None and entry.reads
            if len(self._reads) < 10_000:  # names come from agents: the memory of them is bounded
                self._reads[name] = known
        return known


class Hub:
    """Made on the event loop that it lives on."""

    def __init__(
        self,
        *,
        store: Store,
        agents: Chain,
        registry: Registry,
        projects: Projects,
        guard: Guard,
        settings: Settings,
        catalogue: Catalogue,
        controlled: Path | None = None,
        approve: Policy = "high",
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.store = store
        self.agents = agents
        self.tools = Tools(registry, catalogue)
        self.projects = projects
        self.guard = guard
        self.settings = settings
        self.metrics = Metrics()
        self.flusher = Flusher(self.loop)
        self.ids = fresh_ids()
        self.toolroom = Toolroom(self)
        self.controlled = ControlledFolder(controlled, settings)
        self.bookmarks = Bookmarks(settings.flash_bookmarks)
        self.deadlines = Deadlines(self.loop)
        self.programs = Programs()
        self.lingering = Lingering(self)
        self.records = CallRecords(store, settings)
        self.calls = CallService(self, catalogue)
        self.approvals = Approvals(self)
        self.words = Words(approve, catalogue, self.tools.reads)
        self.decoders = ThreadPoolExecutor(2, thread_name_prefix="decode")
        self.connections: set[Connection] = set()
        self.sessions: dict[tuple[str, str], LiveSession] = {}
        self.stopping = False
        self.stop_bells: set[Callable[[], None]] = set()
        """Rung when stopping begins, by whoever would otherwise sleep through it."""
        self._opening: dict[tuple[str, str], asyncio.Task[LiveSession]] = {}
        self._orphans: dict[tuple[str, str], str] = {}
        """Sessions the store has failed → the last turn they had an agent for."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._limits = Limits(
            settings.queue_limit,
            settings.calls_limit,
            int(settings.tool_timeout * 1000),
            int(settings.ledger_patience * 1000),
        )
        self._ticker: asyncio.TimerHandle | None = None
        self._tokens_due = 0.0

    # Life --------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin, after looking after what a crash has left."""
        await self.store.start()
        await self.records.start()
        for record in await self.store.unfinished():
            live = await self._restore(record)
            if await self.calls.look_after(live):
                # Whoever comes back without a cursor has not seen how it ended.
                self.bookmarks.leave(record.tenant, record.name, Bookmark(record.epoch, record.last))
                live.interrupt("the gateway was restarted")
                self.sessions[record.tenant, record.name] = live
        await self.approvals.start()
        await self.store.drained()
        self._ticker = self.loop.call_later(TICK, self._tick)

    async def stop(self) -> None:
        """End turns and say so, close sockets with 1012, write what is left. Bounded by `shutdown_grace`."""
        if not self.stopping:
            await self.announce_stop()
        if self._ticker is not None:
            self._ticker.cancel()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self.settings.shutdown_grace)
        self.lingering.close()
        self.toolroom.close()
        self.decoders.shutdown(wait=False, cancel_futures=True)
        await self.agents.close()
        await self.records.close()
        await self.store.close()
        self.projects.close()
        self.controlled.close()

    def begin_stop(self) -> None:
        """Start stopping, once; called by a server that goes down, and for every connection."""
        if not self.stopping:
            self.stopping = True
            self.keep(asyncio.create_task(self.announce_stop(), name="shutdown"))

    async def announce_stop(self) -> None:
        """The first half of stopping: nothing new, running turns end, every socket hears why."""
        self.stopping = True
        for ring in list(self.stop_bells):
            ring()
        for live in list(self.sessions.values()):
            live.interrupt("the gateway is shutting down")
        try:
            async with asyncio.timeout(self.settings.shutdown_grace):
                await self.store.drained()
        except (TimeoutError, StoreError) as error:
            log.error("could not store everything before shutting down", error=str(error))
        for connection in list(self.connections):
            connection.close(RESTARTING, "the gateway is restarting")

    def keep(self, task: asyncio.Task[Any]) -> None:
        """Hold on to a task until it is done, and look at how it ended."""
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a task failed", task=task.get_name(), exc_info=error)

    def _tick(self) -> None:
        self._ticker = self.loop.call_later(TICK, self._tick)
        now, clock = now_ms(), self.loop.time()
        self._look_at_tokens(clock)
        self.deadlines.look(clock)
        for live in list(self.sessions.values()):
            live.tick(now)
        for connection in list(self.connections):
            connection.tick(clock)

    def _look_at_tokens(self, clock: float) -> None:
        """A token that was revoked, or whose time is up, closes the connections it has opened."""
        if self.guard.callers.refresh() or clock >= self._tokens_due:
            self._tokens_due = clock + TOKENS_LOOK
            for connection in list(self.connections):
                if connection.caller is not None and not self.guard.still_knows(connection.caller):
                    connection.close(REFUSED, "the token is not valid any more")
            for ring in list(self.stop_bells):
                ring()

    # Sessions ----------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def visit(self, tenant: str, name: str) -> AsyncIterator[LiveSession]:
        """The live session of that name, opened if need be, and kept live meanwhile."""
        live = await self._open(tenant, name)
        live.visitors += 1
        try:
            yield live
        finally:
            live.visitors -= 1
            self.consider(live)

    async def _open(self, tenant: str, name: str) -> LiveSession:
        key = (tenant, name)
        live = self.sessions.get(key)
        if live is not None:
            return live
        task = self._opening.get(key)
        if task is None:
            task = self._opening[key] = asyncio.create_task(self._load(tenant, name))
            task.add_done_callback(lambda _: self._opening.pop(key, None))
        return await asyncio.shield(task)

    async def _load(self, tenant: str, name: str) -> LiveSession:
        record = await self.store.open_session(tenant, name, epoch=fresh_epoch(), now=now_ms())
        live = await self._restore(record)
        self.sessions[tenant, name] = live
        orphan = self._orphans.pop((tenant, name), None)
        running = live.core.running
        if orphan is not None and (running is None or running.id == orphan):
            live.interrupt("what happened could not be stored")
        return live

    async def _restore(self, record: SessionRecord) -> LiveSession:
        """The session as its log left it: only what follows its last point of rest needs to be read."""
        core = LastingSession(f"session:{record.name}", limits=self._limits, ids=self.ids, seq=record.rest)
        while core.seq < record.last:
            events = await self.store.read(record.number, after=core.seq, limit=RESTORE_PAGE)
            if not events:
                raise StoreError(f"the log of {record.name} ends at {core.seq}, not at {record.last}")
            for event in events:
                core.apply(event)
        return LiveSession(self, record, core)

    def consider(self, live: LiveSession) -> None:
        """Let a session go if nobody needs it any more; it can be opened again from the store."""
        if not live.needed:
            self.forget(live)

    def forget(self, live: LiveSession) -> None:
        key = (live.record.tenant, live.record.name)
        if self.sessions.get(key) is live:
            del self.sessions[key]
            self.toolroom.forget(live.record.number)

    def orphan(self, live: LiveSession, turn: str) -> None:
        """The store has failed a session: if its log says that this turn runs, it does so no longer."""
        self._orphans[live.record.tenant, live.record.name] = turn
        self.keep(self.loop.create_task(self._reopen(live.record)))

    async def _reopen(self, record: SessionRecord) -> None:
        try:
            async with self.visit(record.tenant, record.name):
                log.debug("opened again", session=record.name)
        except StoreError as error:  # then whoever opens it next ends the turn, or the next start
            log.warning("the session can't be opened yet", session=record.name, error=error.message)

    async def history(self, tenant: str, conversation: str) -> Sequence[Message]:
        return await self.store.history(tenant, conversation, self.settings.history_limit)

    # Connections -------------------------------------------------------------------------------------------

    def connected(self, connection: Connection) -> None:
        self.connections.add(connection)
        self.metrics.connections_opened += 1

    def disconnected(self, connection: Connection) -> None:
        self.connections.discard(connection)

    def describe(self, error: Exception) -> tuple[str, str]:
        """(code, message) of an agent's failure, fit for a peer's eyes."""
        if isinstance(error, ToolwireError):
            return (error.code if isinstance(error, AgentError) else AgentError.code), error.message
        log.error("an agent failed unexpectedly", exc_info=error)
        return AgentError.code, "the agent failed unexpectedly; the gateway's log has the details"
