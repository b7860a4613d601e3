"""A session's log as a script for the scripted agent (design, "A script for the scripted agent").

Each turn that ran becomes a turn of the script, found by its exact prompt, used once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from toolwire.core.events import AnyEvent, CallRequested, Said, Thought, TurnAsked, TurnEnded, TurnStarted


def script_of(events: Iterable[AnyEvent]) -> dict[str, Any]:
    asked: dict[str, TurnAsked] = {}
    steps: dict[str, _Steps] = {}
    for event in events:
        match event:
            case TurnAsked():
                asked[event.turn] = event
            case TurnStarted():
                steps[event.turn] = _Steps()
            case Said() | Thought() | CallRequested() | TurnEnded() if event.turn in steps:
                steps[event.turn].add(event)
            case _:
                for open_steps in steps.values():
                    open_steps.close()
    return {
        "turns": [
            {"match": f"^{re.escape(asked[turn].prompt)}$", "once": True, "steps": found.steps}
            for turn, found in steps.items()
        ]
    }


class _Steps:
    """The steps of one turn as they come out of its events."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self._open: list[Any] | None = None
        """The pieces of a run of text, or the calls of a batch, that may still grow."""
        self._kind = ""

    def add(self, event: Said | Thought | CallRequested | TurnEnded) -> None:
        match event:
            case Said():
                self._grow("say", event.text)
                if event.final:
                    self.close()
            case CallRequested():
                self._grow("call", {"tool": event.tool, "arguments": event.arguments})
            case Thought():
                self.close()
                percent = {} if event.percent is None else {"percent": event.percent}
                self.steps.append({"think": event.text, "stage": event.stage} | percent)
            case TurnEnded():
                self.close()
                if event.outcome in ("failed", "timed_out"):
                    self.steps.append({"fail": event.message or event.outcome})

    def close(self) -> None:
        self._open, self._kind = None, ""

    def _grow(self, kind: str, part: Any) -> None:
        """Calls asked without anything between them went out together; so did the pieces of a run."""
        if self._open is None or self._kind != kind:
            self._open, self._kind = [], kind
            self.steps.append({kind: self._open})
        self._open.append(part)
