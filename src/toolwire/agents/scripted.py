"""The scripted agent: does for each prompt what its script says (design, "A script for the scripted agent").

The script is compiled when the agent is made, so that answering a turn is little more than the calls themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from toolwire.agents.base import Agent, Ask, Turn
from toolwire.agents.match import compile_match
from toolwire.agents.script import Script, ScriptCall, ScriptStep, ScriptTurn, load_script
from toolwire.agents.template import compile_text, compile_value, fill_text
from toolwire.core.events import CallSettled
from toolwire.errors import AgentError
from toolwire.settings import Settings

Act = Callable[[Turn, list[CallSettled]], Awaitable[None]]
"""One compiled step: acts on the turn; results of the turn's calls so far are in the list."""

PROMPT_SHOWN = 80


class _Entry:
    """A turn of the script, ready to run."""

    __slots__ = ("acts", "matches", "once", "used")

    def __init__(self, turn: ScriptTurn, prefix: int) -> None:
        self.matches = compile_match(turn.match, prefix) if turn.match else None
        self.once = turn.once
        self.used = False
        self.acts = [_compile(step) for step in turn.steps]

    def takes(self, prompt: str) -> bool:
        return not (self.once and self.used) and (self.matches is None or self.matches(prompt))


class ScriptedAgent(Agent):
    """Answers from a script. Turns marked `once` are used up for all sessions of this gateway."""

    def __init__(self, script: Script, name: str, settings: Settings | None = None) -> None:
        self.name = name
        prefix = (settings or Settings()).script_match_prefix
        self._entries = [_Entry(turn, prefix) for turn in script.turns]

    @classmethod
    def from_file(cls, path: Path, settings: Settings | None = None) -> ScriptedAgent:
        return cls(load_script(path), f"script:{path}", settings)

    async def answer(self, turn: Turn) -> None:
        results: list[CallSettled] = []
        for act in self._pick(turn.prompt).acts:
            await act(turn, results)

    def _pick(self, prompt: str) -> _Entry:
        for entry in self._entries:
            if entry.takes(prompt):
                entry.used = True
                return entry
        start = prompt[:PROMPT_SHOWN] + ("…" if len(prompt) > PROMPT_SHOWN else "")
        used = " left" if any(entry.once for entry in self._entries) else ""
        raise AgentError(
            f"no turn of the script fits the prompt{used}: {start!r}",
            hint="add a turn without `match` to the script to answer everything else",
        )


def _compile(step: ScriptStep) -> Act:
    if step.call is not None:
        return _call(step.call)
    if step.say is not None:
        return _say(step.say)
    if step.think is not None:
        return _think(step)
    if step.fail is not None:
        return _fail(step.fail)
    return _sleep((step.sleep_ms or 0) / 1000)


def _say(pieces: list[str]) -> Act:
    texts = [compile_text(piece) for piece in pieces]
    most, last = texts[:-1], texts[-1:]

    async def say(turn: Turn, results: list[CallSettled]) -> None:
        for piece in most:
            await turn.say(fill_text(piece, results))
        for piece in last:
            await turn.say(fill_text(piece, results), final=True)

    return say


def _think(step: ScriptStep) -> Act:
    text, stage, percent = compile_text(step.think or ""), step.stage, step.percent

    async def think(turn: Turn, results: list[CallSettled]) -> None:
        await turn.think(fill_text(text, results), stage=stage, percent=percent)

    return think


def _call(calls: list[ScriptCall]) -> Act:
    plain = tuple(Ask(call.tool, call.arguments, call.placement) for call in calls)
    fills = [(index, fill) for index, call in enumerate(calls) if (fill := compile_value(call.arguments))]

    async def call_plain(turn: Turn, results: list[CallSettled]) -> None:
        results += await turn.call(plain)

    async def call_filled(turn: Turn, results: list[CallSettled]) -> None:
        asks = list(plain)
        for index, fill in fills:
            asks[index] = Ask(asks[index].tool, fill(results), asks[index].placement)
        results += await turn.call(asks)

    return call_filled if fills else call_plain


def _sleep(seconds: float) -> Act:
    async def sleep(turn: Turn, results: list[CallSettled]) -> None:
        await asyncio.sleep(seconds)

    return sleep


def _fail(message: str) -> Act:
    text = compile_text(message)

    async def fail(turn: Turn, results: list[CallSettled]) -> None:
        raise AgentError(fill_text(text, results))

    return fail
