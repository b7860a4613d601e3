"""One turn: a prompt and everything the agent does to answer it, up to its one end."""

from __future__ import annotations

from typing import Any

import msgspec

from toolwire.core.events import (
    AgentChosen,
    CallRequested,
    CallSettled,
    Placement,
    Said,
    Stage,
    Thought,
    TurnAsked,
)
from toolwire.core.states import TurnState


class CallSpec(msgspec.Struct, frozen=True):
    """A tool call as an agent asks for it. `placement` None means where the turn's tools run."""

    tool: str
    arguments: dict[str, Any] = {}
    reads: bool = False
    placement: Placement | None = None
    refusal: str = ""
    """Why it must not be run: it is on record, and fails at once."""


class Turn:
    """The state of a turn, changed only by its events."""

    __slots__ = (
        "asked",
        "call_count",
        "degraded",
        "failed_calls",
        "open_run",
        "percent",
        "piece_count",
        "round",
        "runs",
        "stage",
        "stages",
        "started_at",
        "state",
        "waiting",
    )

    def __init__(self, asked: TurnAsked) -> None:
        self.asked = asked
        self.state: TurnState = "queued"
        self.started_at = asked.at
        self.stage: Stage = "analyzing"
        self.stages: list[Stage] = ["analyzing"]
        self.percent: int | None = None
        """Done/planned work as last told; it never falls."""
        self.round = 1
        """The agent's rounds: each batch of calls that has been answered begins a new one."""
        self.runs: list[list[str]] = []
        """Runs of text, each a list of pieces as the agent made them."""
        self.open_run = False
        """Whether the last run still waits for its final piece."""
        self.piece_count = 0
        self.waiting = 0
        """Calls without an outcome yet."""
        self.call_count = 0
        self.failed_calls = 0
        self.degraded = False

    @property
    def id(self) -> str:
        return self.asked.turn

    @property
    def request(self) -> str:
        return self.asked.request

    def text(self) -> str:
        """The whole text: runs joined by a blank line (spec README, "Text pieces")."""
        return "\n\n".join(text for run in self.runs if (text := "".join(run)))

    def said(self, event: Said) -> None:
        if not self.open_run:
            self.runs.append([])
            self.open_run = True
        self.runs[-1].append(event.text)
        self.piece_count = event.index + 1
        if event.final:
            self.open_run = False

    def thought(self, event: Thought) -> None:
        self.enter(event.stage)
        self.percent = event.percent if event.percent is not None else self.percent

    def chosen(self, event: AgentChosen) -> None:
        self.degraded = event.degraded

    def requested(self, event: CallRequested) -> None:
        self.waiting += 1
        self.call_count += 1
        if not event.reads:
            self.enter("executing")

    def settled(self, event: CallSettled) -> None:
        self.waiting -= 1
        if event.outcome != "ok":
            self.failed_calls += 1
        if self.waiting == 0:
            self.round += 1

    def enter(self, stage: Stage) -> None:
        if stage != self.stage:
            self.stage = stage
            self.stages.append(stage)
