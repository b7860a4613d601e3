"""A gateway of a few lines: real sockets, and a test that says what goes over them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from support.patience import PATIENCE


class Peer:
    """One connection of a client."""

    def __init__(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        self.socket = socket
        self.path = urlsplit(socket.request.path).path
        self.query = {name: values[-1] for name, values in parse_qs(urlsplit(socket.request.path).query).items()}
        self.headers = socket.request.headers

    async def send(self, message: dict[str, Any] | str | bytes) -> None:
        await self.socket.send(json.dumps(message) if isinstance(message, dict) else message)

    async def receive(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            message = json.loads(await self.socket.recv())
        assert isinstance(message, dict)
        return message

    async def silent_until(self, marker: str) -> list[dict[str, Any]]:
        """Everything received up to the answer of the call `marker`."""
        heard = []
        while True:
            heard.append(await self.receive())
            if marker in json.dumps(heard[-1]):
                return heard

    def drop(self) -> None:
        """As when a cable is pulled: no closing handshake."""
        self.socket.transport.abort()

    async def closed(self) -> int | None:
        async with asyncio.timeout(PATIENCE):
            await self.socket.wait_closed()
        return self.socket.close_code


class FakeGateway:
    def __init__(self, server: Server) -> None:
        self._server = server
        self.peers: asyncio.Queue[Peer] = asyncio.Queue()
        self.port: int = server.sockets[0].getsockname()[1]
        self.url = f"ws://127.0.0.1:{self.port}"

    async def peer(self) -> Peer:
        """The next client that connects."""
        async with asyncio.timeout(PATIENCE):
            return await self.peers.get()


@asynccontextmanager
async def fake_gateway(port: int = 0) -> AsyncIterator[FakeGateway]:
    gateway: FakeGateway

    async def meet(socket: ServerConnection) -> None:
        gateway.peers.put_nowait(Peer(socket))
        with suppress(ConnectionClosed):
            await socket.wait_closed()

    async with serve(meet, "127.0.0.1", port, compression=None, max_size=32 * 1024 * 1024) as server:
        gateway = FakeGateway(server)
        yield gateway
