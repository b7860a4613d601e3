from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from ide.fake_gateway import fake_gateway
from ide.running_ide import QUICK, Bench, running_ide
from support.patience import PATIENCE
from toolwire.errors import HandshakeRefused, ToolwireError
from toolwire.ide.happenings import CallAnswered, CallBegun, Connected, Disconnected, Heard, Warned
from toolwire.settings import Settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "main.py").write_text("print('hi')\n")
    return folder


def call(call_id: str, tool: str = "wait", **arguments: object) -> dict[str, object]:
    return {"type": "tool_call", "call_id": call_id, "tool_name": tool, "arguments": arguments}


async def test_document_5_results_are_objects(root: Path) -> None:
    async with fake_gateway() as gateway, running_ide(root, gateway.url, session="сессия 1"):
        peer = await gateway.peer()
        assert peer.path == "/ws/%D1%81%D0%B5%D1%81%D1%81%D0%B8%D1%8F%201"
        assert peer.query["projectKey"] == "demo"
        assert len(peer.query["ledger"]) == 16
        await peer.send(call("c1", "read_file", path="/main.py"))
        answer = await peer.receive()
        assert answer["type"] == "tool_result"
        assert answer["call_id"] == "c1"
        assert "print('hi')" in answer["result"]["content"]


async def test_document_1_results_are_markdown_inside_data(root: Path) -> None:
    async with fake_gateway() as gateway, running_ide(root, gateway.url, dialect="agent_chat"):
        peer = await gateway.peer()
        assert peer.path == "/ws/agent/chat"
        assert peer.query["sessionId"] == "s1"
        params = {"relativePath": "main.py", "projectKey": "demo"}
        await peer.send({"type": "TOOL_CALL", "toolCallId": "t1", "toolName": "read_file", "params": params})
        data = (await peer.receive())["data"]
        assert data["toolCallId"] == "t1"
        assert data["success"] is True
        assert "print('hi')" in data["result"]
        assert isinstance(data["executionTime"], int)


async def test_document_2_failures_are_sentences_in_its_language(root: Path) -> None:
    async with fake_gateway() as gateway, running_ide(root, gateway.url, dialect="analyze"):
        peer = await gateway.peer()
        assert peer.path == "/ws/analyze"
        assert peer.query["projectPath"] == str(root)
        data = {"callId": "a1", "toolName": "read_file", "params": {"relativePath": "no.py"}, "projectPath": "/x"}
        await peer.send({"type": "TOOL_CALL", "data": data})
        assert await peer.receive() == {
            "type": "TOOL_RESULT",
            "data": {"callId": "a1", "success": False, "error": "文件不存在: no.py"},
        }


async def test_a_tool_it_does_not_have_is_a_failure_that_lists_what_it_has(root: Path) -> None:
    async with fake_gateway() as gateway, running_ide(root, gateway.url):
        peer = await gateway.peer()
        await peer.send(call("c1", "make_coffee"))
        error = (await peer.receive())["error"]
        assert "make_coffee" in error
        assert "read_file" in error


async def test_parallel_calls_run_in_parallel_and_never_on_the_event_loop(root: Path) -> None:
    bench = Bench()
    settings = Settings(tool_workers=4)
    async with fake_gateway() as gateway, running_ide(root, gateway.url, bench=bench, settings=settings):
        peer = await gateway.peer()
        for number in range(4):
            await peer.send(call(f"c{number}", note=str(number)))
        await bench.entered(4)  # all four are inside the tool at once: the gate is still shut
        bench.gate.set()
        answers = [await peer.receive() for _ in range(4)]
        assert {(a["call_id"], a["result"]["note"]) for a in answers} == {(f"c{n}", str(n)) for n in range(4)}
        assert all(name.startswith("tool") for name in bench.threads)


async def test_200_calls_at_once_each_get_their_own_result_once(root: Path) -> None:
    bench = Bench()
    bench.gate.set()
    async with fake_gateway() as gateway, running_ide(root, gateway.url, bench=bench):
        peer = await gateway.peer()
        for number in range(200):
            await peer.send(call(f"c{number}", "mark" if number % 2 else "wait", note=str(number)))
        answers = [await peer.receive() for _ in range(200)]
        assert {(a["call_id"], a["result"]["note"]) for a in answers} == {(f"c{n}", str(n)) for n in range(200)}


async def test_the_heartbeat_goes_on_while_every_worker_is_busy(root: Path) -> None:
    bench = Bench()
    settings = Settings(heartbeat=0.05, tool_workers=1)
    async with (
        fake_gateway() as gateway,
        running_ide(root, gateway.url, dialect="analyze", bench=bench, settings=settings) as running,
    ):
        peer = await gateway.peer()
        await peer.send({"type": "TOOL_CALL", "data": {"callId": "a", "toolName": "wait", "params": {}}})
        await running.told.until(CallBegun)
        for _ in range(3):
            ping = await peer.receive()
            assert ping["type"] == "PING"
            assert isinstance(ping["data"]["timestamp"], int)


