"""A session over time and restarts: what runs too long is given up, what a crash has cut is ended or asked again.

A write that was sent to a client with a ledger (design, "A call is sent again") stays open over a restart of the
gateway: that client knows what became of it, and is asked under the same call id when it is back. So does a write
that no client has been asked for yet. The turn of such a call has lost its agent; it ends when the last of them has
its outcome. Any other write ends as indeterminate at once.
"""

from __future__ import annotations

from toolwire.core.events import AnyEvent, CallBound, CallRequested
from toolwire.core.ids import Ids
from toolwire.core.session import Limits, Session


class LastingSession(Session):
    """A session that time passes for."""

    __slots__ = ("_kept", "_kept_until", "_why", "cut")

    def __init__(self, conversation: str, *, limits: Limits, ids: Ids, seq: int = 0) -> None:
        super().__init__(conversation, limits=limits, ids=ids, seq=seq)
        self.cut = ""
        """The turn that has lost its agent and waits for the outcome of its calls."""
        self._why = ""
        self._kept: frozenset[str] = frozenset()
        """Calls that wait for the client that knows about them."""
        self._kept_until = 0

    def expire(self, now: int) -> list[AnyEvent]:
        """Give up on calls and turns whose time has passed."""
        events: list[AnyEvent] = []
        for call in self.calls.expired(now, self._limits.tool_timeout_ms):
            if call.call_id in self._kept:
                if now >= self._kept_until:
                    error = f"the client that {call.tool} was sent to has not come back to tell what became of it"
                    events.append(self._settle(call, "expire" if call.ledger is None else "lose", now, None, error))
            else:
                error = f"no answer from the client within {self._limits.tool_timeout_ms / 1000:g} s"
                events.append(self._settle(call, "expire", now, None, error))
        turn = self.running
        if turn is None or turn.id == self.cut:
            return events + self.end_cut(now)
        if turn.asked.limit_ms and now - turn.started_at >= turn.asked.limit_ms:
            message = f"no answer within {turn.asked.limit_ms / 1000:g} s"
            events += self._end(turn, "expire", now, "ANALYSIS_TIMEOUT", message)
            events += self._start_next(now)
        return events

    def interrupt(self, now: int, message: str = "the gateway was restarted") -> list[AnyEvent]:
        """After a restart, or before one: the running turn ends, waiting ones stay until a peer is back."""
        self.held = True
        kept = [call for call in self.calls.of_client() if _can_be_asked_again(call)]
        self._kept = frozenset(call.call_id for call in kept)
        self._kept_until = now + self._limits.ledger_patience_ms
        events: list[AnyEvent] = []
        turn = self.running
        if turn is not None and any(call.turn == turn.id for call in kept):
            self.cut, self._why = turn.id, message
        elif turn is not None:
            events += self._end(turn, "fail", now, "INTERRUPTED", message)
        for call in list(self.calls):
            if call.call_id not in self._kept:
                events.append(self._settle(call, "cancel" if call.reads else "lose", now, None, message))
        return events

    def end_cut(self, now: int) -> list[AnyEvent]:
        """End the turn that a restart has cut, if all its calls have their outcome by now."""
        turn = self.running
        if turn is None or turn.id != self.cut:
            self.cut = ""
            return []
        if turn.waiting:
            return []
        self.cut = ""
        return self._end(turn, "fail", now, "INTERRUPTED", self._why) + self._start_next(now)

    def release(self, now: int) -> list[AnyEvent]:
        """A peer is there (again): what waited may start."""
        self.held = False
        return self._start_next(now)

    def bind(self, call_id: str, ledger: str, now: int) -> AnyEvent:
        """A waiting write is about to be sent to a client with this ledger (empty: it keeps none)."""
        return self._emit(CallBound(self.seq + 1, now, call_id, ledger))


def _can_be_asked_again(call: CallRequested) -> bool:
    return not call.reads and call.ledger != ""
