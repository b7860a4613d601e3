"""The long runs (`make soak`): clients that come and go, and a gateway that is killed over and over.

What must hold however long it runs: every turn has one end, every call one outcome, numbers have no gaps, and what
a client was told is in the log afterwards.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from soak.serving import Gateway, logs
from toolwire.core.events import AnyEvent, CallRequested, CallSettled, TurnAsked, TurnEnded, TurnStarted

pytestmark = pytest.mark.soak

SECONDS = float(os.environ.get("TOOLWIRE_SOAK_SECONDS", "60"))
CLIENTS = 24
SCRIPT: dict[str, Any] = {
    "turns": [
        {
            "steps": [
                {"say": ["looking ", "around"]},
                {"call": [{"tool": "read_file", "arguments": {"path": f"f{n}"}} for n in range(4)]},
                {"think": "thinking", "percent": 50},
                {"call": [{"tool": "their_own_write", "arguments": {"n": 1}}]},
                {"say": ["done"]},
            ]
        }
    ]
}


async def client(gateway: Gateway, name: str, until: float, told: dict[str, list[str]]) -> None:
    """Ask, answer calls in random order, vanish at random, come back and resume."""
    dice = random.Random(name)
    cursor = "0"
    while time.monotonic() < until:
        with suppress(OSError, WebSocketException, TimeoutError):
            url = f"ws://127.0.0.1:{gateway.port}/ws/{name}?last_event={cursor}"
            async with connect(url, compression=None, proxy=None, open_timeout=5) as peer:
                cursor = await _talk(peer, dice, until, told.setdefault(name, []), cursor)
        await asyncio.sleep(dice.random() / 10)


async def _talk(peer: ClientConnection, dice: random.Random, until: float, told: list[str], cursor: str) -> str:
    await peer.send('{"type":"user_message","content":"go"}')
    leave = dice.randint(1, 40)
    for _ in range(leave):
        if time.monotonic() > until:
            break
        async with asyncio.timeout(5):
            message = json.loads(await peer.recv())
        if message["seq"] != cursor:
            cursor = message["seq"]
            told.append(cursor)
        if message["type"] == "tool_call":
            answer = {"type": "tool_result", "call_id": message["call_id"], "result": {"content": "x"}}
            for _ in range(dice.choice((1, 1, 2))):
                await peer.send(json.dumps(answer))
        elif message.get("is_final") and message["token"] == "done":
            await peer.send('{"type":"user_message","content":"go"}')
    return cursor


def check(events: list[AnyEvent]) -> None:
    """One end for every turn that began, one outcome for every call. Prompts may wait for a peer to come back."""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    asked = Counter(event.turn for event in events if isinstance(event, TurnAsked))
    started = Counter(event.turn for event in events if isinstance(event, TurnStarted))
    ended = Counter(event.turn for event in events if isinstance(event, TurnEnded))
    assert max(asked.values()) == max(ended.values()) == 1
    assert set(ended) <= set(asked)
    assert set(started) <= set(ended)
    requested = Counter(event.call_id for event in events if isinstance(event, CallRequested))
    settled = Counter(event.call_id for event in events if isinstance(event, CallSettled))
    assert requested == settled
    assert max(requested.values()) == 1


@pytest.mark.parametrize("killing", [False, True], ids=["clients come and go", "and the gateway is killed"])
async def test_nothing_is_lost_and_nothing_happens_twice(tmp_path: Path, killing: bool) -> None:
    gateway = Gateway(tmp_path, SCRIPT)
    await gateway.start()
    until = time.monotonic() + SECONDS
    told: dict[str, list[str]] = {}
    clients = [asyncio.create_task(client(gateway, f"soak-{n}", until, told)) for n in range(CLIENTS)]
    while killing and time.monotonic() < until:
        await asyncio.sleep(random.uniform(2, 5))
        await gateway.kill()
        await gateway.start()
    await asyncio.gather(*clients)
    await gateway.kill(signal.SIGTERM)
    await gateway.start()  # whatever was left open is looked after at the start
    await gateway.answers()
    await gateway.kill(signal.SIGTERM)
    found = await logs(tmp_path)
    assert len(found) == CLIENTS
    for name, (epoch, events) in found.items():
        check(events)
        for cursor in told.get(name, []):
            told_epoch, seq = cursor.split(".")
            assert told_epoch == epoch
            assert int(seq) <= len(events)
