"""The load, in a process of its own: clients over WebSockets that do one thing as fast as the server lets them.

    python benchmarks/load.py KIND PORT CLIENTS COUNT    prints {"seconds": …, "count": …}

KIND: echo (a message back and forth), calls (answer every tool_call), pieces (read a streamed answer), sends (read
what a bare send loop sends).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable

import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

PAYLOAD = b'{"type":"tool_result","call_id":"%b","result":{"content":"' + b"x" * 120 + b'"}}'
ECHO = b"e" * 260
PROMPT = b'{"type":"user_message","content":"go","role":"user"}'
LIMIT = 120.0


class Client(WSListener):
    """Counts to `count`, then is done."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.CLOSE:
            if not self.done.done():
                self.done.set_exception(ConnectionError(f"closed: {frame.get_close_message()!r}"))
            return
        self.on_message(transport, frame)

    def on_message(self, transport: WSTransport, frame: WSFrame) -> None:
        raise ValueError("a kind of client must say what it does")

    def step(self) -> bool:
        self.count -= 1
        if self.count <= 0 and not self.done.done():
            self.done.set_result(None)
        return self.count > 0


class Echo(Client):
    def on_message(self, transport: WSTransport, frame: WSFrame) -> None:
        if self.step():
            transport.send(WSMsgType.TEXT, ECHO)


class Calls(Client):
    def on_message(self, transport: WSTransport, frame: WSFrame) -> None:
        message = frame.get_payload_as_bytes()
        start = message.find(b'"call_id":"')
        if start < 0:
            return
        start += 11
        transport.send(WSMsgType.TEXT, PAYLOAD % message[start : message.index(b'"', start)])
        self.step()


class Pieces(Client):
    def on_message(self, transport: WSTransport, frame: WSFrame) -> None:
        self.step()


KINDS: dict[str, tuple[type[Client], bytes, str]] = {
    "echo": (Echo, ECHO, "/"),
    "calls": (Calls, PROMPT, "/ws/bench-{run}-{i}"),
    "pieces": (Pieces, PROMPT, "/ws/bench-{run}-{i}"),
    "sends": (Pieces, PROMPT, "/"),
}


async def main(kind: str, port: int, clients: int, count: int) -> dict[str, float]:
    make, first, path = KINDS[kind]
    listeners: list[Client] = []
    transports = []
    for i in range(clients):
        url = f"ws://127.0.0.1:{port}" + path.format(i=i, run=os.getpid())
        factory: Callable[[], Client] = lambda: make(count)  # noqa: E731
        transport, listener = await ws_connect(factory, url)
        transports.append(transport)
        listeners.append(listener)  # type: ignore[arg-type]
    started = time.perf_counter()
    for transport in transports:
        transport.send(WSMsgType.TEXT, first)
    await asyncio.wait_for(asyncio.gather(*(listener.done for listener in listeners)), LIMIT)
    seconds = time.perf_counter() - started
    for transport in transports:
        transport.disconnect()
    return {"seconds": seconds, "count": clients * count}


if __name__ == "__main__":
    kind, port, clients, count = sys.argv[1], *map(int, sys.argv[2:])
    print(json.dumps(uvloop.run(main(kind, port, clients, count))))
