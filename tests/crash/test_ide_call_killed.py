"""kill -9 of the gateway at every step of a write that a program has an IDE make (document 3): it happens once, and
the record under the idempotency key agrees with the log.
"""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect

from crash import ide_serving
from crash.ide_serving import PROGRAM_PLACES, TOOL, free_port
from crash.ide_writes import AFTER, DIALECTS, WRITE, check_once, edit_of, folders, http_of
from ide.running_ide import Running as RunningIde
from ide.running_ide import running_ide
from support.patience import PATIENCE
from toolwire.dialects.base import DialectName
from toolwire.ide.happenings import Connected
from toolwire.tools.textfile import content_hash


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state-home"))
    return folders(tmp_path)


async def call(http: httpx.AsyncClient, tool: str = TOOL, **arguments: Any) -> dict[str, Any]:
    envelope = {"trace_id": "tr", "session_id": "s1", "tool_id": tool, "arguments": arguments}
    answer = await http.post("/agent/flash/tools/call", json={**envelope, "idempotency_key": "k"})
    response: dict[str, Any] = answer.json()
    return response


async def attached(http: httpx.AsyncClient, ide: RunningIde, times: int) -> None:
    """Wait until the gateway has the IDE run tools: only the IDE has that file."""
    await ide.told.until(Connected, times)
    async with asyncio.timeout(PATIENCE):
        while not (await call(http, "read_file", path="a.txt"))["ok"]:
            pass


@pytest.mark.parametrize(("place", "dialect"), list(zip(PROGRAM_PLACES, itertools.cycle(DIALECTS))))
async def test_a_programs_write_in_an_ide_cut_at_any_step_happens_once(
    project: Path, dialect: DialectName, place: str
) -> None:
    folder, port = project.parent, free_port()
    async with running_ide(project, f"ws://127.0.0.1:{port}", dialect=dialect) as ide, http_of(port) as http:
        with ide_serving.gateway(folder, port, "local", place) as first:
            await attached(http, ide, 1)
            with pytest.raises(httpx.TransportError):
                await call(http, **WRITE)
            await first.died()
        with ide_serving.gateway(folder, port, "local"):
            async with http_of(port) as again:
                await attached(again, ide, 2)
                told = [await call(again, **WRITE) for _ in range(2)]
                edit = await edit_of(again)
                events = (await again.get("/api/sessions/s1/events")).json()["events"]
    assert [answer["ok"] for answer in told] == [True, True], told
    assert told[1]["meta"]["idempotent_replay"] is True
    assert told[0]["data"] == told[1]["data"]
    assert told[0]["data"]["hash_after"] == content_hash(AFTER.encode())
    check_once(project, edit, events)


async def test_a_write_of_a_client_without_a_ledger_stays_indeterminate_for_everybody(tmp_path: Path) -> None:
    port = free_port()
    url = f"ws://127.0.0.1:{port}/ws/s1"
    with ide_serving.gateway(tmp_path, port, "local", "after the call is sent") as first:
        async with connect(url, proxy=None), http_of(port) as http:
            with pytest.raises(httpx.TransportError):
                await call(http, **WRITE)
            await first.died()
    with ide_serving.gateway(tmp_path, port, "local"):
        async with connect(url, proxy=None), http_of(port) as http:
            told = [await call(http, **WRITE) for _ in range(2)]
            events = (await http.get("/api/sessions/s1/events")).json()["events"]
    assert [answer["code"] for answer in told] == ["INTERNAL_ERROR", "INTERNAL_ERROR"]
    assert all(answer["error"]["indeterminate"] for answer in told)
    assert [event["outcome"] for event in events if event["kind"] == "call_settled"] == ["indeterminate"]