async def test_it_connects_again_and_sends_what_it_could_not_send(root: Path) -> None:
    bench = Bench()
    async with fake_gateway() as gateway, running_ide(root, gateway.url, bench=bench) as running:
        first = await gateway.peer()
        await first.send(call("c1", "mark", note="once"))
        await running.told.until(CallBegun)
        first.drop()
        await running.told.until(Disconnected)
        bench.gate.set()
        second = await gateway.peer()
        assert second.query["ledger"] == first.query["ledger"]
        assert await second.receive() == {
            "type": "tool_result",
            "call_id": "c1",
            "result": {"content": "**once**", "note": "once"},
        }


async def test_a_call_sent_again_while_it_runs_is_run_once_and_answered_once(root: Path) -> None:
    bench = Bench()
    async with fake_gateway() as gateway, running_ide(root, gateway.url, bench=bench) as running:
        first = await gateway.peer()
        await first.send(call("c1", "mark", note="once"))
        await running.told.until(CallBegun)
        first.drop()
        second = await gateway.peer()
        await second.send(call("c1", "mark", note="once"))
        await second.send(call("c2", "read_file", path="main.py"))
        assert (await second.receive())["call_id"] == "c2"
        bench.gate.set()
        assert (await second.receive())["call_id"] == "c1"
        await second.send(call("c3", "wait"))
        assert [message["call_id"] for message in await second.silent_until("c3")] == ["c3"]
        assert bench.runs.count("mark once") == 1


async def test_a_call_sent_again_after_its_answer_is_answered_from_the_ledger(root: Path) -> None:
    bench = Bench()
    bench.gate.set()
    async with fake_gateway() as gateway, running_ide(root, gateway.url, bench=bench) as running:
        first = await gateway.peer()
        await first.send(call("c1", "mark", note="once"))
        answer = await first.receive()
        first.drop()
        second = await gateway.peer()
        await second.send(call("c1", "mark", note="once"))
        assert await second.receive() == answer
        assert bench.runs == ["mark once"]
        assert running.told.of(CallAnswered)[-1].replayed


async def test_an_answer_that_waited_is_not_sent_twice_when_the_gateway_asks_again(root: Path) -> None:
    bench = Bench()
    async with AsyncExitStack() as held:
        async with fake_gateway() as gateway:
            running = await held.enter_async_context(running_ide(root, gateway.url, bench=bench))
            first = await gateway.peer()
            await first.send(call("c1", "mark", note="once"))
            await running.told.until(CallBegun)
        await running.told.until(Disconnected)
        bench.gate.set()
        await running.told.until(CallAnswered)
        gateway = await held.enter_async_context(fake_gateway(gateway.port))
        second = await gateway.peer()
        assert (await second.receive())["call_id"] == "c1"
        await second.send(call("c1", "mark", note="once"))  # as our gateway does on attaching
        await second.send(call("c2", "wait"))
        assert [message["call_id"] for message in await second.silent_until("c2")] == ["c2"]


async def test_an_answer_that_still_waits_to_be_sent_is_underway(root: Path) -> None:
    async with fake_gateway() as gateway:
        url = gateway.url
    async with running_ide(root, url) as running:
        running.ide.client.post(b"{}", "c1")
        assert running.ide.client.underway("c1")
        assert not running.ide.client.underway("c2")


async def test_the_ledger_holds_across_two_runs_of_the_ide(root: Path) -> None:
    bench = Bench()
    bench.gate.set()
    async with fake_gateway() as gateway:
        for _ in range(2):
            async with running_ide(root, gateway.url, bench=bench):
                peer = await gateway.peer()
                await peer.send(call("c1", "mark", note="once"))
                assert (await peer.receive())["result"]["note"] == "once"
    assert bench.runs == ["mark once"]


GARBLED: list[str | bytes] = [
    "",
    "not json",
    "[1, 2]",
    "null",
    "{}",
    '{"type": 7}',
    '{"type": "something new", "data": 1}',
    '{"type": "tool_call"}',
    '{"type": "tool_call", "call_id": "x", "tool_name": "wait", "arguments": [1]}',
    '{"type": "tool_call", "call_id": 5, "tool_name": "wait", "arguments": {}}',
    '{"type": "assistant_message", "token": null}',
    b"\xff\xfe binary",
]


@pytest.mark.parametrize("dialect", ["gateway", "agent_chat", "analyze"])
async def test_messages_that_make_no_sense_are_told_and_change_nothing(root: Path, dialect: str) -> None:
    async with fake_gateway() as gateway, running_ide(root, gateway.url, dialect=dialect) as running:  # type: ignore[arg-type]
        peer = await gateway.peer()
        for message in GARBLED:
            await peer.send(message)
        tagged = {"call_id": "c1", "callId": "c1", "toolCallId": "c1"}
        tools = {"tool_name": "read_file", "toolName": "read_file", "arguments": {"path": "main.py"}}
        kind = "tool_call" if dialect == "gateway" else "TOOL_CALL"
        await peer.send({"type": kind, **tagged, **tools, "params": {"path": "main.py"}})
        assert "c1" in json.dumps(await peer.receive())
        assert len(running.told.of(Warned)) >= 6
        assert len(running.told.of(Connected)) == 1


