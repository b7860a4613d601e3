"""Turns and sessions over time: stop, queue, override, resume, idle, tokens, shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from support.patience import PATIENCE
from support.running import Peer, running, script, steps
from toolwire.settings import Settings

ANALYZE = "/ws/analyze?sessionId=ws-1&projectKey=demo&projectPath=/p"
CHAT = "/ws/agent/chat?sessionId=c-1&projectKey=demo"
WAIT = {"call": [{"tool": "read_file", "arguments": {"path": "x"}}]}
SECRET = "a-secret-of-enough-length"


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    path = tmp_path / "tokens"
    path.write_text(SECRET + "\n")
    return path


async def chat(peer: Peer, message: str) -> None:
    await peer.send({"type": "AGENT_CHAT", "data": {"message": message}})


async def test_stop_cancels_the_turn_then_says_stopped(tmp_path: Path) -> None:
    async with running(tmp_path, agent=script(tmp_path, steps(WAIT))) as gateway:
        plugin = await gateway.connect(CHAT)
        await chat(plugin, "go")
        await plugin.receive_until("TOOL_CALL")
        await plugin.send({"type": "STOP", "data": {}})
        cancelled, stopped = await plugin.receive(), await plugin.receive()
        assert (cancelled["type"], cancelled["data"]["status"]) == ("AGENT_RESPONSE", "CANCELLED")
        assert stopped == {"type": "STOPPED", "data": {"sessionId": "c-1"}}
        await plugin.send({"type": "STOP", "data": {}})
        assert await plugin.receive() == stopped


async def test_a_second_chat_waits_for_the_first(tmp_path: Path) -> None:
    agent = script(tmp_path, {"match": "one", "steps": [WAIT, {"say": ["1"]}]}, steps({"say": ["2"]}))
    async with running(tmp_path, agent=agent) as gateway:
        plugin = await gateway.connect(CHAT)
        await chat(plugin, "one")
        await chat(plugin, "two")
        call = (await plugin.receive_until("TOOL_CALL"))[-1]
        await plugin.send(
            {"type": "TOOL_RESULT", "data": {"toolCallId": call["toolCallId"], "success": True, "result": ""}}
        )
        pieces = [(await plugin.receive_until("STREAMING_CONTENT"))[-1]["data"]["content"] for _ in range(2)]
        assert pieces == ["1", "2"]


async def test_a_second_analysis_overrides_the_first_and_each_has_one_end(tmp_path: Path) -> None:
    agent = script(tmp_path, {"match": "one", "steps": [WAIT]}, steps({"say": ["2"]}))
    async with running(tmp_path, agent=agent) as gateway:
        plugin = await gateway.connect(ANALYZE)
        await plugin.send({"type": "ANALYZE", "data": {"requestId": "r-1", "message": "one"}})
        await plugin.receive_until("TOOL_CALL")
        await plugin.send({"type": "ANALYZE", "data": {"requestId": "r-2", "message": "two"}})
        error, complete = await plugin.receive(), await plugin.receive()
        assert error["type"] == "ERROR"
        assert (error["data"]["code"], error["data"]["requestId"]) == ("REQUEST_OVERRIDDEN", "r-1")
        assert (complete["type"], complete["data"]["requestId"]) == ("COMPLETE", "r-2")


async def test_an_analysis_that_takes_too_long_ends_with_analysis_timeout(tmp_path: Path) -> None:
    settings = Settings(turn_timeout=0.3)
    async with running(tmp_path, agent=script(tmp_path, steps(WAIT)), settings=settings) as gateway:
        plugin = await gateway.connect(ANALYZE)
        await plugin.send({"type": "ANALYZE", "data": {"message": "one"}})
        error = (await plugin.receive_until("ERROR"))[-1]
        assert error["data"]["code"] == "ANALYSIS_TIMEOUT"


async def test_an_agent_that_fails_ends_the_analysis_with_analysis_failed(tmp_path: Path) -> None:
    async with running(tmp_path, agent=script(tmp_path, steps({"fail": "坏了"}))) as gateway:
        plugin = await gateway.connect(ANALYZE)
        await plugin.send({"type": "ANALYZE", "data": {"message": "one"}})
        error = (await plugin.receive_until("ERROR"))[-1]
        assert error["data"]["code"] == "ANALYSIS_FAILED"
        assert "坏了" in error["data"]["message"]


async def test_a_silent_client_of_document_2_is_closed_with_1001(tmp_path: Path) -> None:
    async with running(tmp_path, settings=Settings(idle_timeout=0.4)) as gateway:
        plugin = await gateway.connect(ANALYZE)
        assert await plugin.closed() == 1001


async def test_a_reader_resumes_where_it_left_off(tmp_path: Path) -> None:
    agent = script(tmp_path, steps({"say": ["a", "b", "c"]}))
    async with running(tmp_path, agent=agent) as gateway:
        first = await gateway.connect("/ws/resume?last_event=0")
        await first.send({"type": "user_message", "content": "go"})
        seen = [await first.receive() for _ in range(3)]
        assert all(isinstance(message["seq"], str) for message in seen)
        await first.close()
        again = await gateway.connect(f"/ws/resume?last_event={seen[0]['seq']}")
        assert [await again.receive() for _ in range(2)] == seen[1:]
        whole = await gateway.connect("/ws/resume?last_event=0")
        assert [await whole.receive() for _ in range(3)] == seen


@pytest.mark.parametrize("cursor", ["nonsense", "ffff.1", "0.0.0"])
async def test_a_cursor_of_another_log_is_told_to_be_lost(tmp_path: Path, cursor: str) -> None:
    async with running(tmp_path) as gateway:
        reader = await gateway.connect(f"/ws/lost?last_event={cursor}")
        assert (await reader.receive())["type"] == "error"


async def test_answered_calls_are_not_sent_again_to_a_client_that_resumes(tmp_path: Path) -> None:
    agent = script(tmp_path, steps(WAIT, {"say": ["done"]}))
    async with running(tmp_path, agent=agent) as gateway:
        ide = await gateway.connect("/ws/again?last_event=0")
        await ide.send({"type": "user_message", "content": "go"})
        call = await ide.receive()
        await ide.send({"type": "tool_result", "call_id": call["call_id"], "result": {}})
        done = await ide.receive()
        await ide.close()
        back = await gateway.connect("/ws/again?last_event=0")
        assert await back.receive() == done


async def test_the_history_goes_on_after_a_restart(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    agent = script(tmp_path, steps({"say": ["answer"]}))
    for _ in range(2):
        async with running(tmp_path, agent=agent, store=store) as gateway:
            ide = await gateway.connect("/ws/again")
            await ide.send({"type": "user_message", "content": "question"})
            assert (await ide.receive())["token"] == "answer"
            await ide.close()
    async with running(tmp_path, agent=agent, store=store) as gateway:
        history = await gateway.hub.history("default", "session:again")
        assert [message.text for message in history] == ["question", "answer"] * 2


async def test_a_shutdown_tells_running_turns_and_closes_with_1012(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    async with running(tmp_path, agent=script(tmp_path, steps(WAIT)), store=store) as gateway:
        plugin = await gateway.connect(ANALYZE)
        await plugin.send({"type": "ANALYZE", "data": {"message": "one"}})
        await plugin.receive_until("TOOL_CALL")
    assert (await plugin.receive())["type"] == "ERROR"
    assert await plugin.closed() == 1012
    async with running(tmp_path, store=store) as gateway:
        assert await gateway.hub.store.unfinished() == []


async def test_a_wrong_token_is_refused_before_the_upgrade(tmp_path: Path, tokens: Path) -> None:
    async with running(tmp_path, token_file=tokens) as gateway:
        for path, headers in (
            ("/ws/x", {}),
            ("/ws/x", {"Authorization": "Bearer wrong"}),
            (CHAT, {"Authorization": "Bearer wrong"}),
        ):
            with pytest.raises(InvalidStatus) as refused:
                await gateway.connect(path, additional_headers=headers)
            assert refused.value.response.status_code == 401
        assert await gateway.connect("/ws/x", additional_headers={"Authorization": f"Bearer {SECRET}"})
        peer = await gateway.connect("/ws/x", subprotocols=["bearer", SECRET])
        assert peer.socket.subprotocol == "bearer"


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Host": "evil.example"}])
async def test_a_foreign_origin_or_host_is_refused_before_the_upgrade(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    async with running(tmp_path) as gateway:
        if "Host" in headers:
            async with httpx.AsyncClient(trust_env=False) as client:
                answer = await client.get(f"{gateway.http}/api/about", headers=headers)
                assert answer.status_code == 403
            return
        with pytest.raises(InvalidStatus) as refused:
            await gateway.connect("/ws/x", additional_headers=headers)
        assert refused.value.response.status_code == 403


async def test_connect_authenticates_a_connection_opened_without_a_token(tmp_path: Path, tokens: Path) -> None:
    async with running(tmp_path, token_file=tokens) as gateway:
        plugin = await gateway.connect(ANALYZE)
        await plugin.send({"type": "PING", "data": {"timestamp": 1}})
        assert (await plugin.receive())["type"] == "PONG"
        await plugin.send({"type": "ANALYZE", "data": {"message": "x"}})
        assert (await plugin.receive())["type"] == "ERROR"
        await plugin.send({"type": "CONNECT", "data": {"token": "wrong"}})
        assert (await plugin.receive())["type"] == "ERROR"
        await plugin.send({"type": "CONNECT", "data": {"token": SECRET}})
        assert (await plugin.receive())["type"] == "CONNECTED"


async def test_a_connection_that_never_authenticates_is_closed_with_1008(tmp_path: Path, tokens: Path) -> None:
    async with running(tmp_path, token_file=tokens, settings=Settings(auth_timeout=0.3)) as gateway:
        plugin = await gateway.connect(ANALYZE)
        assert await plugin.closed() == 1008


async def test_a_reader_that_stops_reading_is_cut_with_1013_and_others_go_on(tmp_path: Path) -> None:
    flood = {"match": "flood", "steps": [{"say": ["x" * 4096] * 4000}]}
    agent = script(tmp_path, flood, steps({"say": ["ok"]}))
    settings = Settings(slow_reader_grace=0.5)
    async with running(tmp_path, agent=agent, settings=settings) as gateway:
        stuck = await gateway.connect("/ws/stuck", max_queue=1)
        await stuck.send({"type": "user_message", "content": "flood"})
        other = await gateway.connect("/ws/other")
        await other.send({"type": "user_message", "content": "hi"})
        assert (await other.receive())["token"] == "ok"
        async with asyncio.timeout(PATIENCE):
            cut = next(each.outbox for each in gateway.hub.connections if each.dialect.session == "stuck")
            while not cut.closed:  # noqa: ASYNC110 (nothing of the gateway tells a test about this)
                await asyncio.sleep(0.05)
        with contextlib.suppress(ConnectionClosed):
            while await stuck.receive():
                pass
        assert stuck.socket.close_code == 1013


async def get(gateway: Any, path: str, **more: Any) -> httpx.Response:
    async with httpx.AsyncClient(base_url=gateway.http, trust_env=False) as client:
        return await client.get(path, **more)


async def test_the_log_of_a_session_can_be_read_and_followed_over_http(tmp_path: Path) -> None:
    async with running(tmp_path, agent=script(tmp_path, steps({"say": ["a"]}))) as gateway:
        ide = await gateway.connect("/ws/http")
        await ide.send({"type": "user_message", "content": "q"})
        await ide.receive()
        listed = (await get(gateway, "/api/sessions")).json()["sessions"]
        assert [session["name"] for session in listed] == ["http"]
        page = (await get(gateway, "/api/sessions/http/events")).json()
        kinds = [event["kind"] for event in page["events"]]
        assert kinds[:2] == ["turn_asked", "turn_started"]
        async with httpx.AsyncClient(base_url=gateway.http, trust_env=False) as client:
            headers = {"Accept": "text/event-stream", "Last-Event-ID": f"{page['epoch']}.2"}
            async with client.stream("GET", "/api/sessions/http/events", headers=headers) as stream:
                lines = stream.aiter_lines()
                first = await anext(lines)
                assert first == f"id: {page['epoch']}.3"
                assert json.loads((await anext(lines)).removeprefix("data: "))["seq"] == 3
        for beyond in ("-1", "x", str(2**63), "9" * 30):
            assert (await get(gateway, f"/api/sessions/http/events?after={beyond}")).status_code == 400
        missing = await get(gateway, "/api/sessions/nobody/events")
        assert (missing.status_code, missing.json()["code"]) == (404, "SESSION_NOT_FOUND")


@pytest.mark.parametrize("name", ["team/shop", "x/events", "a%b", "..", "你好?"])
async def test_a_session_of_any_name_can_be_read_and_stopped_over_http(tmp_path: Path, name: str) -> None:
    async with running(tmp_path, agent=script(tmp_path, steps({"say": ["a"]}))) as gateway:
        place = quote(name, safe="").replace(".", "%2E")
        ide = await gateway.connect(f"/ws/{place}")
        await ide.send({"type": "user_message", "content": "q"})
        await ide.receive()
        page = await get(gateway, f"/api/sessions/{place}/events")
        assert page.json()["events"][0]["prompt"] == "q"
        async with httpx.AsyncClient(base_url=gateway.http, trust_env=False) as client:
            assert (await client.post(f"/api/sessions/{place}/stop")).status_code == 200
        await ide.close()


async def test_stop_over_http_ends_the_running_turn(tmp_path: Path) -> None:
    async with running(tmp_path, agent=script(tmp_path, steps(WAIT))) as gateway:
        ide = await gateway.connect("/ws/stop")
        await ide.send({"type": "user_message", "content": "q"})
        await ide.receive()
        async with httpx.AsyncClient(base_url=gateway.http, trust_env=False) as client:
            assert (await client.post("/api/sessions/stop/stop")).json() == {"stopped": True}
            assert (await client.post("/api/sessions/stop/stop")).json() == {"stopped": False}
        assert (await ide.receive())["type"] == "error"


@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/metrics", "/openapi.json", "/asyncapi.json", "/api/about", "/"]
)
async def test_the_plain_routes_answer(tmp_path: Path, path: str) -> None:
    async with running(tmp_path) as gateway:
        answer = await get(gateway, path)
        assert answer.status_code == 200
        assert answer.content


async def test_head_is_get_without_the_body(tmp_path: Path) -> None:
    async with (
        running(tmp_path) as gateway,
        httpx.AsyncClient(base_url=gateway.http, trust_env=False, timeout=PATIENCE) as client,
    ):
        for path in ("/healthz", "/openapi.json", "/"):
            whole, head = await client.get(path), await client.head(path)
            assert (head.status_code, head.content) == (200, b"")
            assert head.headers["content-length"] == str(len(whole.content))
        assert (await client.head("/api/nowhere")).status_code == 404
        assert (await client.head("/api/sessions/s/edits")).status_code == 405
