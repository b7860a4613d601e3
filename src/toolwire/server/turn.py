"""A turn as its agent sees it: each thing the agent does becomes events of the session, stored before it is seen."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolwire.agents.base import Ask
from toolwire.core.events import CallSettled, Message, Mode, Stage, TurnAsked
from toolwire.core.turn import CallSpec
from toolwire.server.clock import now_ms
from toolwire.server.confirming import confirmed_specs

if TYPE_CHECKING:
    from toolwire.server.live import LiveSession


class Batch:
    """Calls that an agent waits for together."""

    __slots__ = ("_ids", "_missing", "_outcomes", "future")

    def __init__(self, ids: list[str], future: asyncio.Future[list[CallSettled]]) -> None:
        self._ids = ids
        self._missing = len(ids)
        self._outcomes: dict[str, CallSettled] = {}
        self.future = future

    def settle(self, event: CallSettled) -> None:
        if len(self._ids) == 1:
            if not self.future.done():
                self.future.set_result([event])
            return
        self._outcomes[event.call_id] = event
        self._missing -= 1
        if not self._missing and not self.future.done():
            self.future.set_result([self._outcomes[call_id] for call_id in self._ids])


class LiveTurn:
    """Implements `agents.base.Turn` on a live session."""

    __slots__ = ("_asked", "_live", "history")

    def __init__(self, live: LiveSession, asked: TurnAsked, history: Sequence[Message]) -> None:
        self._live = live
        self._asked = asked
        self.history = history

    @property
    def id(self) -> str:
        return self._asked.turn

    @property
    def prompt(self) -> str:
        return with_attachments(self._asked)

    @property
    def project(self) -> str:
        return self._asked.project

    @property
    def mode(self) -> Mode:
        return self._asked.mode

    async def choose(self, agent: str, *, degraded: bool = False, reason: str = "") -> None:
        live = self._live
        live.submit(live.core.choose(self.id, agent, now_ms(), degraded=degraded, reason=reason))

    async def say(self, text: str, *, final: bool = False) -> None:
        live = self._live
        live.submit([live.core.say(self._asked.turn, text, now_ms(), final=final)])
        if live.congested:
            await live.relieved()

    async def think(self, text: str, *, stage: Stage | None = None, percent: int | None = None) -> None:
        live = self._live
        live.submit(live.core.think(self.id, text, now_ms(), stage=stage, percent=percent))
        if live.congested:
            await live.relieved()

    async def call(self, asks: Sequence[Ask]) -> Sequence[CallSettled]:
        if not asks:
            return []
        live = self._live
        reads, asks_about = live.reads, live.hub.words.asks_about
        specs = []
        for ask in asks:
            if asks_about(ask.tool):
                specs = await confirmed_specs(live, self._asked, asks)
                break
            specs.append(CallSpec(ask.tool, dict(ask.arguments), reads(ask.tool), ask.placement))
        ids, events = live.core.call(self._asked.turn, specs, now_ms())
        future: asyncio.Future[list[CallSettled]] = live.hub.loop.create_future()
        live.send_calls(Batch(ids, future), ids, events)
        return await future


def with_attachments(asked: TurnAsked) -> str:
    """The prompt, and after it what came with it: each file's name, place and the beginning of its text."""
    parts = [asked.prompt]
    for file in asked.attachments:
        kind = ", ".join(filter(None, (file.mime_type, f"{file.size} bytes")))
        parts.append(f"附件 {file.name} ({file.path}, {kind})" + (f":\n{file.preview}" if file.preview else ""))
    return "\n\n".join(parts)
