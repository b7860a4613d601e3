"""Nonsense from a peer: a clear error in its own dialect, the connection lives on, nobody else notices."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from support.running import Peer, Running, running, script, steps
from toolwire.settings import MIB, Settings

ANALYZE = "/ws/analyze?sessionId=ws-1&projectKey=demo&projectPath=/p"
CHAT = "/ws/agent/chat?sessionId=c-1&projectKey=demo"
GATEWAY = "/ws/g-1"
PATHS = [ANALYZE, CHAT, GATEWAY]


def text_of(error: dict[str, Any]) -> str:
    """What an error says, in any dialect."""
    assert error["type"] in ("ERROR", "error")
    return json.dumps(error, ensure_ascii=False)


async def opened(gateway: Running, path: str) -> Peer:
    peer = await gateway.connect(path)
    if "?sessionId=" in path:
        assert (await peer.receive())["type"] == "CONNECTED"
    return peer


async def still_works(peer: Peer, path: str) -> None:
    if path == GATEWAY:
        await peer.send({"type": "user_message", "content": "hi"})
        assert (await peer.receive())["token"] == "ok"
    else:
        await peer.send({"type": "PING", "data": {"timestamp": 7}})
        assert await peer.receive() == {"type": "PONG", "data": {"timestamp": 7}}


@pytest.fixture
def agent(tmp_path: Path) -> str:
    return script(tmp_path, steps({"say": ["ok"]}))


NONSENSE: list[Any] = [
    "not json",
    "",
    "[]",
    "null",
    '"text"',
    "{}",
    '{"type": 5}',
    '{"type": "no_such_type"}',
    '{"type": "user_message", "content": 5}',
    '{"type": "user_message", "content": "a", "content": "b"}',
    '{"type": "user_message", "content": NaN}',
    '{"type": "user_message", "content": "\\ud800"}',
    '{"type": "user_message", "content": "x", "role": "king"}',
    '{"type": "tool_result", "call_id": "x"}',
    '{"type": "tool_result", "call_id": "x", "result": {}, "error": "both"}',
    '{"type": "ANALYZE", "data": {"message": 5}}',
    '{"type": "ANALYZE", "data": "text"}',
    '{"type": "ANALYZE"}',
    '{"type": "TOOL_RESULT", "data": {"success": "yes"}}',
    '{"type": "AGENT_CHAT", "data": {}}',
    '{"type": "AGENT_CHAT", "data": {"message": "x", "mode": "god"}}',
    "[" * 100,
    '{"a":' * 70 + "1" + "}" * 70,
    b"\x00\x01binary",
    b'{"type":"user_message","content":"binary"}',
]


@pytest.mark.parametrize("path", PATHS)
async def test_nonsense_is_answered_with_an_error_and_the_connection_lives(
    tmp_path: Path, agent: str, path: str, embedded: bool
) -> None:
    async with running(tmp_path, agent=agent, embedded=embedded) as gateway:
        peer = await opened(gateway, path)
        for nonsense in NONSENSE:
            await peer.send_raw(nonsense)
            assert len(text_of(await peer.receive())) > 20, nonsense
        await still_works(peer, path)
        await peer.close()


@pytest.mark.parametrize(
    ("path", "message", "field"),
    [
        (ANALYZE, {"type": "ANALYZE", "data": {"message": 5}}, "data.message"),
        (CHAT, {"type": "AGENT_CHAT", "data": {"message": "x", "mode": "god"}}, "data.mode"),
        (GATEWAY, {"type": "user_message", "content": "x", "role": "king"}, "role"),
        (GATEWAY, {"type": "tool_result", "result": {}}, "call_id"),
    ],
)
async def test_an_error_names_the_field_at_fault(
    tmp_path: Path, agent: str, path: str, message: dict[str, Any], field: str, embedded: bool
) -> None:
    async with running(tmp_path, agent=agent, embedded=embedded) as gateway:
        peer = await opened(gateway, path)
        await peer.send(message)
        assert field in text_of(await peer.receive())


def sized(path: str, size: int) -> str:
    """A valid message of exactly so many bytes."""
    if path == GATEWAY:
        frame = '{"type":"error","content":"%s"}'
    else:
        frame = '{"type":"PING","data":{"timestamp":1,"filler":"%s"}}'
    return frame % ("x" * (size - len(frame) + 2))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("fragmented", [False, True])
async def test_ten_mebibytes_are_taken_and_one_byte_more_is_refused(
    tmp_path: Path, agent: str, path: str, fragmented: bool, embedded: bool
) -> None:
    async with running(tmp_path, agent=agent, embedded=embedded) as gateway:
        peer = await opened(gateway, path)
        for size, fits in ((10 * MIB, True), (10 * MIB + 1, False)):
            message = sized(path, size)
            third = size // 3
            parts = [message[:third], message[third : 2 * third], message[2 * third :]]
            await peer.send_raw(parts if fragmented else message)
            if not fits:
                assert "MESSAGE_TOO_LARGE" in text_of(await peer.receive())
            elif path != GATEWAY:
                assert (await peer.receive())["type"] == "PONG"
        await still_works(peer, path)
        await peer.close()


@pytest.mark.parametrize("fragmented", [False, True])
async def test_beyond_the_transports_limit_the_connection_is_closed_with_1009(
    tmp_path: Path, agent: str, fragmented: bool, embedded: bool
) -> None:
    async with running(tmp_path, agent=agent, embedded=embedded) as gateway:
        other = await opened(gateway, "/ws/other")
        peer = await opened(gateway, GATEWAY)
        part = "x" * (9 * MIB)
        with contextlib.suppress(ConnectionClosed):  # closed while we are still sending
            await peer.send_raw([part, part] if fragmented else part + part)
        assert await peer.closed() == 1009
        await still_works(other, GATEWAY)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/ws/analyze?projectKey=a&projectPath=/p", "sessionId"),
        ("/ws/analyze?sessionId=a&projectPath=/p", "projectKey"),
        ("/ws/analyze?sessionId=a&projectKey=a", "projectPath"),
        ("/ws/agent/chat?projectKey=a", "sessionId"),
        ("/ws/agent/chat?sessionId=a", "projectKey"),
        ("/ws/x?tools=moon", "tools"),
        ("/ws/agent", "session"),
        ("/ws/x?tools=server&projectKey=nowhere", "nowhere"),
        ("/ws/agent/chat?sessionId=a&projectKey=nowhere&tools=server", "nowhere"),
        ("/ws/%FF", "session_id"),
        ("/ws/%ED%A0%80", "session_id"),
        ("/ws/", "session_id is missing in the path"),
        ("/ws/x?projectKey=%FF", "projectKey"),
        ("/ws/x?ledger=%FF", "ledger"),
        ("/ws/x?ledger=" + "l" * 300, "ledger"),
        ("/ws/x?watch=perhaps", "watch"),
        ("/ws/analyze?sessionId=%C3%28&projectKey=a&projectPath=/p", "sessionId"),
    ],
)
async def test_a_bad_handshake_is_accepted_told_why_and_closed_with_1008(
    tmp_path: Path, agent: str, path: str, field: str, embedded: bool
) -> None:
    async with running(tmp_path, agent=agent, embedded=embedded) as gateway:
        peer = await gateway.connect(path)
        assert field in text_of(await peer.receive())
        assert await peer.closed() == 1008


@pytest.mark.parametrize("path", ["/ws/a/b", "/ws/analyze/", "/ws/agent/", "/ws/agent/chat/", "/ws//x"])
async def test_a_path_of_no_document_is_refused_with_404_and_not_taken_for_a_session(
    tmp_path: Path, path: str, embedded: bool
) -> None:
    async with running(tmp_path, embedded=embedded) as gateway:
        with pytest.raises(InvalidStatus) as refused:
            await gateway.connect(path + "?sessionId=a&projectKey=demo&projectPath=/p")
        assert refused.value.response.status_code == 404


@pytest.mark.parametrize("name", ["a/b", "a%b", "a%2Fb", "100%25", "你好", "a b", "a?b#c"])
async def test_a_session_is_called_what_its_path_says_decoded_once(tmp_path: Path, name: str, embedded: bool) -> None:
    async with running(tmp_path, embedded=embedded) as gateway:
        peer = await gateway.connect("/ws/" + quote(name, safe=""))
        await peer.send_raw("nonsense")
        await peer.receive()
        assert [each.dialect.session for each in gateway.hub.connections] == [name]
        await peer.close()


async def test_too_many_prompts_are_refused_and_the_ones_before_are_kept(tmp_path: Path, embedded: bool) -> None:
    agent = script(tmp_path, steps({"call": [{"tool": "read_file", "arguments": {}}]}, {"say": ["done"]}))
    async with running(tmp_path, agent=agent, settings=Settings(queue_limit=2), embedded=embedded) as gateway:
        ide = await gateway.connect(GATEWAY)
        for _ in range(4):
            await ide.send({"type": "user_message", "content": "go"})
        first = [await ide.receive(), await ide.receive()]
        assert sorted(message["type"] for message in first) == ["error", "tool_call"]
        call = next(message for message in first if message["type"] == "tool_call")
        for left in (2, 1, 0):
            await ide.send({"type": "tool_result", "call_id": call["call_id"], "result": {}})
            assert (await ide.receive())["token"] == "done"
            if left:
                call = await ide.receive()
                assert call["type"] == "tool_call"
