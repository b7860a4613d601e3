"""Several agents in order of preference: the first that can answers, and the next one steps in if it can't begin.

Once an agent has said something or called a tool the turn is its own: a failure from then on is the turn's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

from toolwire.agents.base import Agent, Ask, Turn
from toolwire.core.events import CallSettled, Message, Mode, Stage
from toolwire.errors import AgentError, ToolwireError
from toolwire.settings import Settings

log = logging.getLogger(__name__)


class Chain(Agent):
    """Agents in order of preference. The one place where `Turn.choose` is called."""

    def __init__(
        self,
        agents: Sequence[Agent],
        *,
        settings: Settings | None = None,
        more: Mapping[str, Callable[[], Agent]] | None = None,
    ) -> None:
        """`more` opens agents that are not in the chain but that a prompt may ask for by name."""
        if not agents:
            raise ValueError("a chain needs an agent")
        self.name = ",".join(agent.name for agent in agents)
        self._agents = tuple(agents)
        self._settings = settings or Settings()
        self._more = more or {}
        self._picked: dict[str, Chain] = {}

    def pick(self, name: str) -> Agent:
        """The agent a prompt asks for by name; empty means the whole chain."""
        if not name or name == self.name:
            return self
        if name not in self._picked:
            agent = next((agent for agent in self._agents if agent.name == name), None)
            if agent is None:
                if name not in self._more:
                    names = [agent.name for agent in self._agents] + list(self._more)
                    raise AgentError(
                        f"no agent called {name!r}", hint="there are: " + ", ".join(dict.fromkeys(names))
                    )
                agent = self._more[name]()
            self._picked[name] = Chain([agent], settings=self._settings)
        return self._picked[name]

    async def ready(self) -> str | None:
        """None if any of them can answer."""
        reasons = []
        for agent in self._agents:
            reason = await self._missing(agent)
            if reason is None:
                return None
            reasons.append(f"{agent.name}: {reason}")
        return "; ".join(reasons)

    async def answer(self, turn: Turn) -> None:
        reasons: list[str] = []
        for agent in self._agents[:-1]:
            reason = await self._missing(agent)
            if reason is None:
                reason = await self._try(agent, turn, reasons)
                if reason is None:
                    return
            reasons.append(f"{agent.name}: {reason}")
        await self._last(turn, reasons)

    async def close(self) -> None:
        for picked in self._picked.values():
            await picked.close()
        for agent in self._agents:
            await agent.close()

    async def _last(self, turn: Turn, reasons: list[str]) -> None:
        agent = self._agents[-1]
        reason = await self._missing(agent)
        if reason is not None:
            raise AgentError("; ".join([*reasons, f"{agent.name}: {reason}"]))
        await turn.choose(agent.name, degraded=bool(reasons), reason="; ".join(reasons))
        await agent.answer(turn)

    async def _try(self, agent: Agent, turn: Turn, reasons: list[str]) -> str | None:
        """Let an agent answer. A sentence if it failed before it had begun."""
        await turn.choose(agent.name, degraded=bool(reasons), reason="; ".join(reasons))
        watched = _Watched(turn)
        try:
            await agent.answer(watched)
        except AgentError as error:
            if watched.begun:
                raise
            return error.message
        except ToolwireError:
            raise
        except Exception as error:
            if watched.begun:
                raise
            log.exception("agent %s failed before it began", agent.name)
            return f"{type(error).__name__}: {error}"
        return None

    async def _missing(self, agent: Agent) -> str | None:
        """What an agent lacks to answer now."""
        seconds = self._settings.agent_ready_timeout
        try:
            async with asyncio.timeout(seconds):
                return await agent.ready()
        except TimeoutError:
            return f"did not say within {seconds:g} s whether it can answer"


class _Watched:
    """A turn that remembers whether its agent has begun to answer."""

    __slots__ = ("_turn", "begun")

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self.begun = False

    @property
    def id(self) -> str:
        return self._turn.id

    @property
    def prompt(self) -> str:
        return self._turn.prompt

    @property
    def project(self) -> str:
        return self._turn.project

    @property
    def mode(self) -> Mode:
        return self._turn.mode

    @property
    def history(self) -> Sequence[Message]:
        return self._turn.history

    async def choose(self, agent: str, *, degraded: bool = False, reason: str = "") -> None:
        await self._turn.choose(agent, degraded=degraded, reason=reason)

    async def say(self, text: str, *, final: bool = False) -> None:
        self.begun = True
        await self._turn.say(text, final=final)

    async def think(self, text: str, *, stage: Stage | None = None, percent: int | None = None) -> None:
        await self._turn.think(text, stage=stage, percent=percent)

    async def call(self, asks: Sequence[Ask]) -> Sequence[CallSettled]:
        self.begun = True
        return await self._turn.call(asks)
