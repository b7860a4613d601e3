"""Sessions driven with plain values and a clock that is a number."""

from __future__ import annotations

from typing import Any

from toolwire.core.commands import Answer, Prompt
from toolwire.core.events import AnyEvent, CallRequested, CallSettled, TurnEnded
from toolwire.core.ids import Ids
from toolwire.core.lasting import LastingSession as Session
from toolwire.core.session import Limits
from toolwire.core.turn import CallSpec, Turn

LIMITS = Limits(queue=3, calls=8, tool_timeout_ms=1000)
READ = CallSpec("read_file", {"path": "a"}, reads=True)
WRITE = CallSpec("Edit", {"path": "a"})


def session(limits: Limits = LIMITS, seq: int = 0) -> Session:
    made = Session("c", limits=limits, ids=Ids(b"\1\2\3\4\5\6"), seq=seq)
    made.ledger = ""  # a client is there, and keeps none
    return made


def ask(of: Session, text: str = "why?", now: int = 0, **more: Any) -> tuple[str, list[AnyEvent]]:
    """Ask for a turn; its id and the events."""
    limit_ms = more.pop("limit_ms", 0)
    placement = more.pop("placement", "client")
    events = of.prompt(Prompt(text, **more), now, placement=placement, limit_ms=limit_ms)
    turns = [event.turn for event in events if kind(event) == "TurnAsked"]  # type: ignore[union-attr]
    return turns[0], events


def answered(of: Session, call_id: str, result: Any = "r", now: int = 0) -> CallSettled | None:
    return of.answer(Answer(call_id, True, result), now)


def kind(event: AnyEvent) -> str:
    return type(event).__name__


def kinds(events: list[AnyEvent]) -> list[str]:
    return [kind(event) for event in events]


def ends(events: list[AnyEvent]) -> list[TurnEnded]:
    return [event for event in events if isinstance(event, TurnEnded)]


def settlements(events: list[AnyEvent]) -> list[CallSettled]:
    return [event for event in events if isinstance(event, CallSettled)]


def requests(events: list[AnyEvent]) -> list[CallRequested]:
    return [event for event in events if isinstance(event, CallRequested)]


def turn_state(turn: Turn | None) -> dict[str, Any] | None:
    """Everything a turn remembers, to be compared."""
    return None if turn is None else {name: getattr(turn, name) for name in Turn.__slots__}


def state(of: Session) -> dict[str, Any]:
    """Everything a session remembers of its log, to be compared. (`held` is not in the log.)"""
    return {
        "seq": of.seq,
        "running": turn_state(of.running),
        "queue": [turn_state(turn) for turn in of.queue],
        "calls": list(of.calls),
    }


def restored(log: list[AnyEvent], limits: Limits = LIMITS) -> Session:
    """A fresh session that has read the log."""
    fresh = session(limits, seq=log[0].seq - 1 if log else 0)
    for event in log:
        fresh.apply(event)
    return fresh