async def test_the_cursor_of_the_last_message_is_where_it_goes_on(root: Path) -> None:
    async with fake_gateway() as gateway, running_ide(root, gateway.url, cursor="0") as running:
        first = await gateway.peer()
        assert first.query["last_event"] == "0"
        await first.send({"type": "assistant_message", "token": "a", "is_final": True, "seq": "e1.7"})
        await running.told.until(Heard)
        first.drop()
        assert (await gateway.peer()).query["last_event"] == "e1.7"


async def test_without_a_cursor_none_is_asked_for(root: Path) -> None:
    async with fake_gateway() as gateway, running_ide(root, gateway.url):
        assert "last_event" not in (await gateway.peer()).query


async def test_a_gateway_that_is_not_there_yet_is_waited_for(root: Path) -> None:
    async with fake_gateway() as gateway:
        port = gateway.port
    async with running_ide(root, f"ws://127.0.0.1:{port}") as running:
        await running.told.until(Disconnected, 2)
        async with fake_gateway(port) as gateway:
            peer = await gateway.peer()
            await peer.send(call("c1", "read_file", path="main.py"))
            assert (await peer.receive())["call_id"] == "c1"


async def test_it_gives_up_after_so_many_attempts_if_told_to(root: Path) -> None:
    async with fake_gateway() as gateway:
        port = gateway.port
    async with running_ide(root, f"ws://127.0.0.1:{port}", attempts=2) as running:
        with pytest.raises(ToolwireError, match="no gateway at"):
            await running.ended()


async def test_a_gateway_that_refuses_it_is_not_asked_again(root: Path) -> None:
    async with fake_gateway() as gateway, running_ide(root, gateway.url) as running:
        peer = await gateway.peer()
        await peer.send({"type": "error", "content": "no such project: demo"})
        await peer.socket.close(1008, "PROJECT_NOT_FOUND")
        with pytest.raises(HandshakeRefused, match=r"PROJECT_NOT_FOUND: no such project"):
            await running.ended()


async def test_stopping_answers_what_runs_and_closes_cleanly(root: Path) -> None:
    bench = Bench()
    async with fake_gateway() as gateway, running_ide(root, gateway.url, bench=bench) as running:
        peer = await gateway.peer()
        await peer.send(call("c1", "mark", note="last"))
        await running.told.until(CallBegun)
        running.ide.stop()
        bench.gate.set()
        assert (await peer.receive())["call_id"] == "c1"
        assert await peer.closed() == 1000
        await running.ended()


async def test_stopping_does_not_wait_for_a_gateway_that_never_answers(root: Path) -> None:
    met = asyncio.Event()

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.set()
        await asyncio.sleep(PATIENCE)
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with running_ide(root, f"ws://127.0.0.1:{port}", settings=Settings(open_timeout=60.0)) as running:
        await met.wait()
        running.ide.stop()
        await running.ended()
    server.close()


async def test_stopping_twice_closes_at_once(root: Path) -> None:
    bench = Bench()
    settings = Settings(shutdown_grace=5.0)
    async with fake_gateway() as gateway, running_ide(root, gateway.url, bench=bench, settings=settings) as running:
        peer = await gateway.peer()
        await peer.send(call("c1", "mark", note="stuck"))
        await bench.entered(1)
        running.ide.stop()
        running.ide.stop()
        assert await peer.closed() == 1000
        assert not bench.gate.is_set()
        bench.gate.set()


async def test_a_result_too_large_for_a_message_is_a_failure_that_says_so(root: Path) -> None:
    settings = Settings(message_limit=300, reconnect_first=0.01)
    (root / "long.txt").write_text("x" * 1000)
    async with fake_gateway() as gateway, running_ide(root, gateway.url, settings=settings):
        peer = await gateway.peer()
        await peer.send(call("c1", "read_file", path="long.txt"))
        assert "at most 300" in (await peer.receive())["error"]


async def test_more_calls_than_it_may_run_are_refused_at_once(root: Path) -> None:
    bench = Bench()
    settings = Settings(calls_limit=2)
    async with fake_gateway() as gateway, running_ide(root, gateway.url, bench=bench, settings=settings):
        peer = await gateway.peer()
        for number in range(3):
            await peer.send(call(f"c{number}"))
        answer = await peer.receive()
        assert answer["call_id"] == "c2"
        assert "was not run" in answer["error"]


async def test_the_token_goes_into_a_header_and_never_into_the_url(root: Path) -> None:
    async with fake_gateway() as gateway, running_ide(root, gateway.url, token="s3cret-s3cret-s3cret"):
        peer = await gateway.peer()
        assert peer.headers["Authorization"] == "Bearer s3cret-s3cret-s3cret"
        assert "s3cret" not in str(peer.query)


async def test_the_transport_limit_is_16_mib(root: Path) -> None:
    async with fake_gateway() as gateway, running_ide(root, gateway.url, settings=QUICK):
        peer = await gateway.peer()
        await peer.send('{"type":"assistant_message","token":"' + "a" * (12 * 1024 * 1024) + '","is_final":true}')
        await peer.send(call("c1", "read_file", path="main.py"))
        assert (await peer.receive())["call_id"] == "c1"
