"""A session while somebody uses it: the core's state, the connections that take part, and the agent that answers.

Everything here happens on the event loop. What the core emits goes to the store first; `_publish` runs when it is
committed, and only then do connections, tools and followers see it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

import msgspec

from toolwire.core import commands
from toolwire.core.events import AnyEvent, CallBound, CallRequested, CallSettled, TurnEnded, TurnStarted
from toolwire.core.lasting import LastingSession
from toolwire.core.session import READ_ONLY_REFUSAL
from toolwire.errors import StoreError, TurnOver
from toolwire.server.clock import now_ms
from toolwire.server.logs import log
from toolwire.server.participant import Participant
from toolwire.server.programs import PROGRAM
from toolwire.server.roles import WRITER, at_least
from toolwire.server.routing import Routing
from toolwire.server.turn import Batch, LiveTurn
from toolwire.store.base import SessionRecord
from toolwire.store.refusals import CONFLICT

if TYPE_CHECKING:
    from toolwire.server.hub import Hub
    from toolwire.server.toolroom import Done


class Follower(Protocol):
    """Anything that wants every committed event."""

    def deliver(self, event: AnyEvent) -> None: ...


class LiveSession:
    """One live session. Made by the hub, which forgets it when nobody needs it any more."""

    def __init__(self, hub: Hub, record: SessionRecord, core: LastingSession) -> None:
        self.hub = hub
        self.record = record
        self.core = core
        self.published = core.seq
        """Number of the last event that is committed and was shown."""
        self.routing = Routing()
        self.followers: list[Follower] = []
        self.visitors = 0
        """HTTP readers that keep this session live beside its connections."""
        self.broken = False
        """The store lost events of this session: it must be opened again."""
        self._waiting: dict[str, Batch] = {}
        self._agent: asyncio.Task[None] | None = None
        self._relief: asyncio.Future[None] | None = None
        self._lead = hub.settings.agent_lead
        self._on_committed = self.committed
        """One and the same object each time, so that the store can tell appends of this session belong together."""

    @property
    def cursor(self) -> str:
        return f"{self.record.epoch}.{self.published}"

    @property
    def needed(self) -> bool:
        return bool(self.routing.connections) or self.visitors > 0 or not self._at_rest()

    # Commands of peers -------------------------------------------------------------------------------------

    def prompt(self, command: commands.Prompt, connection: Participant) -> None:
        dialect = connection.dialect
        if command.mode == "agent" and not at_least(connection.role, WRITER):
            command = msgspec.structs.replace(command, mode="ask")
        limit_ms = int(self.hub.settings.turn_timeout * 1000) if dialect.limited_turns else 0
        events = self.core.prompt(
            command,
            now_ms(),
            placement=dialect.placement,
            caller=connection.caller_name,
            limit_ms=limit_ms,
            role=connection.role,
        )
        self.submit_turns(events)

    def handle_tool_result(self, command: commands.Answer) -> bool:
        """False if nobody waits for that id (document 1, "toolCallId Mismatch")."""
        settled = self.core.answer(command, now_ms())
        if settled is None:
            self.hub.metrics.stray_results += 1
            log.warning(f"⚠️ 未找到对应的工具调用: toolCallId={command.call_id}", session=self.record.name)
            return False
        self.routing.settled(settled.call_id)
        self.submit([settled])
        self._tell_agent(settled)
        if self.core.cut:
            self.submit_turns(self.core.end_cut(now_ms()))
        return True

    def run_tool(self, command: commands.RunTool, connection: Participant) -> None:
        call = self.core.run_tool(
            command,
            now_ms(),
            project=connection.dialect.project,
            reads=self.reads(command.tool),
            asked_by=connection.id,
        )
        events: list[AnyEvent] = [call]
        mode = connection.dialect.mode if at_least(connection.role, WRITER) else "ask"
        if mode != "agent" and not call.reads:
            refusal = READ_ONLY_REFUSAL.format(mode=mode, tool=call.tool)
            settled = self.core.settle(call.call_id, False, None, refusal, now_ms())
            events += [settled] if settled else []
        self.submit(events)

    def stop(self) -> None:
        self.submit_turns(self.core.stop(now_ms()))

    def reset(self) -> None:
        self.submit_turns(self.core.reset(now_ms()))

    def add_message(self, command: commands.AddMessage) -> None:
        self.submit(self.core.add_message(command, now_ms()))

    def report(self, command: commands.Report) -> None:
        self.submit(self.core.report(command, now_ms()))

    # Connections come and go -------------------------------------------------------------------------------

    def attach(self, connection: Participant) -> None:
        """A connection takes part from here on; calls that wait for a client may be waiting for this one."""
        self.routing.attach(connection)
        self.core.ledger = self.routing.ledger
        self._hand_out()
        if self.core.held:
            self.submit_turns(self.core.release(now_ms()))

    def detach(self, connection: Participant) -> None:
        """A connection is gone: what it was running is sent again if that is safe, and lost if not."""
        self._lose(self.routing.detach(connection))
        self.core.ledger = self.routing.ledger
        self._hand_out()
        self.let_go()
        self.hub.consider(self)

    def follow(self, follower: Follower) -> None:
        self.followers.append(follower)

    def unfollow(self, follower: Follower) -> None:
        self.followers.remove(follower)

    # The agent's side --------------------------------------------------------------------------------------

    def reads(self, tool: str) -> bool:
        return self.hub.tools.reads(tool)

    def send_calls(self, batch: Batch, ids: list[str], events: list[AnyEvent]) -> None:
        """Send calls out; the batch is told the outcome of each."""
        for call_id in ids:
            self._waiting[call_id] = batch
        self.submit(events)
        if len(events) > len(ids):  # more than the calls themselves: some may have been refused at once
            for event in events:
                if isinstance(event, CallSettled):
                    self._tell_agent(event)

    @property
    def congested(self) -> bool:
        return self.core.seq - self.published > self._lead or self.routing.congested

    async def relieved(self) -> None:
        """Wait until the store and every reader have caught up. A reader that never does is cut by the hub."""
        while self.congested and not self.broken:
            if self._relief is None or self._relief.done():
                self._relief = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._relief)

    # Time --------------------------------------------------------------------------------------------------

    def tick(self, now: int) -> None:
        self.submit_turns(self.core.expire(now))
        self.let_go()

    def interrupt(self, message: str) -> None:
        """The gateway is going down, or was down: end what runs, and say so; what a ledger knows about is asked for
        when its client is (back) there."""
        self.submit_turns(self.core.interrupt(now_ms(), message))
        if self.core.cut and self._agent is not None:
            self._agent.cancel()
        for call in self.core.calls.of_client():
            self.routing.owe(call)

    def tool_done(self, call_id: str, done: Done) -> None:
        """A tool the gateway ran has its outcome."""
        settled = self.core.settle(call_id, done.ok, done.result, done.error, now_ms(), details=done.details)
        if settled is not None:
            self._settled(settled)
            self.hub.consider(self)

    def settle(self, call_id: str, done: Done) -> bool:
        """The outcome of a call, wherever it ran. False if nobody waits for it (any more)."""
        if self.core.calls.get(call_id, "client") is not None:
            if done.lost:
                self._lose([call_id])
                return True
            return self.handle_tool_result(commands.Answer(call_id, done.ok, done.result, done.error, done.details))
        if self.core.calls.get(call_id, "server") is None:
            return False
        if done.lost:
            self.tool_lost(call_id)
        else:
            self.tool_done(call_id, done)
        return True

    def tool_lost(self, call_id: str) -> None:
        """Nobody can say whether a tool the gateway ran took effect."""
        self._lose([call_id])

    # Events ------------------------------------------------------------------------------------------------

    def submit(self, events: list[AnyEvent]) -> None:
        """Store events; they are published when committed."""
        if events and not (self.hub.programs and self.hub.programs.submit(self, events)):
            self.hub.store.append(self.record.number, events, self._on_committed, self.lost)

    def submit_turns(self, events: list[AnyEvent]) -> None:
        """Store events among which turns may start or end, and see to their agents."""
        self.submit(events)
        for event in events:
            if isinstance(event, TurnStarted):
                self._start_agent(event)
            elif isinstance(event, TurnEnded):
                self._end_agent(event)
            elif isinstance(event, CallSettled):
                self.routing.settled(event.call_id)
                self._tell_agent(event)

    def _settled(self, event: CallSettled) -> None:
        self.submit([event])
        self._tell_agent(event)

    def _tell_agent(self, event: CallSettled) -> None:
        batch = self._waiting.pop(event.call_id, None)
        if batch is not None:
            batch.settle(event)

    def committed(self, events: list[AnyEvent]) -> None:
        publish = self._publish
        for event in events:
            self.published = event.seq
            publish(event)
        if self._relief is not None:
            self.let_go()
        if not self.routing.connections:
            self.hub.consider(self)

    def lost(self, events: list[AnyEvent], error: StoreError) -> None:
        """Events could not be stored: nobody has seen them, and nobody will. Close, so that peers start afresh."""
        if self.broken:
            return
        self.broken = True
        if error.code == CONFLICT:
            log.warning("another gateway writes to this session; it is opened again", session=self.record.name)
        else:
            log.error("the store lost events; the session is closed", session=self.record.name, error=error.message)
        self.hub.forget(self)
        if self._agent is not None:
            self._agent.cancel()
            self.hub.orphan(self, self._agent.get_name().removeprefix("turn "))
        for connection in list(self.routing.connections):
            connection.fail(error)

    def _publish(self, event: AnyEvent) -> None:
        kind = type(event)
        if kind is CallRequested:
            self._run(event)  # type: ignore[arg-type]
        elif kind is CallBound:
            self._hand_out()
        for connection in self.routing.connections:
            if kind in connection.shows:
                connection.deliver(event)
        if self.followers:
            for follower in self.followers:
                follower.deliver(event)

    def _run(self, call: CallRequested) -> None:
        """Hand a call to whoever runs it, unless it has been settled meanwhile."""
        if self.core.calls.get(call.call_id, call.placement) is None:
            return
        if call.asked_by and call.asked_by.startswith(PROGRAM):
            self.hub.programs.begin(call)
        elif call.placement == "server":
            self.hub.toolroom.run(self, call)
            return
        if call.placement == "client":
            self._offer(call.call_id)

    def _hand_out(self) -> None:
        """Send waiting calls nobody runs to whoever may run them now."""
        for call in self.core.calls.of_client():
            self._offer(call.call_id)

    def _offer(self, call_id: str) -> None:
        """Have a waiting call run, once it is on record whose ledger will know about it."""
        call = self.core.calls.get(call_id, "client")
        if call is not None and call.seq <= self.published:
            ledger = self.routing.offer(call)
            if ledger is not None:
                self.submit([self.core.bind(call_id, ledger, now_ms())])

    def _lose(self, call_ids: list[str]) -> None:
        if call_ids:
            events = self.core.lose(call_ids, now_ms())
            self.submit(events)
            for event in events:
                if isinstance(event, CallSettled):
                    self._tell_agent(event)
            self.submit_turns(self.core.end_cut(now_ms()))

    def let_go(self) -> None:
        """Wake the agent if it waits for relief and there is some."""
        if self._relief is not None and not self._relief.done() and not self.congested:
            self._relief.set_result(None)

    def _at_rest(self) -> bool:
        return self.core.at_rest and self.published >= self.core.seq

    # Agents ------------------------------------------------------------------------------------------------

    def _start_agent(self, started: TurnStarted) -> None:
        self._agent = asyncio.create_task(self._answer(started), name=f"turn {started.turn}")
        self.hub.keep(self._agent)

    def _end_agent(self, ended: TurnEnded) -> None:
        """Cancel the agent of a turn that was ended from outside (never the one that ended it itself)."""
        agent = self._agent
        if agent is not None and agent.get_name() == f"turn {ended.turn}" and agent is not _current_task():
            agent.cancel()

    async def _answer(self, started: TurnStarted) -> None:
        running = self.core.running
        if running is None or running.id != started.turn:
            return
        asked = running.asked
        try:
            history = asked.history or await self.hub.history(self.record.tenant, asked.conversation)
            turn = LiveTurn(self, asked, history)
            await self.hub.agents.pick(asked.agent).answer(turn)
            events = self.core.finish(started.turn, now_ms())
        except TurnOver:
            return
        except Exception as error:  # an agent is somebody else's code: whatever it raises ends its turn alone
            events = self._failed(started.turn, error)
        self.submit_turns(events)
        self.hub.consider(self)

    def _failed(self, turn: str, error: Exception) -> list[AnyEvent]:
        code, message = self.hub.describe(error)
        try:
            return self.core.fail(turn, message, now_ms(), code=code)
        except TurnOver:
            return []


def _current_task() -> asyncio.Task[None] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
