"""Every event of `/agent/ws` names its session, and nothing of a task comes after its end."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from support.flash import Calls
from support.patience import PATIENCE
from support.running import Running, running, script, steps
from toolwire.server import tokens
from toolwire.server.tokens import Token

BAD: list[dict[str, Any]] = [
    {"prompt": 5},
    {"prompt": ""},
    {"prompt": "x", "history": 5},
    {"prompt": "x", "history": [{"role": "nobody", "content": "x"}]},
    {"prompt": "x", "attachments": [{"name": "x"}]},
    {},
]


@pytest.mark.parametrize("task", BAD)
async def test_a_task_that_does_not_fit_is_refused_in_its_session(tmp_path: Path, task: dict[str, Any]) -> None:
    async with running(tmp_path) as gateway:
        peer = await gateway.connect("/agent/ws")
        await peer.send({"type": "flash:cline_task", "sessionId": "one", **task})
        answer = await peer.receive()
        assert (answer["type"], answer["sessionId"], answer["code"]) == (
            "flash:cline_error",
            "one",
            "VALIDATION_FAILED",
        )


async def test_so_is_a_large_one(tmp_path: Path) -> None:
    async with running(tmp_path) as gateway:
        peer = await gateway.connect("/agent/ws")
        await peer.send({"prompt": "x" * 2_000_000, "type": "flash:cline_task", "sessionId": "one", "history": 5})
        assert (await peer.receive())["sessionId"] == "one"


@pytest.mark.parametrize("message", ['{"sessionId": "one', '{"type": "flash:cline_stop", "sessionId": "a\\u0000"}'])
async def test_what_names_no_session_is_refused_in_that_of_the_address(tmp_path: Path, message: str) -> None:
    async with running(tmp_path) as gateway:
        peer = await gateway.connect("/agent/ws?sessionId=first")
        await peer.send_raw(message)
        assert (await peer.receive())["sessionId"] == "first"


async def waiting(gateway: Running) -> str:
    (approval,) = await gateway.hub.approvals.pending("default", None, 10)
    return approval.session


async def test_an_approval_that_a_stop_withdraws_is_not_spoken_of_after_the_end(tmp_path: Path) -> None:
    agent = script(tmp_path, steps({"call": [{"tool": "flash.app.publish", "arguments": {"id": "leave"}}]}))
    async with running(tmp_path, agent=agent) as gateway:
        await Calls(gateway).done("flash.app.create", id="leave", name="Leave")
        peer = await gateway.connect("/agent/ws")
        await peer.send({"type": "flash:cline_task", "sessionId": "one", "prompt": "x"})
        while "等待确认" not in (await peer.receive()).get("message", ""):
            pass
        assert await waiting(gateway) == "one"
        await peer.send({"type": "flash:cline_stop", "sessionId": "one"})
        await peer.receive_until("flash:cline_done")
        async with asyncio.timeout(PATIENCE):
            while await gateway.hub.approvals.pending("default", None, 10):
                pass
        await peer.send({"type": "flash:cline_reset", "sessionId": "one"})
        last = await peer.receive()
        assert (last["type"], last.get("status")) == ("flash:cline_status", "reset"), json.dumps(last)


async def test_a_task_may_not_bring_along_a_draft_that_its_caller_may_not_see(tmp_path: Path) -> None:
    secrets = {name: tokens.fresh() for name in ("ann", "ben")}
    for name, secret in secrets.items():
        tokens.add(tmp_path / "tokens", Token(tokens.hash_of(secret), name, role="editor"))
    agent = script(tmp_path, steps({"say": ["ok"]}))
    async with running(tmp_path, agent=agent, token_file=tmp_path / "tokens") as gateway:
        saved = await Calls(gateway).by("ann").done("flash.draft.write", appId="leave", content="ann's own")
        task = {"type": "flash:cline_task", "prompt": "x", "attachments": [{"relativePath": saved["path"]}]}
        for name, kind in (("ben", "flash:cline_error"), ("ann", "flash:cline_done")):
            peer = await gateway.connect("/agent/ws", additional_headers={"Authorization": f"Bearer {secrets[name]}"})
            await peer.send({**task, "sessionId": name})
            answer = (await peer.receive_until(kind))[-1]
            assert answer.get("code") == ("RLS_DENIED" if name == "ben" else None)


async def test_nothing_is_done_for_a_token_whose_time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret, now = tokens.fresh(), time.time()
    tokens.add(tmp_path / "tokens", Token(tokens.hash_of(secret), "ann", role="editor", expires=int(now) + 3600))
    async with running(tmp_path, token_file=tmp_path / "tokens") as gateway:
        peer = await gateway.connect("/agent/ws", additional_headers={"Authorization": f"Bearer {secret}"})
        call = {"type": "flash:tool_call", "tool_id": "flash.app.create", "arguments": {"name": "x"}, "trace_id": "t"}
        await peer.send({**call, "idempotency_key": "1"})
        assert (await peer.receive())["ok"]
        monkeypatch.setattr("toolwire.server.callers.time.time", lambda: now + 3601)
        await peer.send({**call, "idempotency_key": "2"})
        assert await peer.closed() == 1008
        assert len((await Calls(gateway).done("flash.app.list"))["apps"]) == 1


@pytest.mark.parametrize("field", ["trace_id", "tool_id", "idempotency_key"])
async def test_an_id_of_nothing_but_spaces_is_none(tmp_path: Path, field: str) -> None:
    async with running(tmp_path) as gateway:
        peer = await gateway.connect("/agent/ws")
        call = {
            "trace_id": "t",
            "tool_id": "flash.draft.write",
            "idempotency_key": "k",
            "arguments": {"content": "x"},
        }
        await peer.send({"type": "flash:tool_call", **call, field: "  "})
        answer = await peer.receive()
        assert (answer["code"], set(answer["error"]["fields"])) == ("VALIDATION_FAILED", {field})
