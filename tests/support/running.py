"""A real gateway on a real port, in the test's own process and event loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from websockets.asyncio.client import ClientConnection, connect

from support.patience import PATIENCE
from toolwire.server.app import create_app, listen, make_server
from toolwire.server.config import GatewayConfig
from toolwire.server.hub import Hub
from toolwire.settings import Settings


@dataclass(frozen=True)
class Running:
    """A gateway that answers."""

    app: FastAPI
    port: int

    @property
    def hub(self) -> Hub:
        hub: Hub = self.app.state.gateway.hub
        return hub

    @property
    def http(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ws(self, path: str) -> str:
        return f"ws://127.0.0.1:{self.port}{path}"

    async def connect(self, path: str, **more: Any) -> Peer:
        return Peer(await connect(self.ws(path), compression=None, max_size=None, proxy=None, **more))


class Peer:
    """A client nobody here wrote, with JSON on top."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def send(self, message: dict[str, Any]) -> None:
        await self.socket.send(json.dumps(message, ensure_ascii=False))

    async def send_raw(self, message: Any) -> None:
        await self.socket.send(message)

    async def receive(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            message: dict[str, Any] = json.loads(await self.socket.recv())
            return message

    async def receive_until(self, kind: str) -> list[dict[str, Any]]:
        """Messages up to and including the first of that type."""
        seen: list[dict[str, Any]] = []
        while not seen or seen[-1]["type"] != kind:
            seen.append(await self.receive())
        return seen

    async def closed(self) -> int:
        """Wait for the other side to close; gives the code."""
        async with asyncio.timeout(PATIENCE):
            await self.socket.wait_closed()
        code = self.socket.close_code
        assert code is not None
        return code

    async def close(self) -> None:
        await self.socket.close()


def script(folder: Path, *turns: dict[str, Any]) -> str:
    """A script file for the scripted agent, as `--agent` takes it."""
    path = folder / "script.json"
    path.write_text(json.dumps({"turns": list(turns)}, ensure_ascii=False), encoding="utf-8")
    return f"script:{path}"


@asynccontextmanager
async def running(
    project: Path,
    *,
    agent: str = "local",
    store: str = "memory:",
    settings: Settings | None = None,
    embedded: bool = False,
    **more: Any,
) -> AsyncIterator[Running]:
    """Start a gateway on a free port; it is shut down properly at the end."""
    config = GatewayConfig(
        projects={"demo": project}, port=0, agent=agent, store=store, settings=settings or Settings(), **more
    )
    ports: asyncio.Queue[int] = asyncio.Queue()
    app = create_app(config)
    with closing(listen(config.host, 0)) as listener:
        server = make_server(app, config, ports.put_nowait, embedded=embedded)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            async with asyncio.timeout(PATIENCE):
                port = await ports.get()
            yield Running(app, port)
        finally:
            server.should_exit = True
            await asyncio.wait_for(serving, 3 * PATIENCE)


def steps(*steps: dict[str, Any]) -> dict[str, Sequence[dict[str, Any]]]:
    """A turn that answers any prompt with these steps."""
    return {"steps": list(steps)}
