"""The store fails a session: nobody saw what was lost, everybody is told, and it goes on where its log ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.patience import PATIENCE
from support.running import Running, running, script, steps
from toolwire.core.events import AnyEvent, CallSettled, TurnEnded
from toolwire.errors import StoreError

ASK = {"type": "user_message", "content": "go", "role": "user"}
CALLING = steps({"call": [{"tool": "read_file", "arguments": {"path": "x"}}]}, {"say": ["{{1}}"]})


def fails_once(gateway: Running, monkeypatch: pytest.MonkeyPatch, kind: type[AnyEvent]) -> asyncio.Event:
    """From here on the first append with such an event fails, as with a full disk."""
    real, failed = gateway.hub.store.append, asyncio.Event()

    def append(session: int, events: list[AnyEvent], committed: Callable[..., Any], lost: Callable[..., Any]) -> None:
        if failed.is_set() or not any(type(event) is kind for event in events):
            real(session, events, committed, lost)
            return
        failed.set()
        gateway.hub.loop.call_soon(lost, events, StoreError("database or disk is full"))

    monkeypatch.setattr(gateway.hub.store, "append", append)
    return failed


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/store.db"


async def test_a_turn_whose_outcome_can_not_be_stored_is_ended_not_left_running(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path, agent=script(tmp_path, CALLING), store=store) as gateway:
        ide = await gateway.connect("/ws/s")
        await ide.send(ASK)
        call = await ide.receive()
        fails_once(gateway, monkeypatch, CallSettled)
        await ide.send({"type": "tool_result", "call_id": call["call_id"], "result": {"content": "lost"}})
        assert "disk is full" in (await ide.receive_until("error"))[-1]["content"]
        assert await ide.closed() == 1011

        again = await gateway.connect("/ws/s?watch=1&last_event=0")
        ended = (await again.receive_until("turn_ended"))[-1]
        assert (ended["outcome"], ended["code"]) == ("failed", "INTERRUPTED")

        other = await gateway.connect("/ws/s")
        await other.send(ASK)
        call = (await other.receive_until("tool_call"))[-1]
        await other.send({"type": "tool_result", "call_id": call["call_id"], "result": {"content": "kept"}})
        assert "kept" in (await other.receive_until("assistant_message"))[-1]["token"]


async def test_a_turn_whose_end_can_not_be_stored_ends_otherwise(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path, agent=script(tmp_path, steps({"say": ["done"]})), store=store) as gateway:
        ide = await gateway.connect("/ws/s")
        fails_once(gateway, monkeypatch, TurnEnded)
        await ide.send(ASK)
        assert await ide.closed() == 1011
        again = await gateway.connect("/ws/s?watch=1&last_event=0")
        assert (await again.receive_until("turn_ended"))[-1]["code"] == "INTERRUPTED"


async def test_the_turn_ends_even_if_nobody_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path, agent=script(tmp_path, CALLING)) as gateway:
        ide = await gateway.connect("/ws/s")
        await ide.send(ASK)
        call = await ide.receive()
        failed = fails_once(gateway, monkeypatch, CallSettled)
        await ide.send({"type": "tool_result", "call_id": call["call_id"], "result": {}})
        await asyncio.wait_for(failed.wait(), PATIENCE)
        assert await ide.closed() == 1011
        async with asyncio.timeout(PATIENCE):
            while await gateway.hub.store.unfinished():
                await gateway.hub.store.drained()
