"""What carries the messages: picows inside uvicorn, a thousand quiet sessions, clients nobody here wrote."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from oracles.npm import installed
from support.command_line import command_line
from support.patience import PATIENCE
from support.running import running, script, steps
from toolwire.server.websocket import PicowsWire

DIALOGUE = steps(
    {"say": ["a", "b"]}, {"call": [{"tool": "read_file", "arguments": {"path": "x"}}]}, {"say": ["{{1}}"]}
)
PROMPT = '{"type":"user_message","content":"go"}'


async def test_a_socket_of_the_gateway_is_carried_by_picows(tmp_path: Path) -> None:
    async with running(tmp_path, agent=script(tmp_path, DIALOGUE)) as gateway:
        peer = await gateway.connect("/ws/picows")
        await peer.send({"type": "error", "content": "hello"})
        await (await peer.socket.ping())
        assert [type(each._wire) for each in gateway.hub.connections] == [PicowsWire]
        await peer.close()


async def test_no_compression_is_negotiated(tmp_path: Path) -> None:
    async with running(tmp_path) as gateway:
        offered = {"Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits"}
        peer = await gateway.connect("/ws/plain", additional_headers=offered)
        assert peer.socket.response is not None
        assert "Sec-WebSocket-Extensions" not in peer.socket.response.headers


async def test_a_thousand_idle_sessions_each_answer_a_ping(tmp_path: Path) -> None:
    async with running(tmp_path) as gateway:
        peers = [await gateway.connect(f"/ws/idle-{number}") for number in range(1000)]
        async with asyncio.timeout(PATIENCE):
            pongs = [await peer.socket.ping() for peer in peers]
            await asyncio.gather(*pongs)
        assert len(gateway.hub.connections) == 1000
        await asyncio.gather(*(peer.close() for peer in peers))


EXPECTED = ["assistant_message", "assistant_message", "tool_call"]


async def test_the_websockets_command_line_gets_the_dialogue(tmp_path: Path) -> None:
    agent = script(tmp_path, DIALOGUE)
    async with running(tmp_path, agent=agent) as gateway, command_line(gateway.ws("/ws/cli")) as client:
        await client.type({"type": "user_message", "content": "go"})
        assert [(await client.shows())["type"] for _ in EXPECTED] == EXPECTED


async def test_wscat_gets_the_dialogue(tmp_path: Path) -> None:
    wscat = str(installed("wscat", "6") / "bin" / "wscat")
    async with (
        running(tmp_path, agent=script(tmp_path, DIALOGUE)) as gateway,
        command_line("node", wscat, "-c", gateway.ws("/ws/wscat"), "-x", PROMPT, "-w", "20") as client,
    ):
        assert [(await client.shows())["type"] for _ in EXPECTED] == EXPECTED


@pytest.mark.parametrize(
    "request_line", [b"GARBAGE\r\n\r\n", b"GET /ws/x HTTP/1.1\r\n\r\n", b"\x00" * 64 + b"\r\n\r\n"]
)
async def test_garbage_on_the_port_is_refused_and_others_notice_nothing(tmp_path: Path, request_line: bytes) -> None:
    async with running(tmp_path, agent=script(tmp_path, DIALOGUE)) as gateway:
        other = await gateway.connect("/ws/other")
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writer.write(request_line)
        await writer.drain()
        async with asyncio.timeout(PATIENCE):
            answer = await reader.read(200)
        assert b"HTTP/1.1 400" in answer or b"HTTP/1.1 403" in answer
        writer.close()
        await other.send({"type": "user_message", "content": "go"})
        assert (await other.receive())["token"] == "a"
