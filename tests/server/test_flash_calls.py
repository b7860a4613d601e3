"""Document 3 over HTTP, sections 3 to 6: the registry, calls, the ten codes, and a write that happens once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.programs import Program, program, service
from toolwire.errors import FlashError
from toolwire.server.catalogue import CallContext, ServiceResult
from toolwire.settings import Settings

GOLDEN = Path(__file__).parents[1] / "golden" / "3-flash-tool-calls"


def golden(name: str) -> dict[str, Any]:
    message: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    return message


async def fine(_: CallContext, arguments: dict[str, Any]) -> ServiceResult:
    return ServiceResult({"took": arguments}, "好", rows_affected=2)


# Registry --------------------------------------------------------------------------------------------------


async def test_the_registry_has_the_documents_shape_and_a_digest(tmp_path: Path) -> None:
    async with program(tmp_path) as it:
        answer = await it.http.get("/agent/flash/tools/registry")
        again = await it.http.get("/agent/flash/tools/registry", headers={"If-None-Match": answer.headers["ETag"]})
    expected = golden("01-flash-tools-v1")
    registry = answer.json()
    tools = {tool["tool_id"]: tool for tool in registry["tools"]}
    assert {**registry, "tools": []} == {**expected, "tools": []}
    for tool in expected["tools"]:
        assert tool.items() <= tools[tool["tool_id"]].items()
    assert again.status_code == 304
    assert not again.content
    assert tools["Edit"]["roles"] == ["editor", "publisher", "super_admin"]
    assert (tools["Edit"]["placement"], tools["Edit"]["access"]) == ("workspace", "write")
    assert tools["Edit"]["input_schema"]["required"]


# Calls -----------------------------------------------------------------------------------------------------


async def test_the_documents_request_gets_the_documents_answer(tmp_path: Path) -> None:
    async with program(tmp_path, store=f"sqlite:///{tmp_path}/s.db") as it:
        answer = await it.raw(**golden("02-flash.draft.write"))
        response = answer.json()
    expected = golden("03-flash.draft.write")
    assert answer.status_code == 200
    assert answer.headers["X-Trace-Id"] == expected["trace_id"]
    for name in ("ok", "code", "message", "tool_id", "trace_id"):
        assert response[name] == expected[name]
    assert response["data"]["bytes"] == len("<template>...</template>")
    assert response["data"].keys() >= expected["data"].keys()
    assert response["meta"].keys() == expected["meta"].keys()
    assert response["meta"]["rows_affected"] == expected["meta"]["rows_affected"]


async def test_a_role_that_is_not_enough_is_told_so_as_the_document_does(tmp_path: Path) -> None:
    expected = golden("04-flash.app.publish")
    async with program(tmp_path) as it:
        answer = await it.raw(
            trace_id=expected["trace_id"],
            tool_id="flash.app.publish",
            idempotency_key="k",
            arguments={},
            context={"user_role": "editor"},
        )
    assert answer.json() == expected
    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("envelope", "code", "status", "fields"),
    [
        ({"tool_id": "read_file"}, "VALIDATION_FAILED", 400, {"trace_id"}),
        ({"trace_id": "t"}, "VALIDATION_FAILED", 400, {"tool_id"}),
        ({"trace_id": "t", "tool_id": "nope"}, "TOOL_NOT_FOUND", 404, None),
        (
            {"trace_id": "t", "tool_id": "Replace", "arguments": {"content": 1}},
            "VALIDATION_FAILED",
            400,
            {"idempotency_key", "arguments.path", "arguments.content"},
        ),
        (
            {"trace_id": "t", "tool_id": "read_file", "arguments": {"path": "a", "start_line": "x"}},
            "VALIDATION_FAILED",
            400,
            {"arguments.start_line"},
        ),
        (
            {"trace_id": "t", "tool_id": "read_file", "arguments": {"path": "a"}, "context": {"project_key": "x"}},
            "VALIDATION_FAILED",
            400,
            {"context.project_key"},
        ),
    ],
)
async def test_a_call_that_does_not_fit_names_every_field(
    tmp_path: Path, envelope: dict[str, Any], code: str, status: int, fields: set[str] | None
) -> None:
    async with program(tmp_path) as it:
        answer = await it.raw(**envelope)
    response = answer.json()
    assert (response["ok"], response["code"], answer.status_code) == (False, code, status)
    assert response["tool_id"] == envelope.get("tool_id")
    assert response["trace_id"] == envelope.get("trace_id")
    if fields is not None:
        assert set(response["error"]["fields"]) == fields


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"a":1,"a":2}', b'{"a":NaN}', b"\xff", b"[" * 100])
async def test_what_is_not_json_is_a_bad_request(tmp_path: Path, body: bytes) -> None:
    async with program(tmp_path) as it:
        answer = await it.http.post("/agent/flash/tools/call", content=body)
    response = answer.json()
    assert (answer.status_code, response["code"]) == (400, "BAD_REQUEST")
    assert (response["tool_id"], response["trace_id"]) == (None, None)


@pytest.mark.parametrize(
    ("raised", "code", "status"),
    [
        (FlashError("RLS_DENIED", "no"), "RLS_DENIED", 403),
        (FlashError("CONFLICT", "no"), "CONFLICT", 409),
        (FlashError("UPSTREAM_ERROR", "no"), "UPSTREAM_ERROR", 502),
        (RuntimeError("secret"), "INTERNAL_ERROR", 500),
    ],
)
async def test_a_tools_failure_has_its_code_and_no_traceback(
    tmp_path: Path, raised: Exception, code: str, status: int
) -> None:
    async def fails(_: CallContext, __: dict[str, Any]) -> ServiceResult:
        raise raised

    async with program(tmp_path) as it:
        it.add(service(fails))
        answer = await it.raw(trace_id="t", tool_id="test.tool", idempotency_key="k")
    assert (answer.json()["code"], answer.status_code) == (code, status)
    assert "secret" not in answer.text


async def test_a_tool_that_takes_too_long_is_a_timeout_and_its_key_tells_the_outcome(tmp_path: Path) -> None:
    go = asyncio.Event()

    async def slow(_: CallContext, __: dict[str, Any]) -> ServiceResult:
        await go.wait()
        return ServiceResult({"done": True})

    async with program(tmp_path, settings=Settings(call_timeout=0.3)) as it:
        it.add(service(slow, timeout=0.3))
        late = await it.call("test.tool", idempotency_key="k")
        go.set()
        again = await it.call("test.tool", idempotency_key="k")
    assert (late["code"], late["error"]["indeterminate"]) == ("TIMEOUT", True)
    assert again["data"] == {"done": True}


async def test_the_trace_is_in_the_log_and_a_call_has_rows_and_risk_in_meta(tmp_path: Path) -> None:
    async with program(tmp_path) as it:
        it.add(service(fine))
        response = await it.call("test.tool", {"a": 1}, idempotency_key="k", session_id="mine")
        events = await it.events("mine")
    assert response["message"] == "好"
    assert response["meta"].items() >= {"risk_level": "medium", "rows_affected": 2}.items()
    assert [(event["kind"], event["trace"], event["asked_by"]) for event in events] == [
        ("call_requested", "tr-1", "program:owner"),
        ("call_settled", "tr-1", "program:owner"),
    ]


async def test_a_program_reads_a_file_and_then_changes_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    edit = {"file_path": "a.txt", "old_string": "one", "new_string": "two"}
    async with program(tmp_path) as it:
        refused = await it.call("Edit", edit, idempotency_key="k")
        await it.call("read_file", {"relativePath": "a.txt"})
        done = await it.call("Edit", edit, idempotency_key="k")
    assert (refused["code"], refused["error"]["reason_code"]) == ("UPSTREAM_ERROR", "NOT_READ")
    assert done["ok"], "a refusal before the effect leaves the key free"
    assert (tmp_path / "a.txt").read_text() == "two\n"


# Once ------------------------------------------------------------------------------------------------------


async def test_a_replay_is_marked_and_has_both_traces(tmp_path: Path) -> None:
    async with program(tmp_path) as it:
        it.add(service(fine))
        first = await it.call("test.tool", {"a": 1, "b": 2}, idempotency_key="k")
        turned = {"b": 2, "a": 1}
        answer = await it.raw(trace_id="tr-2", tool_id="test.tool", idempotency_key="k", arguments=turned)
        second = answer.json()
        events = await it.events()
    assert second["trace_id"] == "tr-2"
    assert second["meta"] == {**first["meta"], "idempotent_replay": True, "first_trace_id": "tr-1"}
    assert second["data"] == first["data"]
    assert len(events) == 2


@pytest.mark.parametrize("change", [{"arguments": {"a": 2}}, {"app_id": "other"}])
async def test_the_same_key_for_something_else_is_a_conflict(tmp_path: Path, change: dict[str, Any]) -> None:
    async with program(tmp_path) as it:
        it.add(service(fine))
        same: dict[str, Any] = {
            "trace_id": "t",
            "tool_id": "test.tool",
            "idempotency_key": "k",
            "arguments": {"a": 1},
        }
        await it.raw(**same)
        answer = await it.raw(**{**same, **change})
    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT")


async def test_a_key_belongs_to_its_tool(tmp_path: Path) -> None:
    async with program(tmp_path) as it:
        it.add(service(fine))
        it.add(service(fine, tool_id="test.other"))
        await it.call("test.tool", {"a": 1}, idempotency_key="k")
        other = await it.call("test.other", {"a": 2}, idempotency_key="k")
    assert "idempotent_replay" not in other["meta"]


async def test_a_call_under_a_key_that_runs_waits_for_the_first(tmp_path: Path) -> None:
    begun, go, runs = asyncio.Event(), asyncio.Event(), 0

    async def slow(_: CallContext, __: dict[str, Any]) -> ServiceResult:
        nonlocal runs
        runs += 1
        begun.set()
        await go.wait()
        return ServiceResult({"run": runs})

    async with program(tmp_path) as it:
        it.add(service(slow))
        first = asyncio.create_task(it.call("test.tool", idempotency_key="k"))
        await begun.wait()
        rest = [asyncio.create_task(it.call("test.tool", idempotency_key="k")) for _ in range(9)]
        await asyncio.sleep(0)
        go.set()
        answers = await asyncio.gather(first, *rest)
    assert runs == 1
    assert [answer["data"] for answer in answers] == [{"run": 1}] * 10
    assert sum("idempotent_replay" in answer["meta"] for answer in answers) == 9


async def test_a_failure_after_the_effect_began_is_kept_and_one_before_is_not(tmp_path: Path) -> None:
    began = True

    async def fails(_: CallContext, __: dict[str, Any]) -> ServiceResult:
        raise FlashError("UPSTREAM_ERROR", "half done" if began else "not begun", began=began)

    async with program(tmp_path) as it:
        it.add(service(fails))
        kept = [await it.call("test.tool", idempotency_key="a") for _ in range(2)]
        began = False
        fresh = [await it.call("test.tool", idempotency_key="b") for _ in range(2)]
    assert [answer.get("meta", {}).get("idempotent_replay") for answer in kept] == [None, True]
    assert [answer.get("meta") for answer in fresh] == [None, None]


# In an IDE -------------------------------------------------------------------------------------------------


async def answered_by_ide(it: Program, answer: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    ide = await it.gateway.connect("/ws/desk")
    calling = asyncio.create_task(
        it.call("Replace", {"path": "a.txt", "content": "x"}, idempotency_key="k", session_id="desk")
    )
    asked = await ide.receive()
    await ide.send({"type": "tool_result", "call_id": asked["call_id"], **answer})
    response = await calling
    await ide.close()
    return asked, response


async def test_a_workspace_tool_runs_in_the_ide_of_its_session_and_nowhere_else(tmp_path: Path) -> None:
    async with program(tmp_path) as it:
        asked, response = await answered_by_ide(it, {"result": {"content": "from the IDE"}})
        again = await it.call("Replace", {"path": "a.txt", "content": "x"}, idempotency_key="k", session_id="desk")
    assert asked["tool_name"] == "Replace"
    assert asked["arguments"] == {"path": "a.txt", "content": "x"}
    assert response["data"] == {"content": "from the IDE"}
    assert again["meta"]["idempotent_replay"] is True
    assert not (tmp_path / "a.txt").exists()


async def test_what_the_ide_refuses_is_an_upstream_error(tmp_path: Path) -> None:
    async with program(tmp_path) as it:
        _, response = await answered_by_ide(it, {"error": "read-only file system"})
    assert response["code"] == "UPSTREAM_ERROR"
    assert "read-only file system" in response["message"]


async def test_an_ide_that_leaves_in_the_middle_of_a_write_makes_it_indeterminate(tmp_path: Path) -> None:
    async with program(tmp_path) as it:
        ide = await it.gateway.connect("/ws/desk")
        write: dict[str, Any] = {"idempotency_key": "k", "session_id": "desk"}
        calling = asyncio.create_task(it.call("Replace", {"path": "a.txt", "content": "x"}, **write))
        await ide.receive()
        await ide.close()
        response = await calling
        again = await it.call("Replace", {"path": "a.txt", "content": "x"}, **write)
    assert (response["code"], response["error"]["indeterminate"]) == ("UPSTREAM_ERROR", True)
    assert again["error"] == response["error"], "never a silent repeat"
    assert not (tmp_path / "a.txt").exists()


# Who -------------------------------------------------------------------------------------------------------


async def test_a_claimed_role_narrows_and_never_widens(tmp_path: Path) -> None:
    async with program(tmp_path) as it:
        it.add(service(fine))
        codes = [
            (await it.call("test.tool", idempotency_key=role, context={"user_role": role}))["code"]
            for role in ("viewer", "stranger", "editor", "super_admin")
        ]
    assert codes == ["PERMISSION_DENIED", "PERMISSION_DENIED", "OK", "OK"]


@pytest.mark.parametrize("mode", ["ask", "plan"])
async def test_a_mode_that_only_reads_refuses_writes(tmp_path: Path, mode: str) -> None:
    async with program(tmp_path) as it:
        it.add(service(fine))
        response = await it.call("test.tool", idempotency_key="k", context={"mode": mode})
    assert response["code"] == "PERMISSION_DENIED"


async def test_without_a_token_a_gateway_that_wants_one_answers_nothing(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("a-plain-token-of-the-owner\n")
    async with program(tmp_path, token_file=tokens) as it:
        answer = await it.raw(trace_id="t", tool_id="read_file", arguments={"path": "tokens"})
        with_token = httpx.Headers({"Authorization": "Bearer a-plain-token-of-the-owner"})
        allowed = await it.http.get("/agent/flash/tools/registry", headers=with_token)
    assert (answer.status_code, allowed.status_code) == (401, 200)
