"""What the events of a session amount to: the turn that runs, those that wait, the calls in flight.

Changed by `apply` alone, so that a session read back from its log is the session that wrote it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from toolwire.core.calls import Calls
from toolwire.core.events import (
    AgentChosen,
    AnyEvent,
    CallBound,
    CallRequested,
    CallSettled,
    Event,
    Said,
    Thought,
    TurnAsked,
    TurnEnded,
    TurnStarted,
)
from toolwire.core.states import START
from toolwire.core.turn import Turn


class SessionState:
    """The state of one session. `seq` is the number of its last event."""

    __slots__ = ("_appliers", "calls", "queue", "running", "seq")

    def __init__(self, seq: int = 0) -> None:
        self.seq = seq
        self.running: Turn | None = None
        self.queue: deque[Turn] = deque()
        self.calls = Calls()
        self._appliers: dict[type[Event], Callable[[Any], None]] = {
            TurnAsked: self._on_asked,
            TurnStarted: self._on_started,
            TurnEnded: self._on_ended,
            Said: self._on_said,
            Thought: self._on_thought,
            AgentChosen: self._on_chosen,
            CallRequested: self._on_requested,
            CallBound: self.calls.bind,
            CallSettled: self._on_settled,
        }

    @property
    def at_rest(self) -> bool:
        """Nothing runs, waits or is in flight."""
        return self.running is None and not self.queue and not len(self.calls)

    def has(self, request: str) -> bool:
        """Whether a turn of that request runs or waits."""
        return any(turn.asked.request == request for turn in (self.running, *self.queue) if turn is not None)

    def apply(self, event: AnyEvent) -> None:
        """Change the state by an event just emitted, or read back from the log."""
        if event.seq != self.seq + 1:
            raise ValueError(f"event {event.seq} does not follow {self.seq}")
        self.seq = event.seq
        applier = self._appliers.get(type(event))
        if applier is not None:
            applier(event)

    def _on_asked(self, event: TurnAsked) -> None:
        self.queue.append(Turn(event))

    def _on_started(self, event: TurnStarted) -> None:
        turn = self.queue.popleft()
        turn.state = START[turn.state]
        turn.started_at = event.at
        self.running = turn

    def _on_ended(self, event: TurnEnded) -> None:
        if self.running is not None and self.running.id == event.turn:
            self.running = None
        else:
            self.queue = deque(turn for turn in self.queue if turn.id != event.turn)

    def _on_said(self, event: Said) -> None:
        if self.running is not None:
            self.running.said(event)

    def _on_thought(self, event: Thought) -> None:
        if self.running is not None:
            self.running.thought(event)

    def _on_chosen(self, event: AgentChosen) -> None:
        if self.running is not None:
            self.running.chosen(event)

    def _on_requested(self, event: CallRequested) -> None:
        self.calls.add(event)
        if event.turn and self.running is not None:
            self.running.requested(event)

    def _on_settled(self, event: CallSettled) -> None:
        self.calls.remove(event.call_id)
        running = self.running
        if running is not None and event.turn:
            running.settled(event)
