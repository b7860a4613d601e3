"""Tool calls in flight: each gets its own result, once, whatever the network and the other side do."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from support.running import Peer, running, script, steps
from toolwire.settings import Settings


def ask(tool: str = "read_file", **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


PROMPT = {"type": "user_message", "content": "go"}


def answer(call: dict[str, Any], result: Any) -> dict[str, Any]:
    return {"type": "tool_result", "call_id": call["call_id"], "result": result}


async def said(peer: Peer) -> str:
    """The next run of text."""
    text = ""
    while True:
        message = await peer.receive()
        if message["type"] == "assistant_message":
            text += str(message["token"])
            if message["is_final"]:
                return text


@pytest.mark.parametrize("count", [200, 1000])
async def test_calls_in_flight_are_answered_in_any_order_each_once(
    tmp_path: Path, count: int, capfd: pytest.CaptureFixture[str]
) -> None:
    pieces = [f"{{{{{number}.content}}}}," for number in range(1, count + 1)]
    agent = script(tmp_path, steps({"call": [ask(path=f"f{n}") for n in range(count)]}, {"say": ["".join(pieces)]}))
    async with running(tmp_path, agent=agent) as gateway:
        ide = await gateway.connect("/ws/many")
        await ide.send(PROMPT)
        calls = [await ide.receive() for _ in range(count)]
        assert len({call["call_id"] for call in calls}) == count
        answers = [answer(call, {"content": call["arguments"]["path"]}) for call in calls]
        again = [answer(call, {"content": "second"}) for call in random.Random(1).sample(calls, count // 2)]
        random.Random(2).shuffle(answers)
        for message in answers[:-1]:
            await ide.send(message)
        for message in again:
            if message["call_id"] != answers[-1]["call_id"]:
                await ide.send(message)
        await ide.send(answers[-1])
        assert await said(ide) == "".join(f"f{n}," for n in range(count))
        assert gateway.hub.metrics.stray_results >= count // 2 - 1
        await ide.close()


async def test_an_answer_nobody_waits_for_is_logged_and_the_connection_lives(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    agent = script(tmp_path, steps({"say": ["still here"]}))
    async with running(tmp_path, agent=agent) as gateway:
        ide = await gateway.connect("/ws/stray")
        await ide.send({"type": "tool_result", "call_id": "nobody-asked", "result": {}})
        await ide.send(PROMPT)
        assert await said(ide) == "still here"
        await ide.close()
    shown = capfd.readouterr()
    assert "⚠️ 未找到对应的工具调用: toolCallId=nobody-asked" in shown.err + shown.out


async def test_a_call_that_reads_goes_to_the_next_client_when_the_first_one_leaves(tmp_path: Path) -> None:
    agent = script(tmp_path, steps({"call": [ask(path="a")]}, {"say": ["{{1.content}}"]}))
    async with running(tmp_path, agent=agent) as gateway:
        first, second = await gateway.connect("/ws/two"), await gateway.connect("/ws/two")
        await second.send(PROMPT)
        call = await first.receive()
        await first.close()
        again = await second.receive()
        assert again == call
        await second.send(answer(again, {"content": "from the second"}))
        assert await said(second) == "from the second"
        await second.close()


async def test_a_write_in_flight_on_a_lost_connection_ends_as_indeterminate_and_everyone_sees_it(
    tmp_path: Path,
) -> None:
    agent = script(tmp_path, steps({"call": [ask("their_own_write", x=1)]}, {"say": ["{{1}}"]}))
    async with running(tmp_path, agent=agent) as gateway:
        first, second = await gateway.connect("/ws/lost"), await gateway.connect("/ws/lost")
        await second.send(PROMPT)
        assert (await first.receive())["type"] == "tool_call"
        await first.close()
        told = await second.receive()
        assert told["type"] == "error"
        assert "may or may not have taken effect" in told["content"]
        assert "may or may not have taken effect" in await said(second)
        await second.close()


async def test_a_client_with_a_ledger_gets_its_write_again_after_reconnecting(tmp_path: Path) -> None:
    agent = script(tmp_path, steps({"call": [ask("their_own_write", x=1)]}, {"say": ["{{1.content}}"]}))
    async with running(tmp_path, agent=agent) as gateway:
        first = await gateway.connect("/ws/ledger?ledger=mine")
        await first.send(PROMPT)
        call = await first.receive()
        await first.close()
        other = await gateway.connect("/ws/ledger?ledger=other")
        back = await gateway.connect("/ws/ledger?ledger=mine")
        assert await back.receive() == call
        await back.send(answer(call, {"content": "done before"}))
        assert await said(back) == "done before"
        assert await said(other) == "done before"


async def test_two_clients_on_one_session_see_everything_and_the_first_runs_the_tools(tmp_path: Path) -> None:
    agent = script(tmp_path, steps({"say": ["a"]}, {"call": [ask(path="x")]}, {"say": ["b"]}))
    async with running(tmp_path, agent=agent) as gateway:
        first, second = await gateway.connect("/ws/both"), await gateway.connect("/ws/both")
        await second.send(PROMPT)
        assert await said(first) == await said(second) == "a"
        call = await first.receive()
        assert call["type"] == "tool_call"
        await first.send(answer(call, {"content": "x"}))
        assert await said(first) == await said(second) == "b"


async def test_a_client_that_does_not_answer_in_time_fails_the_call_and_the_turn_goes_on(tmp_path: Path) -> None:
    agent = script(tmp_path, steps({"call": [ask(path="x")]}, {"say": ["{{1}}"]}))
    async with running(tmp_path, agent=agent, settings=Settings(tool_timeout=0.2)) as gateway:
        ide = await gateway.connect("/ws/slow")
        await ide.send(PROMPT)
        call = await ide.receive()
        assert "no answer from the client within 0.2 s" in await said(ide)
        await ide.send(answer(call, {"content": "late"}))
        await ide.send({"type": "error", "content": "so sorry"})
        await ide.close()


async def test_with_tools_server_the_gateway_runs_them_and_a_watcher_sees_it(tmp_path: Path) -> None:
    (tmp_path / "hello.txt").write_text("hello\n")
    agent = script(tmp_path, steps({"call": [ask(path="hello.txt")]}, {"say": ["{{1.content}}"]}))
    async with running(tmp_path, agent=agent) as gateway:
        page = await gateway.connect("/ws/page?tools=server&watch=1")
        plain = await gateway.connect("/ws/page?tools=server")
        await page.send(PROMPT)
        seen = await page.receive_until("turn_ended")
        assert [message["type"] for message in seen] == [
            "user_message",
            "tool_call",
            "tool_result",
            "assistant_message",
            "turn_ended",
        ]
        assert seen[2]["result"]["content"].strip() == "hello"
        assert await said(plain) == seen[3]["token"]


async def test_a_tool_that_writes_is_refused_in_ask_mode(tmp_path: Path) -> None:
    agent = script(tmp_path, steps({"call": [ask("their_own_write")]}, {"say": ["{{1}}"]}))
    async with running(tmp_path, agent=agent) as gateway:
        plugin = await gateway.connect("/ws/agent/chat?sessionId=s&projectKey=demo")
        await plugin.receive()
        await plugin.send({"type": "AGENT_CHAT", "data": {"message": "go", "mode": "ask"}})
        seen = await plugin.receive_until("STREAMING_CONTENT")
        assert not [message for message in seen if message["type"] == "TOOL_CALL"]
        assert "may only read" in json.dumps(seen[-1])
