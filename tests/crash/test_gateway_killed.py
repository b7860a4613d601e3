"""kill -9 in the middle of a turn: what was acknowledged is there, the turn has its one end, the session goes on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from support.patience import PATIENCE

SCRIPT: dict[str, Any] = {
    "turns": [
        {"match": "again", "steps": [{"say": ["second answer"]}]},
        {
            "steps": [
                {"say": ["before "]},
                {"call": [{"tool": "their_own_write", "arguments": {}}]},
                {"say": ["after"]},
            ]
        },
    ]
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@asynccontextmanager
async def gateway(folder: Path, port: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """`toolwire serve` in a process of its own, killed at the end if it still lives."""
    (folder / "script.json").write_text(json.dumps(SCRIPT))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "toolwire", "serve", "--port", str(port), "--project", f"demo={folder}"),
        *("--agent", f"script:{folder}/script.json", "--store", f"sqlite:///{folder}/store.db"),
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        await process.wait()


async def opened(url: str) -> ClientConnection:
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(OSError):
                return await connect(url, compression=None, proxy=None)
            await asyncio.sleep(0.05)


async def received(peer: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        message: dict[str, Any] = json.loads(await peer.recv())
        return message


async def test_a_turn_cut_by_kill_9_has_one_end_after_the_restart_and_the_session_goes_on(tmp_path: Path) -> None:
    port = free_port()
    url = f"ws://127.0.0.1:{port}/ws/crash?last_event="
    async with gateway(tmp_path, port) as process:
        ide = await opened(url + "0")
        await ide.send('{"type":"user_message","content":"go"}')
        seen = [await received(ide), await received(ide)]
        assert [message["type"] for message in seen] == ["assistant_message", "tool_call"]
        process.kill()
        await process.wait()
    async with gateway(tmp_path, port):
        back = await opened(url + seen[-1]["seq"])
        told = [await received(back), await received(back)]
        assert [message["type"] for message in told] == ["error", "error"]
        assert "their_own_write" in told[0]["content"]
        assert "restarted" in told[1]["content"]
        await back.send('{"type":"user_message","content":"again"}')
        assert (await received(back))["token"] == "second answer"
        whole = await opened(url + "0")
        replayed = [await received(whole) for _ in range(4)]
        assert [message.get("token", message["type"]) for message in replayed] == [
            "before ",
            "error",
            "error",
            "second answer",
        ]
        await back.close()
        await whole.close()
