"""The same sockets as an ASGI endpoint, for embedding a gateway in another app. Slower than picows, same contract."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import quote

from toolwire.server.gateway import enter, knock
from toolwire.server.hub import Hub
from toolwire.server.security import Refused

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

HIGH_WATER = 64
"""Messages handed to the server and not taken yet before the outbox is told to wait."""


class AsgiWire:
    """Implements `outbox.Wire`: a task sends what is written, and pauses the outbox while it is behind."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._queue: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()
        self.pause: Callable[[], None] = _nothing
        self.resume: Callable[[], None] = _nothing
        self.closing = asyncio.Event()
        self.reading = asyncio.Event()
        self.reading.set()

    def write(self, messages: list[bytes]) -> None:
        for message in messages:
            self._queue.put_nowait({"type": "websocket.send", "text": message.decode()})
        if self._queue.qsize() >= HIGH_WATER:
            self.pause()

    def ping(self) -> None:
        """The server below pings by itself."""

    def pause_reading(self) -> None:
        self.reading.clear()

    def resume_reading(self) -> None:
        self.reading.set()

    def close(self, code: int, reason: str) -> None:
        if not self.closing.is_set():
            self.closing.set()
            self._queue.put_nowait({"type": "websocket.close", "code": code, "reason": reason[:120]})

    async def run(self) -> None:
        """Send until closed."""
        while True:
            message = await self._queue.get()
            await self._send(message)
            if message["type"] == "websocket.close":
                return
            if self._queue.qsize() < HIGH_WATER // 2:
                self.resume()


class WebSocketEndpoint:
    """ASGI app for `websocket` scopes: `app.add_websocket_route` or a mount."""

    def __init__(self, hub_of: Callable[[], Hub]) -> None:
        self._hub_of = hub_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        hub = self._hub_of()
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        await receive()  # websocket.connect
        raw = scope.get("raw_path") or quote(scope["path"]).encode()
        path = raw.decode("latin-1").removeprefix(scope.get("root_path", ""))
        answer = knock(
            hub,
            path,
            scope["query_string"].decode("latin-1"),
            lambda name: ", ".join(headers[name]) if name in headers else None,
        )
        if isinstance(answer, Refused):
            await _refuse(scope, send, answer)
            return
        extra = [(name.lower().encode(), value.encode()) for name, value in answer.headers.items()]
        await send({"type": "websocket.accept", "subprotocol": answer.subprotocol, "headers": extra})
        wire = AsgiWire(send)
        sender = asyncio.create_task(wire.run())
        try:
            connection = enter(hub, answer, wire)
            if connection is None:
                await sender
                return
            wire.pause, wire.resume = connection.pause_writing, connection.resume_writing
            connection.open()
            try:
                await _pump(hub, connection, wire, sender, receive)
            finally:
                connection.lost()
        finally:
            sender.cancel()


async def _pump(hub: Hub, connection: Any, wire: AsgiWire, sender: asyncio.Task[None], receive: Receive) -> None:
    """Hand messages to the connection until either side has closed."""
    while True:
        incoming = asyncio.ensure_future(_next(wire, receive))
        await asyncio.wait([incoming, sender], return_when=asyncio.FIRST_COMPLETED)
        if not incoming.done():
            incoming.cancel()
            return
        message = incoming.result()
        if message["type"] == "websocket.disconnect":
            return
        text = message.get("text")
        if text is None:
            connection.receive_binary()
            continue
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > hub.settings.message_limit:
            connection.receive_too_large(len(data))
        else:
            connection.receive(data)


async def _next(wire: AsgiWire, receive: Receive) -> MutableMapping[str, Any]:
    await wire.reading.wait()
    return await receive()


async def _refuse(scope: Scope, send: Send, refused: Refused) -> None:
    """Turn the handshake down with its status where the server can, else as a plain refusal (403)."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": refused.reason[:120]})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    if refused.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "websocket.http.response.start", "status": int(refused.status), "headers": headers})
    await send({"type": "websocket.http.response.body", "body": refused.reason.encode()})


def _nothing() -> None:
    return None
