"""The head of a request, as clients really send it, and as nobody should: over the wire, answered with a status."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.patience import PATIENCE
from support.running import Running, running
from toolwire.settings import Settings

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
"""The pair of RFC 6455, 1.3."""
HANDSHAKE = {
    "Host": "127.0.0.1",
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": KEY,
    "Sec-WebSocket-Version": "13",
}


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path, settings=Settings(http_head_timeout=0.2)) as gateway:
        yield gateway


def request(path: str = "/ws/x", version: str = "1.1", extra: str = "", **headers: str) -> bytes:
    given = HANDSHAKE | {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return f"GET {path} HTTP/{version}\r\n{lines}{extra}\r\n".encode()


async def answer(gateway: Running, sent: bytes) -> bytes:
    """The head of what comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    try:
        writer.write(sent)
        async with asyncio.timeout(PATIENCE):
            return await reader.readuntil(b"\r\n\r\n")
    finally:
        writer.close()


@pytest.mark.parametrize("words", ["Upgrade", "upgrade", "keep-alive, Upgrade", "Upgrade , keep-alive"])
async def test_upgrade_may_be_one_of_several_words_as_firefox_sends_it(gateway: Running, words: str) -> None:
    head = await answer(gateway, request(Connection=words))
    assert head.startswith(b"HTTP/1.1 101 ")
    assert ACCEPT in head


async def test_a_message_sent_right_behind_the_handshake_is_heard(gateway: Running) -> None:
    message = b"nonsense"
    frame = bytes((0x81, 0x80 | len(message))) + bytes(4) + message
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(request() + frame)
    async with asyncio.timeout(PATIENCE):
        await reader.readuntil(b"\r\n\r\n")
        assert b"INVALID_REQUEST" in await reader.readuntil(b"}")
    writer.close()


async def test_the_cookies_of_a_whole_host_do_not_keep_a_page_from_connecting(gateway: Running) -> None:
    head = await answer(gateway, request(Cookie="name=value; " * 4000))
    assert head.startswith(b"HTTP/1.1 101 ")


async def test_another_version_of_the_protocol_is_told_which_one_is_spoken(gateway: Running) -> None:
    head = await answer(gateway, request(Sec_WebSocket_Version="8"))
    assert head.startswith(b"HTTP/1.1 426 ")
    assert b"sec-websocket-version: 13\r\n" in head


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (request(version="1.0"), 400),
        (request(extra="Host: evil.example\r\n"), 400),
        (request(path="/healthz", extra="Host: 127.0.0.1\r\n"), 400),
        (request(X_Large="x" * 20_000), 431),
        (request(path="/ws/" + "a" * 60_000), 431),
        (request(X_Large="x" * 70_000), 431),
        (b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Large: " + b"x" * 300_000, 431),
        (b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"A: b\r\n" * 30_000, 431),
        (b"GET /healthz HTTP/1.1\r\nHost: 127", 408),
        (b"", 408),
        (b"\x00" * 100, 400),
    ],
    ids=range(11),
)
async def test_a_head_that_does_not_fit_is_refused_with_its_status(
    gateway: Running, sent: bytes, status: int
) -> None:
    assert (await answer(gateway, sent)).startswith(b"HTTP/1.1 %d " % status)


async def test_a_request_that_came_whole_is_not_timed(tmp_path: Path) -> None:
    async with running(tmp_path, settings=Settings(http_head_timeout=0.1)) as gateway:
        peer = await gateway.connect("/ws/quiet")
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        for _ in range(3):  # on one connection: each head has its own time
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            async with asyncio.timeout(PATIENCE):
                assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
                await reader.readuntil(b"}")
        writer.close()
        assert await answer(gateway, b"") != b""  # so the time of a head has passed
        pong = await peer.socket.ping()
        await asyncio.wait_for(pong, PATIENCE)
        await peer.close()
