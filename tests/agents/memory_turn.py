"""A turn in memory: records what an agent does and runs its calls with a function."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolwire.agents.base import Ask
from toolwire.core.events import CallSettled, Message, Mode, Stage

RunTool = Callable[[str, Mapping[str, Any]], Any]
"""Gives a result; an exception is a failed call with the exception's text as its error."""


def no_tools(tool: str, arguments: Mapping[str, Any]) -> Any:
    raise LookupError(f"Unknown tool: {tool}")


@dataclass
class MemoryTurn:
    prompt: str
    run: RunTool = no_tools
    mode: Mode = "agent"
    history: Sequence[Message] = ()
    id: str = "turn-1"
    project: str = "demo"
    said: list[tuple[str, bool]] = field(default_factory=list)
    thoughts: list[tuple[str, Stage | None, int | None]] = field(default_factory=list)
    rounds: list[list[Ask]] = field(default_factory=list)
    chosen: list[tuple[str, bool, str]] = field(default_factory=list)
    workers: int = 4

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.said)

    @property
    def asks(self) -> list[Ask]:
        return [ask for asks in self.rounds for ask in asks]

    async def choose(self, agent: str, *, degraded: bool = False, reason: str = "") -> None:
        self.chosen.append((agent, degraded, reason))

    async def say(self, text: str, *, final: bool = False) -> None:
        self.said.append((text, final))

    async def think(self, text: str, *, stage: Stage | None = None, percent: int | None = None) -> None:
        self.thoughts.append((text, stage, percent))

    async def call(self, asks: Sequence[Ask]) -> Sequence[CallSettled]:
        self.rounds.append(list(asks))
        room = asyncio.Semaphore(self.workers)

        async def one(ask: Ask) -> CallSettled:
            async with room:
                return await asyncio.to_thread(self._settle, ask)

        return await asyncio.gather(*(one(ask) for ask in asks))

    def _settle(self, ask: Ask) -> CallSettled:
        try:
            result = self.run(ask.tool, ask.arguments)
        except Exception as error:
            return CallSettled(1, 0, self.id, self.id, "call", ask.tool, "failed", None, str(error))
        return CallSettled(1, 0, self.id, self.id, "call", ask.tool, "ok", result)
