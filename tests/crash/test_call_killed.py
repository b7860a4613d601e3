"""kill -9 at every step of a write of document 3, restart, send again: never two effects, never a lost one."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from crash.serving import PLACES

PATIENCE = 30.0
SERVING = Path(__file__).with_name("serving.py")


@asynccontextmanager
async def gateway(folder: Path, place: str = "") -> AsyncIterator[httpx.AsyncClient]:
    """A gateway in a process of its own, as a client of it."""
    (folder / "demo").mkdir(exist_ok=True)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(SERVING), str(folder), place),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONPATH": str(SERVING.parents[1])},
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            port = int(await process.stdout.readline())
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, trust_env=False) as client:
            yield client
    finally:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        await process.wait()


async def call(client: httpx.AsyncClient, **envelope: Any) -> dict[str, Any]:
    answer = await client.post("/agent/flash/tools/call", json={"trace_id": "tr", "idempotency_key": "k", **envelope})
    response: dict[str, Any] = answer.json()
    return response


async def killed(folder: Path, place: str, **envelope: Any) -> None:
    async with gateway(folder, place) as client:
        with pytest.raises(httpx.TransportError):
            await call(client, **envelope)


EDIT = {"tool_id": "apply_change", "arguments": {"path": "a.txt", "searchContent": "one", "replaceContent": "one one"}}
"""Made twice, it would show."""


@pytest.mark.parametrize("place", PLACES)
async def test_an_edit_cut_at_any_step_happens_once(tmp_path: Path, place: str) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "a.txt").write_text("one\n")
    await killed(tmp_path, place, **EDIT)
    async with gateway(tmp_path) as client:
        first = await call(client, **EDIT)
        second = await call(client, **EDIT)
    assert first["ok"], first
    assert second["ok"]
    assert second["meta"]["idempotent_replay"] is True
    assert second["data"] == first["data"]
    assert (tmp_path / "demo" / "a.txt").read_text() == "one one\n"


@pytest.mark.parametrize("place", ["before the claim is committed", "after the request is stored", "after the claim"])
async def test_an_effect_without_a_content_hash_is_run_or_reported_as_indeterminate(
    tmp_path: Path, place: str
) -> None:
    await killed(tmp_path, place, tool_id="test.count")
    async with gateway(tmp_path) as client:
        first = await call(client, tool_id="test.count")
        second = await call(client, tool_id="test.count")
    counted = (tmp_path / "counted").read_text() if (tmp_path / "counted").exists() else ""
    if place == "before the claim is committed":
        assert (first["ok"], counted) == (True, "x")
    else:
        assert first["code"] == "INTERNAL_ERROR"
        assert first["error"]["indeterminate"] is True
        assert second["error"] == first["error"]
        assert counted == ""


async def test_an_outcome_that_was_committed_is_in_the_log_after_a_restart(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "a.txt").write_text("one\n")
    await killed(tmp_path, "after the file is written", **EDIT)
    async with gateway(tmp_path) as client:
        await call(client, **EDIT)
        events = (await client.get("/api/sessions/calls/events")).json()["events"]
    assert [event["kind"] for event in events] == ["call_requested", "call_settled"]
    assert events[1]["trace"] == "tr"
