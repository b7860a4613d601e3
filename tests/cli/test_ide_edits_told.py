"""A write of a headless IDE over documents 1 and 2, as `replay`, `audit show` and `undo` tell it afterwards."""

from __future__ import annotations

import json

import httpx
import pytest

from cli.processes import Here, Place, started
from support.patience import PATIENCE
from toolwire.tools.textfile import content_hash


@pytest.mark.parametrize("dialect", ["agent_chat", "analyze"])
def test_a_write_of_an_ide_can_be_replayed_audited_and_taken_back(place: Place, here: Here, dialect: str) -> None:
    ours = place.folder / "ide"
    ours.mkdir()
    with place.gateway() as (_, url):
        words = ("ide", str(ours), "--url", url, "--session", "told", "--dialect", dialect, "--json")
        with started(*words, state=place.folder) as ide:
            ide.event("connected")
            question = ("chat", "-m", "write", "--url", url, "--session", "told", "--tools", "client")
            assert here(*question).returncode == 0
            call_id = ide.event("result")["call_id"]
            response = httpx.post(
                url.replace("ws:", "http:") + "/agent/flash/tools/call",
                json={
                    "trace_id": "tr",
                    "idempotency_key": "k",
                    "session_id": "told",
                    "tool_id": "apply_change",
                    "arguments": {"relativePath": "other.txt", "replaceContent": "by a program\n"},
                },
                trust_env=False,
                timeout=PATIENCE,
            ).json()
            assert response["data"]["hash_after"] == content_hash(b"by a program\n")
    assert (ours / "new.txt").read_text() == "made by the agent\n"
    events = here("replay", "told", "--store", place.store, "--json").stdout.splitlines()
    settled, _ = [event for line in events if (event := json.loads(line))["kind"] == "call_settled"]
    digest = settled["details"]["hash_after"]
    assert (
        f"new.txt +0 -0 (- → {digest[:12]})" in here("replay", "told", "--store", place.store, "--speed", "0").stdout
    )
    told = here("audit", "show", "--trace", "tr", "--store", place.store, "--json").stdout
    (changed,) = [file for line in told.splitlines() for file in json.loads(line).get("files", [])]
    assert changed == {"path": "other.txt", "after": content_hash(b"by a program\n")}
    undone = place.run("undo", call_id, "--path", str(ours), "--json")
    assert undone.returncode == 0, undone.stderr
    assert json.loads(undone.stdout)["hash_before"] == digest
    assert not (ours / "new.txt").exists()
