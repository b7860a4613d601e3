"""The states of turns and calls as tables: a transition is a row, and what is not a row can't happen.

A turn:   queued ──start──▶ running ──▶ completed | failed | cancelled | overridden | timed_out
          queued ──cancel/override──▶ the same ends, without having run
A call:   waiting ──▶ ok | failed | timed_out | indeterminate | cancelled
"""

from __future__ import annotations

from typing import Final, Literal

from toolwire.core.events import CallOutcome, Stage, TurnOutcome

TurnState = Literal["queued", "running"] | TurnOutcome
TurnSignal = Literal["complete", "fail", "cancel", "override", "expire"]
CallState = Literal["waiting"] | CallOutcome
CallSignal = Literal["answer", "error", "expire", "lose", "cancel"]

START: Final[dict[TurnState, TurnState]] = {"queued": "running"}

END: Final[dict[tuple[TurnState, TurnSignal], TurnOutcome]] = {
    ("queued", "cancel"): "cancelled",
    ("queued", "override"): "overridden",
    ("queued", "fail"): "failed",
    ("running", "complete"): "completed",
    ("running", "fail"): "failed",
    ("running", "cancel"): "cancelled",
    ("running", "override"): "overridden",
    ("running", "expire"): "timed_out",
}

CALL: Final[dict[tuple[CallState, CallSignal], CallOutcome]] = {
    ("waiting", "answer"): "ok",
    ("waiting", "error"): "failed",
    ("waiting", "expire"): "timed_out",
    ("waiting", "lose"): "indeterminate",
    ("waiting", "cancel"): "cancelled",
}

STAGES: Final[tuple[Stage, ...]] = ("analyzing", "planning", "executing")
"""Document 2: Analyze → Plan → Execute. A turn begins in the first."""
