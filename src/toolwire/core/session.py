"""A session: turns one after another, calls in flight, and the events all of it has left in the log.

The rules of this file:

1. State changes only in `SessionState.apply`, by an event.
2. A method decides, applies and returns events; the caller stores them before anybody sees them.
3. At most one turn runs. What else is asked waits in order, or overrides, as the asking dialect says.
4. A turn has one end and a call one outcome (tables in `states.py`). A turn's calls are settled before it ends.
5. No clock, no randomness: `now` is milliseconds since the epoch, ids come from `Ids`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from toolwire.core.commands import AddMessage, Answer, Prompt, Report, RunTool
from toolwire.core.events import (
    AgentChosen,
    AnyEvent,
    ApprovalAnswered,
    ApprovalRequested,
    CallOutput,
    CallRequested,
    CallSettled,
    MessageAdded,
    PeerReported,
    Placement,
    Said,
    SessionReset,
    Stage,
    Stopped,
    Thought,
    TurnAsked,
    TurnEnded,
    TurnStarted,
)
from toolwire.core.ids import Ids
from toolwire.core.limits import Limits as Limits
from toolwire.core.state import SessionState
from toolwire.core.states import CALL, END, CallSignal, TurnSignal
from toolwire.core.turn import CallSpec, Turn
from toolwire.errors import PeerError, QueueFull, TurnOver

READ_ONLY_REFUSAL = "{mode} mode may only read: {tool} was not run"


class Session(SessionState):
    """A session that decides. `seq` is the number of its last event."""

    __slots__ = ("_ids", "_limits", "conversation", "held", "ledger")

    def __init__(self, conversation: str, *, limits: Limits, ids: Ids, seq: int = 0) -> None:
        super().__init__(seq)
        self.conversation = conversation
        """The history that prompts without one of their own continue."""
        self.held = False
        """After a restart: waiting turns start only when a peer is there again."""
        self.ledger: str | None = None
        """Of the client that runs the tools; None: there is no client."""
        self._limits = limits
        self._ids = ids

    # What peers ask for ------------------------------------------------------------------------------------

    def prompt(
        self, command: Prompt, now: int, *, placement: Placement, caller: str = "", limit_ms: int = 0, role: str = ""
    ) -> list[AnyEvent]:
        """Ask for a turn: it starts, waits, overrides what runs, or is refused because of it."""
        events: list[AnyEvent] = []
        if command.busy == "refuse" and (self.running is not None or self.queue):
            raise PeerError("a task is running already", code="CONFLICT", hint="wait for it to end, or stop it")
        if command.busy == "override":
            events += self._end_all("override", now, "REQUEST_OVERRIDDEN", "a newer request took its place")
        elif len(self.queue) >= self._limits.queue:
            raise QueueFull(
                f"{len(self.queue)} prompts are waiting already", hint="wait for a turn to end, or stop it"
            )
        turn = self._ids.next(now)
        asked = TurnAsked(
            self.seq + 1,
            now,
            turn,
            command.request or turn,
            command.text,
            command.conversation or self.conversation,
            command.project,
            command.mode,
            placement,
            command.agent,
            caller,
            limit_ms,
            history=command.history,
            attachments=command.attachments,
            trace=command.trace,
            role=role,
        )
        events.append(self._emit(asked))
        return events + self._start_next(now)

    def answer(self, command: Answer, now: int) -> CallSettled | None:
        """A client's result. None if nobody waits for that id: the first result stands."""
        call = self.calls.get(command.call_id, "client")
        if call is None:
            return None
        signal: CallSignal = "answer" if command.ok else "lose" if command.indeterminate else "error"
        return self._settle(call, signal, now, command.result, command.error, command.details)

    def run_tool(
        self,
        command: RunTool,
        now: int,
        *,
        project: str,
        reads: bool,
        asked_by: str,
        placement: Placement = "server",
        trace: str = "",
        call_id: str = "",
    ) -> CallRequested:
        """A call by a client or a program; it belongs to no turn."""
        if len(self.calls) >= self._limits.calls:
            raise QueueFull(f"{len(self.calls)} tool calls are in flight already", field="toolCallId")
        call = CallRequested(
            self.seq + 1,
            now,
            "",
            "",
            call_id or self._ids.call(command.tool, now),
            command.tool,
            command.arguments,
            placement,
            reads,
            project,
            command.asked_as,
            asked_by,
            trace,
            self.ledger if placement == "client" and not reads else "",
        )
        self._emit(call)
        return call

    def stop(self, now: int) -> list[AnyEvent]:
        """End what runs and what waits. With nothing to end there is only the word that it has stopped."""
        events = self._end_all("cancel", now, "STOPPED", "stopped by the user")
        events.append(self._emit(Stopped(self.seq + 1, now)))
        return events

    def reset(self, now: int, conversation: str = "") -> list[AnyEvent]:
        """Stop, and forget the conversation."""
        events = self._end_all("cancel", now, "RESET", "the session was reset")
        events.append(self._emit(SessionReset(self.seq + 1, now, conversation or self.conversation)))
        return events

    def add_message(self, command: AddMessage, now: int) -> list[AnyEvent]:
        return [self._emit(MessageAdded(self.seq + 1, now, self.conversation, command.role, command.text))]

    def report(self, command: Report, now: int) -> list[AnyEvent]:
        return [self._emit(PeerReported(self.seq + 1, now, command.text))]

    # What the agent does -----------------------------------------------------------------------------------

    def choose(self, turn: str, agent: str, now: int, *, degraded: bool = False, reason: str = "") -> list[AnyEvent]:
        """An agent takes the turn on."""
        current = self._current(turn)
        chosen = AgentChosen(self.seq + 1, now, turn, current.request, agent, degraded, reason)
        return [self._emit(chosen)]

    def say(self, turn: str, text: str, now: int, *, final: bool = False) -> Said:
        """A piece of text, passed on as it is."""
        current = self._current(turn)
        said = Said(self.seq + 1, now, turn, current.asked.request, text, current.piece_count, final)
        self.seq += 1
        current.said(said)
        return said

    def think(
        self, turn: str, text: str, now: int, *, stage: Stage | None = None, percent: int | None = None
    ) -> list[AnyEvent]:
        """Progress. The percentage never falls."""
        current = self._current(turn)
        if percent is not None:
            percent = max(min(percent, 100), current.percent or 0)
        thought = Thought(
            self.seq + 1,
            now,
            turn,
            current.request,
            text,
            stage or current.stage,
            current.round,
            percent,
            current.degraded,
        )
        return [self._emit(thought)]

    def call(self, turn: str, specs: Iterable[CallSpec], now: int) -> tuple[list[str], list[AnyEvent]]:
        """Ask for tools, all at once. Gives the call ids in order, and the events."""
        current = self._current(turn)
        asked = current.asked
        specs = list(specs)
        if len(self.calls) + len(specs) > self._limits.calls:
            raise PeerError(f"more than {self._limits.calls} tool calls in flight", code="TOO_MANY_CALLS")
        events: list[AnyEvent] = self._close_run(current, now)
        ids = []
        refused = False
        for spec in specs:
            placement = spec.placement or asked.placement
            call = CallRequested(
                self.seq + 1,
                now,
                turn,
                asked.request,
                self._ids.call(spec.tool, now),
                spec.tool,
                spec.arguments,
                placement,
                spec.reads,
                asked.project,
                trace=asked.trace,
                ledger=self.ledger if placement == "client" and not spec.reads else "",
            )
            ids.append(call.call_id)
            events.append(call)
            self.seq += 1
            self._on_requested(call)
            refused = refused or bool(spec.refusal)
        if refused:
            for spec, call_id in zip(specs, ids, strict=True):
                settled = self.refuse(call_id, spec.refusal, now) if spec.refusal else None
                events += [settled] if settled is not None else []
        if asked.mode != "agent":
            for waiting in [self.calls.get(i, "client") or self.calls.get(i, "server") for i in ids]:
                if waiting is not None and not waiting.reads:
                    error = READ_ONLY_REFUSAL.format(mode=asked.mode, tool=waiting.tool)
                    events.append(self._settle(waiting, "error", now, None, error))
        return ids, events

    def output(self, call_id: str, tool: str, text: str, now: int) -> list[AnyEvent]:
        """A tool that takes long shows what it does."""
        return [self._emit(CallOutput(self.seq + 1, now, call_id, tool, text))]

    def refuse(self, call_id: str, error: str, now: int) -> CallSettled | None:
        """A call that is not made after all."""
        waiting = self.calls.get(call_id, "client") or self.calls.get(call_id, "server")
        return None if waiting is None else self._settle(waiting, "error", now, None, error)

    def note(self, event: ApprovalRequested | ApprovalAnswered) -> AnyEvent:
        """Something that is on record and changes nothing else. Its number is given here."""
        return self._emit(msgspec.structs.replace(event, seq=self.seq + 1))

    def finish(self, turn: str, now: int) -> list[AnyEvent]:
        """The agent is done."""
        return self._end(self._current(turn), "complete", now) + self._start_next(now)

    def fail(self, turn: str, message: str, now: int, *, code: str = "ANALYSIS_FAILED") -> list[AnyEvent]:
        """The agent can't go on."""
        return self._end(self._current(turn), "fail", now, code, message) + self._start_next(now)

    # What time and the network do --------------------------------------------------------------------------

    def settle(
        self, call_id: str, ok: bool, result: Any, error: str, now: int, *, details: dict[str, Any] | None = None
    ) -> CallSettled | None:
        """The outcome of a tool the gateway ran. None if nobody waits any more."""
        call = self.calls.get(call_id, "server")
        if call is None:
            return None
        return self._settle(call, "answer" if ok else "error", now, result, error, details)

    def lose(self, call_ids: Iterable[str], now: int) -> list[AnyEvent]:
        """Whoever was running these is gone, and nobody can say whether they happened."""
        events: list[AnyEvent] = []
        for call_id in call_ids:
            call = self.calls.get(call_id, "client") or self.calls.get(call_id, "server")
            if call is not None:
                error = f"contact was lost while {call.tool} ran: it may or may not have taken effect"
                events.append(self._settle(call, "lose", now, None, error))
        return events

    # Steps shared by the above -----------------------------------------------------------------------------

    def _emit(self, event: AnyEvent) -> AnyEvent:
        self.apply(event)
        return event

    def _current(self, turn: str) -> Turn:
        if self.running is None or self.running.id != turn:
            raise TurnOver(f"turn {turn} has ended")
        return self.running

    def _start_next(self, now: int) -> list[AnyEvent]:
        if self.running is not None or not self.queue or self.held:
            return []
        turn = self.queue[0]
        return [self._emit(TurnStarted(self.seq + 1, now, turn.id, turn.request))]

    def _close_run(self, turn: Turn, now: int) -> list[AnyEvent]:
        """End an open run of text with an empty final piece (document 5: `is_final` ends a run)."""
        return [self.say(turn.id, "", now, final=True)] if turn.open_run else []

    def _settle(
        self,
        call: CallRequested,
        signal: CallSignal,
        now: int,
        result: Any,
        error: str,
        details: dict[str, Any] | None = None,
    ) -> CallSettled:
        settled = CallSettled(
            self.seq + 1,
            now,
            call.turn,
            call.request,
            call.call_id,
            call.tool,
            CALL["waiting", signal],
            result,
            error,
            max(0, now - call.at),
            call.asked_as,
            call.asked_by,
            details,
            call.trace,
        )
        self.seq += 1
        self._on_settled(settled)
        return settled

    def _end(self, turn: Turn, signal: TurnSignal, now: int, code: str = "", message: str = "") -> list[AnyEvent]:
        events: list[AnyEvent] = []
        if turn.state == "running":
            for call in self.calls.of_turn(turn.id):
                signal_of_call: CallSignal = "cancel" if call.reads else "lose"
                why = f"the turn ended while {call.tool} ran"
                if not call.reads:
                    why += ": it may or may not have taken effect"
                events.append(self._settle(call, signal_of_call, now, None, why))
            events += self._close_run(turn, now)
        ran = turn.state == "running"
        outcome = END[turn.state, signal]
        ended = TurnEnded(
            self.seq + 1,
            now,
            turn.id,
            turn.request,
            turn.asked.conversation,
            outcome,
            turn.asked.prompt,
            turn.text(),
            code,
            message,
            turn.degraded,
            turn.piece_count,
            turn.call_count,
            turn.failed_calls,
            turn.round if ran else 0,
            tuple(turn.stages) if ran else (),
            max(0, now - turn.started_at),
        )
        turn.state = outcome
        events.append(self._emit(ended))
        return events

    def _end_all(self, signal: TurnSignal, now: int, code: str, message: str) -> list[AnyEvent]:
        """End the running turn, then the waiting ones, in order."""
        events: list[AnyEvent] = []
        if self.running is not None:
            events += self._end(self.running, signal, now, code, message)
        for turn in list(self.queue):
            events += self._end(turn, signal, now, code, message)
        return events
