"""The long run of writes: IDEs of all three dialects and their gateway are killed over and over, while an agent and
programs have files changed. What counts is what is on disk: every change there once for each outcome that says so.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from soak.serving import Gateway, logs
from support.patience import PATIENCE
from toolwire.core.events import AnyEvent, CallRequested, CallSettled
from toolwire.dialects.base import DialectName

pytestmark = pytest.mark.soak

SECONDS = float(os.environ.get("TOOLWIRE_SOAK_SECONDS", "60"))
DIALECTS: tuple[DialectName, ...] = ("agent_chat", "analyze", "gateway")
CALL_PATH = "/agent/flash/tools/call"
AGENT = "by the agent"
END = "END\n"


def change(line: str, file: str) -> dict[str, Any]:
    """A line more. Made twice, it would be there twice."""
    return {"relativePath": file, "searchContent": END, "replaceContent": f"{line}\n{END}"}


SCRIPT: dict[str, Any] = {
    "turns": [
        {
            "steps": [
                {"call": [{"tool": "read_file", "arguments": {"path": "agent.txt"}}]},
                {"call": [{"tool": "apply_change", "arguments": change(AGENT, "agent.txt")}]},
                {"call": [{"tool": "apply_change", "arguments": change(AGENT, "agent.txt")}]},
                {"say": ["done"]},
            ]
        }
    ]
}


@dataclass
class Ide:
    """`toolwire ide` on a folder of its own, and what was asked of it."""

    folder: Path
    dialect: DialectName
    port: int
    said: dict[str, bool] = field(default_factory=dict)
    """A program's line → whether the outcome says that it was written."""
    _process: asyncio.subprocess.Process | None = None

    def __post_init__(self) -> None:
        self.folder.mkdir()
        for name in ("agent.txt", "program.txt"):
            (self.folder / name).write_text(END)

    @property
    def session(self) -> str:
        return f"soak-{self.dialect}"

    async def start(self) -> None:
        where = ("--url", f"ws://127.0.0.1:{self.port}", "--dialect", self.dialect, "--session", self.session)
        with (self.folder.parent / f"{self.dialect}.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "toolwire", "ide", str(self.folder), *where, "--project", "demo"),
                *("--set", "reconnect_first=0.1", "--set", "reconnect_most=0.5"),
                stdout=log,
                stderr=asyncio.subprocess.STDOUT,
                env={**os.environ, "XDG_STATE_HOME": str(self.folder.parent / f"state-{self.dialect}")},
            )

    async def answers(self) -> None:
        """Wait until it is connected: only here is such a file."""
        envelope = {"trace_id": "t", "session_id": self.session, "tool_id": "read_file"}
        body = {**envelope, "arguments": {"path": "agent.txt"}}
        async with asyncio.timeout(PATIENCE), httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
            while True:
                with suppress(httpx.TransportError):
                    if (await http.post(f"http://127.0.0.1:{self.port}{CALL_PATH}", json=body)).json()["ok"]:
                        return
                await asyncio.sleep(0.1)

    async def kill(self, number: int = signal.SIGKILL) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)
            await self._process.wait()

    def lines(self, name: str) -> Counter[str]:
        text = (self.folder / name).read_text()
        assert text.endswith(END)
        return Counter(text.removesuffix(END).splitlines())


async def killing(what: Ide | Gateway, until: float, dice: random.Random) -> None:
    while time.monotonic() < until:
        if dice.random() < 0.8:  # else it may be killed while it starts
            await what.answers()
        await asyncio.sleep(dice.uniform(0.2, 5))
        await what.kill()
        await what.start()


async def prompting(ide: Ide, until: float) -> None:
    """One question after the other."""
    while time.monotonic() < until:
        with suppress(OSError, WebSocketException, TimeoutError):
            url = f"ws://127.0.0.1:{ide.port}/ws/{ide.session}?watch=1"
            async with connect(url, compression=None, proxy=None, open_timeout=5) as peer:
                while time.monotonic() < until:
                    await peer.send('{"type":"user_message","content":"go"}')
                    async with asyncio.timeout(30):
                        while json.loads(await peer.recv())["type"] != "turn_ended":
                            pass
        await asyncio.sleep(0.05)


async def calling(ide: Ide, until: float) -> None:
    """A program that sends each write under its key until it has an outcome, whatever is killed meanwhile."""
    limits = httpx.Timeout(PATIENCE)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{ide.port}", timeout=limits, trust_env=False) as http:
        number = 0
        while time.monotonic() < until:
            number += 1
            line = f"line {number}"
            ide.said[line] = await outcome(http, ide, line)


async def outcome(http: httpx.AsyncClient, ide: Ide, line: str) -> bool:
    envelope = {
        "trace_id": line,
        "session_id": ide.session,
        "tool_id": "apply_change",
        "idempotency_key": f"{ide.session} {line}",
        "arguments": change(line, "program.txt"),
    }
    async with asyncio.timeout(3 * PATIENCE):
        while True:
            with suppress(httpx.TransportError):
                response = (await http.post(CALL_PATH, json=envelope)).json()
                if response["ok"]:
                    return True
                if response["code"] != "TIMEOUT":
                    assert not response["error"].get("indeterminate"), response
                    return False
            await asyncio.sleep(0.05)


async def at_rest(port: int) -> None:
    """Wait until every session has its outcomes."""
    url = f"http://127.0.0.1:{port}/api/sessions"
    async with asyncio.timeout(3 * PATIENCE), httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
        while True:
            sessions = (await http.get(url)).json()["sessions"]
            if not any(session["open"] for session in sessions):
                return
            await asyncio.sleep(0.2)


def check(ide: Ide, events: list[AnyEvent]) -> None:
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    asked = {event.call_id: event for event in events if isinstance(event, CallRequested)}
    settled = [event for event in events if isinstance(event, CallSettled)]
    assert Counter(event.call_id for event in settled) == Counter(list(asked))
    writes = [event for event in settled if event.tool == "apply_change"]
    assert Counter(event.outcome for event in writes).keys() <= {"ok", "failed"}
    by_agent = [event for event in writes if event.turn]
    assert ide.lines("agent.txt") == Counter({AGENT: sum(event.outcome == "ok" for event in by_agent)})
    assert ide.lines("program.txt") == Counter(line for line, written in ide.said.items() if written)


async def test_every_write_of_an_ide_happens_once_whoever_is_killed(tmp_path: Path) -> None:
    (tmp_path / "gateway").mkdir()
    gateway = Gateway(tmp_path / "gateway", SCRIPT)
    ides = [Ide(tmp_path / f"ide-{dialect}", dialect, gateway.port) for dialect in DIALECTS]
    try:
        await gateway.start()
        await gateway.answers()
        for ide in ides:
            await ide.start()
        await keep_killing(gateway, ides, random.Random(str(tmp_path)))
    finally:
        processes: list[Ide | Gateway] = [*ides, gateway]
        for process in processes:
            await process.kill(signal.SIGTERM)
    found = await logs(tmp_path / "gateway")
    for ide in ides:
        check(ide, found[ide.session][1])
        assert sum(ide.said.values()) > 0


async def keep_killing(gateway: Gateway, ides: list[Ide], dice: random.Random) -> None:
    until = time.monotonic() + SECONDS
    async with asyncio.TaskGroup() as group:
        for ide in ides:
            group.create_task(prompting(ide, until))
            group.create_task(calling(ide, until))
            group.create_task(killing(ide, until, dice))
        group.create_task(killing(gateway, until, dice))
    await gateway.answers()
    await at_rest(gateway.port)
