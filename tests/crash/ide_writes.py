"""A write in an IDE's folder, how to have it made, and what must have come of it: asked of a gateway over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import connect

from crash.ide_serving import TOOL
from support.patience import PATIENCE
from support.running import steps
from toolwire.dialects.base import DialectName
from toolwire.tools.textfile import content_hash

DIALECTS: tuple[DialectName, ...] = ("agent_chat", "analyze", "gateway")
BEFORE, AFTER = "one\n", "one one\n"
"""Made twice, the change would show."""
WRITE = {"path": "a.txt", "old_string": "one", "new_string": "one one"}
TURN = steps(
    {"call": [{"tool": "read_file", "arguments": {"path": "a.txt"}}]},
    {"call": [{"tool": TOOL, "arguments": WRITE}]},
)
PROMPT = '{"type":"user_message","content":"go"}'


def folders(tmp_path: Path) -> Path:
    """The IDE's own folder, which is given; the gateway has another, in which nothing may happen."""
    for name in ("project", "gateway"):
        (tmp_path / name).mkdir()
    (tmp_path / "project" / "a.txt").write_text(BEFORE)
    return tmp_path / "project"


@asynccontextmanager
async def http_of(port: int) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, trust_env=False) as http:
        yield http


async def prompt(port: int) -> None:
    async with connect(f"ws://127.0.0.1:{port}/ws/s1?watch=1", proxy=None) as watcher:
        await watcher.send(PROMPT)
        # Heard, and not to be cancelled with the connection: the turn's own.
        async with asyncio.timeout(PATIENCE):
            while json.loads(await watcher.recv())["type"] != "tool_call":
                pass


async def edit_of(http: httpx.AsyncClient) -> dict[str, Any]:
    """The one edit of the session, as soon as it has its outcome."""
    async with asyncio.timeout(PATIENCE), http.stream("GET", "/api/sessions/s1/edits") as stream:
        async for line in stream.aiter_lines():
            edit: dict[str, Any] = json.loads(line)
            return edit
    raise AssertionError("the stream has ended")


async def ended(http: httpx.AsyncClient) -> list[dict[str, Any]]:
    """The session's events, once its turn is over."""
    events: list[dict[str, Any]] = []
    headers = {"Accept": "text/event-stream"}
    async with asyncio.timeout(PATIENCE), http.stream("GET", "/api/sessions/s1/events", headers=headers) as stream:
        async for line in stream.aiter_lines():
            if line.startswith("data: "):
                events.append(json.loads(line.removeprefix("data: ")))
                if events[-1]["kind"] == "turn_ended":
                    return events
    raise AssertionError("the stream has ended")


def check_once(project: Path, edit: dict[str, Any], events: list[dict[str, Any]]) -> None:
    assert (project / "a.txt").read_text() == AFTER
    assert list(project.parent.joinpath("gateway").iterdir()) == []
    assert edit["tool_name"] == TOOL
    assert edit["data"]["structuredPatch"][0]["lines"][:2] == ["-one", "+one one"]
    assert sum(event["kind"] == "call_requested" and event["tool"] == TOOL for event in events) == 1
    (outcome,) = [event for event in events if event["kind"] == "call_settled" and event["tool"] == TOOL]
    assert outcome["outcome"] == "ok", outcome
    fields = outcome.get("details") or outcome["result"]
    assert fields["hash_before"] == content_hash(BEFORE.encode())
    assert fields["hash_after"] == content_hash(AFTER.encode())
