"""Document 3 through two gateway processes on one store file: a write happens once, whoever is asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from crash.serving import gateway

CLIENTS = 50
WRITES: dict[str, dict[str, Any]] = {
    "a file of the workspace": {
        "tool_id": "apply_change",
        "arguments": {"path": "a.txt", "searchContent": "one", "replaceContent": "one one"},
    },
    "a row of the store": {"tool_id": "flash.app.create", "arguments": {"name": "Leave", "app_type": "flash"}},
    "a service of its own": {"tool_id": "test.count"},
}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "a.txt").write_text("one\n")
    return tmp_path / "demo"


async def call(client: httpx.AsyncClient, number: int, **envelope: Any) -> dict[str, Any]:
    body = {"trace_id": f"tr-{number}", "idempotency_key": "same", "session_id": "shared", **envelope}
    answer = await client.post("/agent/flash/tools/call", json=body)
    response: dict[str, Any] = answer.json()
    return response


def effects(folder: Path, rows: int) -> int:
    text = (folder / "demo" / "a.txt").read_text()
    counted = folder / "counted"
    return text.count("one") - 1 + rows + (len(counted.read_text()) if counted.exists() else 0)


@pytest.mark.parametrize("what", WRITES)
async def test_fifty_clients_send_the_same_write_at_once(tmp_path: Path, what: str) -> None:
    write = WRITES[what]
    with gateway(tmp_path) as one, gateway(tmp_path) as two:
        async with one, two:
            clients = [one, two]
            answers = await asyncio.gather(*(call(clients[n % 2], n, **write) for n in range(CLIENTS)))
            changed = {**write, "arguments": {**write.get("arguments", {}), "name": "Other", "path": "a.txt"}}
            changed["arguments"]["replaceContent"] = "two"
            conflict = await call(two, 99, **changed)
            rows = len((await one.get("/api/apps")).json()) if "row" in what else 0
    assert all(answer["ok"] for answer in answers), answers
    assert Counter(answer["meta"].get("idempotent_replay", False) for answer in answers) == {True: 49, False: 1}
    assert {answer["trace_id"] for answer in answers} == {f"tr-{n}" for n in range(CLIENTS)}
    first = next(answer for answer in answers if not answer["meta"].get("idempotent_replay"))
    for answer in answers:
        assert answer["data"] == first["data"]
        assert answer["meta"].get("first_trace_id", first["trace_id"]) == first["trace_id"]
    assert conflict["code"] == "CONFLICT"
    assert effects(tmp_path, rows) == 1


async def test_different_writes_in_one_session_through_both_are_all_made_and_all_on_record(tmp_path: Path) -> None:
    count = 24
    with gateway(tmp_path) as one, gateway(tmp_path) as two:
        async with one, two:
            clients = [one, two]
            answers = await asyncio.gather(
                *(call(clients[n % 2], n, tool_id="test.count", idempotency_key=f"k{n}") for n in range(count))
            )
            events = (await one.get("/api/sessions/shared/events?limit=1000")).json()["events"]
    assert all(answer["ok"] for answer in answers), [a for a in answers if not a["ok"]][:1]
    assert len((tmp_path / "counted").read_text()) == count
    kinds = Counter(event["kind"] for event in events)
    assert kinds == {"call_requested": count, "call_settled": count}
    assert {event["trace"] for event in events} == {f"tr-{n}" for n in range(count)}
