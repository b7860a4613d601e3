"""A chain hands a turn on only while nothing has been said or called."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from agents.memory_turn import MemoryTurn
from support.patience import PATIENCE
from toolwire.agents.base import Agent, Ask, Turn
from toolwire.agents.chain import Chain
from toolwire.errors import AgentError, StoreError
from toolwire.settings import Settings


class Stand(Agent):
    """An agent that does what a test says."""

    def __init__(self, name: str, act: Callable[[Turn], Awaitable[None]] | None = None, missing: str | None = None):
        self.name = name
        self._act = act
        self._missing = missing
        self.closed = False

    async def answer(self, turn: Turn) -> None:
        if self._act is not None:
            await self._act(turn)
        else:
            await turn.say(f"{self.name} here", final=True)

    async def ready(self) -> str | None:
        return self._missing

    async def close(self) -> None:
        self.closed = True


async def fail(turn: Turn) -> None:
    raise AgentError("no key")


async def think_then_fail(turn: Turn) -> None:
    await turn.think("hm")
    raise AgentError("no key")


async def say_then_fail(turn: Turn) -> None:
    await turn.say("well")
    raise AgentError("lost it")


async def call_then_fail(turn: Turn) -> None:
    await turn.call([Ask("x", {})])
    raise AgentError("lost it")


async def crash(turn: Turn) -> None:
    raise ZeroDivisionError("oops")


async def lose_store(turn: Turn) -> None:
    raise StoreError("disk full")


async def test_the_first_agent_that_is_ready_answers() -> None:
    turn = MemoryTurn("go")
    await Chain([Stand("a"), Stand("b")]).answer(turn)
    assert turn.text == "a here"
    assert turn.chosen == [("a", False, "")]


async def test_one_agent_alone_is_chosen_too() -> None:
    turn = MemoryTurn("go")
    await Chain([Stand("a")]).answer(turn)
    assert turn.chosen == [("a", False, "")]


async def test_an_agent_that_is_not_ready_is_passed_over_and_the_reason_told() -> None:
    turn = MemoryTurn("go")
    await Chain([Stand("a", missing="no key"), Stand("b")]).answer(turn)
    assert turn.text == "b here"
    assert turn.chosen == [("b", True, "a: no key")]


@pytest.mark.parametrize("act", [fail, think_then_fail])
async def test_an_agent_that_fails_before_it_began_hands_on(act: Callable[[Turn], Awaitable[None]]) -> None:
    turn = MemoryTurn("go")
    await Chain([Stand("a", act), Stand("b")]).answer(turn)
    assert turn.text == "b here"
    assert turn.chosen == [("a", False, ""), ("b", True, "a: no key")]


async def test_a_defect_before_the_beginning_hands_on_as_well() -> None:
    turn = MemoryTurn("go")
    await Chain([Stand("a", crash), Stand("b")]).answer(turn)
    assert turn.chosen[-1] == ("b", True, "a: ZeroDivisionError: oops")


@pytest.mark.parametrize("act", [say_then_fail, call_then_fail])
async def test_a_failure_after_the_beginning_is_the_turns(act: Callable[[Turn], Awaitable[None]]) -> None:
    turn = MemoryTurn("go")
    with pytest.raises(AgentError, match="lost it"):
        await Chain([Stand("a", act), Stand("b")]).answer(turn)
    assert turn.chosen == [("a", False, "")]


async def test_an_outage_of_ours_is_not_handed_on() -> None:
    with pytest.raises(StoreError):
        await Chain([Stand("a", lose_store), Stand("b")]).answer(MemoryTurn("go"))


async def test_when_none_can_answer_all_reasons_are_told() -> None:
    chain = Chain([Stand("a", fail), Stand("b", missing="not installed"), Stand("c", missing="no key")])
    with pytest.raises(AgentError, match="a: no key; b: not installed; c: no key"):
        await chain.answer(MemoryTurn("go"))


async def test_a_chain_is_ready_if_any_agent_is() -> None:
    assert await Chain([Stand("a", missing="x"), Stand("b")]).ready() is None
    assert await Chain([Stand("a", missing="x"), Stand("b", missing="y")]).ready() == "a: x; b: y"


async def test_an_agent_that_never_says_whether_it_is_ready_counts_as_not_ready() -> None:
    class Silent(Stand):
        async def ready(self) -> str | None:
            await asyncio.Event().wait()
            return None

    turn = MemoryTurn("go")
    await Chain([Silent("a"), Stand("b")], settings=Settings(agent_ready_timeout=0.01)).answer(turn)
    assert turn.chosen == [("b", True, "a: did not say within 0.01 s whether it can answer")]


async def test_cancelling_is_not_a_failure() -> None:
    started = asyncio.Event()

    async def hang(turn: Turn) -> None:
        started.set()
        await asyncio.Event().wait()

    turn = MemoryTurn("go")
    task = asyncio.create_task(Chain([Stand("a", hang), Stand("b")]).answer(turn))
    await asyncio.wait_for(started.wait(), PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert turn.text == ""


async def test_a_prompt_may_pick_an_agent_by_name() -> None:
    local = Stand("local")
    chain = Chain([Stand("a"), Stand("b")], more={"local": lambda: local})
    for name, expected in {"b": "b", "local": "local"}.items():
        turn = MemoryTurn("go")
        await chain.pick(name).answer(turn)
        assert turn.chosen == [(expected, False, "")]
    assert chain.pick("") is chain
    assert chain.pick("local") is chain.pick("local")
    with pytest.raises(AgentError, match="no agent called 'z'"):
        chain.pick("z")


async def test_closing_closes_all_agents_also_picked_ones() -> None:
    first, local = Stand("a"), Stand("local")
    chain = Chain([first], more={"local": lambda: local})
    chain.pick("local")
    await chain.close()
    assert first.closed
    assert local.closed
