"""The peers we are measured against, each a bare server in a process of its own.

python benchmarks/peers.py echo|sends PORT           picows alone, on uvloop
python benchmarks/peers.py fastmcp PORT              a FastMCP tool over HTTP
"""

from __future__ import annotations

import asyncio
import sys

import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, WSUpgradeRequest, ws_create_server

PIECE = b'{"type":"assistant_message","token":"piece of text ","is_final":false}'
PIECES = 20_000


class Echo(WSListener):
    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.CLOSE:
            transport.disconnect()
        else:
            transport.send(frame.msg_type, frame.get_payload_as_bytes())


class Sends(WSListener):
    """Sends a fixed number of pieces in a plain loop, waiting only when the transport asks to."""

    def on_ws_connected(self, transport: WSTransport) -> None:
        self._may_write = asyncio.Event()
        self._may_write.set()

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.CLOSE:
            transport.disconnect()
        else:
            self._task = asyncio.create_task(self._send(transport))

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    async def _send(self, transport: WSTransport) -> None:
        for _ in range(PIECES):
            transport.send(WSMsgType.TEXT, PIECE)
            if not self._may_write.is_set():
                await self._may_write.wait()


async def serve(kind: type[WSListener], port: int) -> None:
    def listen(_: WSUpgradeRequest) -> WSListener:
        return kind()

    server = await ws_create_server(listen, "127.0.0.1", port)
    print("ready", flush=True)
    await server.serve_forever()


def fastmcp(port: int) -> None:
    from fastmcp import FastMCP

    mcp: FastMCP[None] = FastMCP("peer")

    @mcp.tool
    def read_file(path: str) -> str:
        return "x" * 120

    print("ready", flush=True)
    mcp.run(transport="http", host="127.0.0.1", port=port, show_banner=False, log_level="error", stateless_http=True)


if __name__ == "__main__":
    name, port = sys.argv[1], int(sys.argv[2])
    if name == "fastmcp":
        fastmcp(port)
    else:
        uvloop.run(serve({"echo": Echo, "sends": Sends}[name], port))
