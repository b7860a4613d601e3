"""`toolwire serve` as the long runs use it, and the logs it leaves."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from support.patience import PATIENCE
from toolwire.core.events import AnyEvent
from toolwire.store import open_store


class Gateway:
    """`toolwire serve` in a process of its own, started again whenever it is killed."""

    def __init__(self, folder: Path, script: dict[str, Any]) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        (folder / "script.json").write_text(json.dumps(script))
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with (self.folder / "gateway.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(
                    sys.executable,
                    "-m",
                    "toolwire",
                    "serve",
                    "--port",
                    str(self.port),
                    "--project",
                    f"demo={self.folder}",
                ),
                *("--agent", f"script:{self.folder}/script.json", "--store", f"sqlite:///{self.folder}/store.db"),
                stdout=log,
                stderr=asyncio.subprocess.STDOUT,
                env={**os.environ, "XDG_STATE_HOME": str(self.folder / "state")},
            )

    async def answers(self) -> None:
        """Wait until it is ready."""
        async with asyncio.timeout(PATIENCE), httpx.AsyncClient(trust_env=False) as http:
            while True:
                with suppress(httpx.TransportError):
                    if (await http.get(f"http://127.0.0.1:{self.port}/readyz")).is_success:
                        return
                await asyncio.sleep(0.1)

    async def kill(self, number: int = signal.SIGKILL) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)
            await self._process.wait()


async def logs(folder: Path) -> dict[str, tuple[str, list[AnyEvent]]]:
    store = open_store(f"sqlite:///{folder}/store.db")
    await store.start()
    try:
        found = {}
        for summary in await store.sessions(limit=1000):
            record = await store.find_session(summary.tenant, summary.name)
            assert record is not None
            events: list[AnyEvent] = []
            while page := await store.read(record.number, after=len(events)):
                events += page
            found[summary.name] = (record.epoch, events)
        return found
    finally:
        await store.close()
