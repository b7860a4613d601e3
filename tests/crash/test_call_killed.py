"""kill -9 at every step of a write of document 3, restart, send again: never two effects, never a lost one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from crash.serving import PLACES, counter, gateway
from support.patience import PATIENCE
from support.running import running


@asynccontextmanager
async def restarted(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    """The next gateway on the same store, in this process."""
    async with running(folder / "demo", store=f"sqlite:///{folder}/store.db") as again:
        again.hub.calls.catalogue.add(counter(folder))
        async with httpx.AsyncClient(base_url=again.http, timeout=PATIENCE, trust_env=False) as client:
            yield client


async def call(client: httpx.AsyncClient, **envelope: Any) -> dict[str, Any]:
    answer = await client.post("/agent/flash/tools/call", json={"trace_id": "tr", "idempotency_key": "k", **envelope})
    response: dict[str, Any] = answer.json()
    return response


async def killed(folder: Path, place: str, **envelope: Any) -> None:
    with gateway(folder, place) as client, pytest.raises(httpx.TransportError):
        await call(client, **envelope)


EDIT = {
    "tool_id": "apply_change",
    "arguments": {"path": "a.txt", "searchContent": "one", "replaceContent": "one one"},
}
"""Made twice, it would show."""


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.parametrize("place", PLACES)
async def test_an_edit_cut_at_any_step_happens_once(tmp_path: Path, place: str) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "a.txt").write_text("one\n")
    await killed(tmp_path, place, **EDIT)
    async with restarted(tmp_path) as client:
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
    async with restarted(tmp_path) as client:
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
    async with restarted(tmp_path) as client:
        await call(client, **EDIT)
        events = (await client.get("/api/sessions/calls/events")).json()["events"]
    assert [event["kind"] for event in events] == ["call_requested", "call_settled"]
    assert events[1]["trace"] == "tr"


ROW = {"tool_id": "flash.app.create", "arguments": {"name": "Leave", "app_type": "flash"}}
DRAFT = {"tool_id": "flash.draft.write", "arguments": {"content": "<template/>"}}
TOGETHER = ["before the claim is committed", "before the outcome is committed", "after the outcome is committed"]


@pytest.mark.parametrize("place", TOGETHER)
async def test_a_write_of_one_transaction_is_there_whole_or_not_at_all_and_once(tmp_path: Path, place: str) -> None:
    await killed(tmp_path, place, **ROW)
    async with restarted(tmp_path) as client:
        before = (await client.get("/api/apps")).json()
        first = await call(client, **ROW)
        second = await call(client, **ROW)
        after = (await client.get("/api/apps")).json()
        events = (await client.get("/api/sessions/calls/events")).json()["events"]
    assert len(before) == (1 if place.startswith("after") else 0)
    assert first["ok"], first
    assert second["meta"]["idempotent_replay"] is True
    assert len(after) == 1
    settled = [event for event in events if event["kind"] == "call_settled" and event["tool"] == ROW["tool_id"]]
    assert [event["outcome"] for event in settled].count("ok") == 1


@pytest.mark.parametrize("place", TOGETHER)
async def test_a_draft_cut_at_any_step_is_saved_once(tmp_path: Path, place: str) -> None:
    await killed(tmp_path, place, **DRAFT)
    async with restarted(tmp_path) as client:
        saved = await call(client, **DRAFT)
        draft = (await client.get("/agent/flash/draft")).json()
        history = await call(client, tool_id="flash.draft.history", arguments={})
    assert saved["ok"]
    assert draft["content"] == "<template/>"
    assert len(history["data"]["versions"]) == 1
