"""Requests of document 2 seen from a plugin: each has one end, and its calls carry its own project path."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from support.running import Peer, Running, running, script, steps
from toolwire.core.events import TurnAsked
from toolwire.server import tokens
from toolwire.server.tokens import Token

CALLING = steps({"call": [{"tool": "read_class", "arguments": {"className": "A"}}]}, {"say": ["{{1}}"]})


async def plugin(gateway: Running, **more: str) -> tuple[Peer, str]:
    """A connected plugin, and the request of its connection."""
    query = {"sessionId": "ws-1", "projectKey": "demo", "projectPath": "/Users/xxx/project"} | more
    peer = await gateway.connect("/ws/analyze?" + urlencode(query))
    return peer, (await peer.receive())["data"]["requestId"]


def analyze(**data: Any) -> dict[str, Any]:
    return {"type": "ANALYZE", "data": data}


async def answer(peer: Peer, call: dict[str, Any]) -> None:
    await peer.send(
        {"type": "TOOL_RESULT", "data": {"callId": call["data"]["callId"], "success": True, "result": "r"}}
    )


@pytest.mark.parametrize("names_it", [False, True])
async def test_a_message_that_does_not_fit_does_not_end_the_request_that_runs(tmp_path: Path, names_it: bool) -> None:
    async with running(tmp_path, agent=script(tmp_path, CALLING)) as gateway:
        peer, request = await plugin(gateway)
        await peer.send(analyze(message="go"))
        call = await peer.receive()
        named = {"requestId": request} if names_it else {}
        await peer.send(analyze(message=5, **named))
        refused = await peer.receive()
        assert (refused["data"]["code"], refused["data"]["requestId"]) == ("INVALID_REQUEST", "")
        await answer(peer, call)
        ended = await peer.receive()
        assert (ended["type"], ended["data"]["requestId"]) == ("COMPLETE", request)
        await peer.close()


async def test_a_message_that_does_not_fit_ends_the_request_it_would_have_begun(tmp_path: Path) -> None:
    async with running(tmp_path, agent=script(tmp_path, CALLING)) as gateway:
        peer, request = await plugin(gateway)
        await peer.send(analyze(message=5))
        await peer.send(analyze(message=5, requestId="another"))
        assert [(await peer.receive())["data"]["requestId"] for _ in range(2)] == [request, "another"]
        await peer.close()


async def test_a_request_about_a_project_the_gateway_does_not_have_ends_with_project_not_found(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, agent=script(tmp_path, CALLING)) as gateway:
        peer, _ = await plugin(gateway, tools="server")
        await peer.send(analyze(message="go", requestId="req-123", projectKey="nowhere"))
        ended = (await peer.receive())["data"]
        assert (ended["requestId"], ended["code"]) == ("req-123", "PROJECT_NOT_FOUND")
        assert ended["message"].startswith("项目路径不存在: nowhere")
        assert "projectKey" in ended["details"]
        await peer.close()


async def test_calls_carry_the_path_of_their_request_else_that_of_the_connection(tmp_path: Path) -> None:
    async with running(tmp_path, agent=script(tmp_path, CALLING)) as gateway:
        peer, _ = await plugin(gateway)
        paths = []
        for given in ({"projectPath": "/Users/xxx/other"}, {}, {"projectPath": None}, {"projectPath": ""}):
            await peer.send(analyze(message="go", **given))
            call = await peer.receive()
            paths.append(call["data"]["projectPath"])
            await answer(peer, call)
            assert (await peer.receive())["type"] == "COMPLETE"
        assert paths == ["/Users/xxx/other"] + ["/Users/xxx/project"] * 3
        await peer.close()


@pytest.mark.parametrize("path", ["a\nb", "/" * 5000])
async def test_a_path_that_can_be_none_is_refused_by_name(tmp_path: Path, path: str) -> None:
    async with running(tmp_path, agent=script(tmp_path, CALLING)) as gateway:
        peer, _ = await plugin(gateway)
        await peer.send(analyze(message="go", projectPath=path))
        assert list((await peer.receive())["data"]["details"]) == ["data.projectPath"]
        await peer.close()


@pytest.mark.parametrize("ping", [{"type": "PING"}, {"type": "PING", "data": {"timestamp": None}}])
async def test_a_heartbeat_without_a_time_is_answered_with_the_gateways(tmp_path: Path, ping: dict[str, Any]) -> None:
    async with running(tmp_path, agent=script(tmp_path, CALLING)) as gateway:
        peer, _ = await plugin(gateway)
        await peer.send(ping)
        pong = await peer.receive()
        assert pong["type"] == "PONG"
        assert isinstance(pong["data"]["timestamp"], int)
        await peer.close()


async def test_a_request_is_gone_on_with_by_its_own_caller_alone(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    secrets = {name: tokens.fresh() for name in ("alice", "bob")}
    for name, secret in secrets.items():
        tokens.add(file, Token(tokens.hash_of(secret), name, role="editor"))
    agent = script(tmp_path, steps({"say": ["ok"]}))
    async with running(tmp_path, agent=agent, token_file=file) as gateway:
        for name in ("alice", "bob", "alice"):
            headers = {"Authorization": f"Bearer {secrets[name]}"}
            path = "/ws/analyze?sessionId=shared&projectKey=demo&projectPath=/p&requestId=req-1"
            peer = await gateway.connect(path, additional_headers=headers)
            assert (await peer.receive())["type"] == "CONNECTED"
            await peer.send(analyze(message=f"{name} asks"))
            assert (await peer.receive())["data"]["requestId"] == "req-1"
            await peer.close()
        async with gateway.hub.visit("default", "shared") as live:
            events = await gateway.hub.store.read(live.record.number, after=0, limit=100)
        asked = {event.prompt: event.conversation for event in events if isinstance(event, TurnAsked)}
        assert len(asked) == 2
        told = [await gateway.hub.history("default", conversation) for conversation in asked.values()]
        assert [{one.text for one in each if one.role == "user"} for each in told] == [{"alice asks"}, {"bob asks"}]
