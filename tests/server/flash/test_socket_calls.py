"""Tool calls over `/agent/ws`: the fields of sections 4 and 5 at the root."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.running import running, script, steps
from toolwire.settings import Settings

GOLDEN = Path(__file__).parents[2] / "golden" / "3-flash-tool-calls"


@pytest.fixture(params=["picows", "asgi"])
def embedded(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "asgi")


def golden(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(next(GOLDEN.glob(f"{name}*")).read_bytes())
    return value


async def test_the_documents_call_is_answered_in_the_documents_shape(tmp_path: Path, embedded: bool) -> None:
    async with running(tmp_path, embedded=embedded) as gateway:
        builder = await gateway.connect("/agent/ws")
        await builder.send({"type": "flash:tool_call", "id": "q-1", **golden("02")})
        answer = await builder.receive_until("flash:tool_result")
        result, shape = answer[-1], golden("03")
        assert result.pop("type") == "flash:tool_result"
        assert result.pop("id") == "q-1"
        assert {**result, "data": shape["data"], "meta": shape["meta"]} == shape
        assert set(result["data"]) == set(shape["data"])
        assert set(result["meta"]) == set(shape["meta"])
        assert result["data"]["bytes"] == len(golden("02")["arguments"]["content"])
        await builder.send({"type": "flash:tool_call", **golden("02")})
        again = (await builder.receive_until("flash:tool_result"))[-1]
        assert (again["meta"]["idempotent_replay"], "id" in again) == (True, False)


async def test_a_call_that_does_not_fit_is_answered_in_the_words_of_section_5(tmp_path: Path) -> None:
    async with running(tmp_path) as gateway:
        builder = await gateway.connect("/agent/ws")
        calls: list[tuple[dict[str, Any], str]] = [
            ({}, "VALIDATION_FAILED"),
            ({"trace_id": "t", "tool_id": "flash.draft.write", "arguments": {"content": "x"}}, "VALIDATION_FAILED"),
            ({"trace_id": "t", "tool_id": "no.such.tool"}, "TOOL_NOT_FOUND"),
            ({"trace_id": "t", "tool_id": "flash.draft.read", "arguments": {"appId": "../x"}}, "VALIDATION_FAILED"),
        ]
        for call, code in calls:
            await builder.send({"type": "flash:tool_call", "id": 3, **call})
            answer = await builder.receive()
            assert (answer["type"], answer["id"], answer["ok"], answer["code"]) == (
                "flash:tool_result",
                3,
                False,
                code,
            )
            assert answer["error"]["http_status"] in (400, 404)


async def test_calls_go_on_beside_a_task_and_each_other(tmp_path: Path) -> None:
    agent = script(tmp_path, steps({"say": ["working"]}, {"sleep_ms": 600_000}))
    async with running(tmp_path, agent=agent) as gateway:
        builder = await gateway.connect("/agent/ws")
        await builder.send({"type": "flash:cline_task", "sessionId": "s", "prompt": "x"})
        await builder.receive_until("flash:cline_output")
        for number in range(30):
            call = {"trace_id": f"t{number}", "tool_id": "flash.draft.read"}
            await builder.send({"type": "flash:tool_call", "id": number, **call})
        answered: set[int] = set()
        while len(answered) < 30:
            answer = await builder.receive()
            assert (answer["type"], answer["ok"]) == ("flash:tool_result", True)
            answered.add(answer["id"])
        await builder.send({"type": "flash:cline_stop", "sessionId": "s"})
        assert (await builder.receive_until("flash:cline_done"))[-1]["exitCode"] == 130


async def test_more_calls_at_once_than_allowed_are_refused(tmp_path: Path) -> None:
    settings = Settings(flash_socket_calls=1, flash_build_command="cat")
    async with running(tmp_path, settings=settings) as gateway:
        builder = await gateway.connect("/agent/ws")
        for number in range(20):
            call = {"trace_id": "t", "tool_id": "flash.draft.read"}
            await builder.send({"type": "flash:tool_call", "id": number, **call})
        kinds = {message["type"]: message for message in [await builder.receive() for _ in range(20)]}
        assert kinds["flash:cline_error"]["code"] == "CONFLICT"
        assert kinds["flash:tool_result"]["ok"] is True


async def test_a_large_call_and_a_large_task_are_heard_too(tmp_path: Path, embedded: bool) -> None:
    agent = script(tmp_path, steps({"say": ["ok"]}))
    async with running(tmp_path, agent=agent, embedded=embedded) as gateway:
        builder = await gateway.connect("/agent/ws")
        call = {"trace_id": "t", "idempotency_key": "k", "tool_id": "flash.draft.write"}
        await builder.send({"type": "flash:tool_call", **call, "arguments": {"content": "x" * 600_000}})
        assert (await builder.receive())["data"]["bytes"] == 600_000
        await builder.send({"type": "flash:cline_task", "sessionId": "s", "prompt": "x" * 600_000})
        assert (await builder.receive_until("flash:cline_done"))[-1]["success"] is True


@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_a_person_answers_for_a_task_over_the_same_socket(tmp_path: Path, decision: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    change = {"relativePath": "new.txt", "replaceContent": "written"}
    agent = script(tmp_path, steps({"call": [{"tool": "apply_change", "arguments": change}]}, {"say": ["over"]}))
    async with running(project, agent=agent, approve="writes") as gateway:
        builder = await gateway.connect("/agent/ws")
        await builder.send({"type": "flash:cline_task", "sessionId": "s", "prompt": "x"})
        asked = ""
        while "等待确认" not in asked:
            asked = (await builder.receive()).get("message", "")
        approval = asked.rpartition("(")[2].rstrip(")")
        answer = {"type": "flash:approval_answer", "sessionId": "s", "approvalId": approval, "decision": decision}
        await builder.send(answer)
        seen = await builder.receive_until("flash:cline_done")
        assert seen[-1]["exitCode"] == 0
        assert (project / "new.txt").exists() == (decision == "approve")
        await builder.send(answer)
        assert (await builder.receive())["code"] == "APPROVAL_STALE"
        await builder.send({**answer, "approvalId": "never-was"})
        assert (await builder.receive())["code"] == "APPROVAL_NOT_FOUND"
