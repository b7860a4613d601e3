"""Edits that an IDE has run: what the log, document 4's stream and the audit know of them, in any dialect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from ide.running_ide import running_ide
from support.patience import PATIENCE
from support.running import Peer, Running, running, script, steps
from toolwire.dialects import backend_only
from toolwire.dialects.base import DialectName
from toolwire.tools.textfile import content_hash

BEFORE, AFTER = "DEBUG = False\nPORT = 8000\n", "DEBUG = True\nPORT = 8000\n"
EDIT = {"file_path": "config.py", "old_string": "DEBUG = False", "new_string": "DEBUG = True"}
DIALECTS: tuple[DialectName, ...] = ("agent_chat", "analyze", "gateway")
WORDS_ONLY = [dialect for dialect in DIALECTS if dialect != "gateway"]
WATCH = "/ws/s1?watch=1"
SOCKETS = {
    "agent_chat": "/ws/agent/chat?sessionId=s1&projectKey=demo",
    "analyze": "/ws/analyze?sessionId=s1&projectKey=demo&projectPath=/x",
}


def ask(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The IDE's own folder; the gateway has another."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "config.py").write_text(BEFORE)
    (tmp_path / "gateway").mkdir()
    return folder


async def edits(gateway: Running) -> list[dict[str, Any]]:
    async with httpx.AsyncClient(base_url=gateway.http, trust_env=False, timeout=PATIENCE) as http:
        answer = await http.get("/api/sessions/s1/edits", params={"follow": "false"})
    for line in answer.text.splitlines():
        backend_only.decode(line.encode())
    return [json.loads(line) for line in answer.text.splitlines()]


async def settled(gateway: Running, tool: str) -> dict[str, Any]:
    async with httpx.AsyncClient(base_url=gateway.http, trust_env=False, timeout=PATIENCE) as http:
        events = (await http.get("/api/sessions/s1/events")).json()["events"]
    (found,) = [event for event in events if event["kind"] == "call_settled" and event["tool"] == tool]
    assert isinstance(found, dict)
    return found


async def prompted(gateway: Running) -> None:
    """Ask, and wait for the end of the turn, as one who watches."""
    watcher = await gateway.connect(WATCH)
    await watcher.send({"type": "user_message", "content": "go"})
    await watcher.receive_until("turn_ended")
    await watcher.close()


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_edit_of_our_ide_is_whole_in_document_4_whatever_dialect_it_speaks(
    project: Path, dialect: DialectName
) -> None:
    agent = script(
        project.parent,
        steps(
            {"call": [ask("read_file", path="config.py")]},
            {"call": [ask("Edit", **EDIT)]},
            {"call": [ask("apply_change", relativePath="made.py", replaceContent="x = 1\n")]},
        ),
    )
    async with (
        running(project.parent / "gateway", agent=agent) as gateway,
        running_ide(project, gateway.ws(""), dialect=dialect) as ide,
    ):
        await ide.told.until(_connected())
        await prompted(gateway)
        edit, made = await edits(gateway)
        event = await settled(gateway, "Edit")
    assert (project / "config.py").read_text() == AFTER
    assert edit["data"] == {
        "filePath": f"{project}/config.py",
        "oldString": "DEBUG = False",
        "newString": "DEBUG = True",
        "originalFile": BEFORE,
        "structuredPatch": [
            {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-DEBUG = False", "+DEBUG = True"]}
        ],
    }
    assert edit["tool_use_id"] == event["call_id"]
    assert made["tool_name"] == "apply_change"
    assert made["data"]["hash_after"] == content_hash(b"x = 1\n")
    fields = event["result"] if dialect == "gateway" else event["details"]
    assert (fields["hash_before"], fields["hash_after"]) == (
        content_hash(BEFORE.encode()),
        content_hash(AFTER.encode()),
    )


def _connected() -> type[Any]:
    from toolwire.ide.happenings import Connected

    return Connected


def result_of(dialect: str, call_id: str, **more: Any) -> dict[str, Any]:
    name = "toolCallId" if dialect == "agent_chat" else "callId"
    return {"type": "TOOL_RESULT", "data": {name: call_id, "success": True, "result": "## 修改已应用", **more}}


async def called(plugin: Peer) -> str:
    """The id of the call that a plugin is sent next."""
    call = (await plugin.receive_until("TOOL_CALL"))[-1]
    return str(call.get("toolCallId") or call["data"]["callId"])


KNOWN = [
    (ask("Edit", **EDIT), {"filePath": "config.py", "oldString": "DEBUG = False", "newString": "DEBUG = True"}),
    (ask("Replace", path="a.py", content="x"), {"filePath": "a.py", "content": "x"}),
    (
        ask("MultiEdit", file_path="a.py", edits=[{"old_string": "a", "new_string": "b"}]),
        {
            "filePath": "a.py",
            "editsApplied": [{"editIndex": 1, "success": True, "old_string": "a", "new_string": "b"}],
            "totalEdits": 1,
            "summary": "## 修改已应用",
        },
    ),
    (
        ask("NotebookEditCell", notebook_path="n.ipynb", cell_number=2, new_source="x"),
        {"cell_number": 2, "new_source": "x", "edit_mode": "replace"},
    ),
    (
        ask("apply_change", relativePath="a.py", replaceContent="x", description="why"),
        {"filePath": "a.py", "description": "why", "content": "## 修改已应用"},
    ),
]


@pytest.mark.parametrize(("call", "data"), KNOWN, ids=[call["tool"] for call, _ in KNOWN])
@pytest.mark.parametrize("dialect", WORDS_ONLY)
async def test_of_an_edit_told_in_words_alone_document_4_has_what_is_known(
    tmp_path: Path, dialect: DialectName, call: dict[str, Any], data: dict[str, Any]
) -> None:
    async with running(tmp_path, agent=script(tmp_path, steps({"call": [call]}))) as gateway:
        plugin = await gateway.connect(SOCKETS[dialect])
        watcher = await gateway.connect(WATCH)
        await watcher.send({"type": "user_message", "content": "go"})
        # A plugin that has not said it sends details is not read for any.
        await plugin.send(result_of(dialect, await called(plugin), details="of its own", indeterminate=7))
        await watcher.receive_until("turn_ended")
        (edit,) = await edits(gateway)
    assert edit["tool_name"] == call["tool"]
    assert edit["data"] == data


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"details": "text"}, "data.details"),
        ({"details": {"path": "a.py", "hash_after": "short"}}, "data.details.hash_after"),
        ({"details": {"hash_after": "0" * 64}}, "data.details.path"),
        ({"details": {"path": "a.py", "patch": [{"oldStart": -1}]}}, "data.details.patch.0.oldStart"),
        ({"details": {"path": "a.py", "content": "x" * 2_000_000}}, "data.details"),
        ({"indeterminate": "yes"}, "data.indeterminate"),
    ],
)
@pytest.mark.parametrize("dialect", WORDS_ONLY)
async def test_details_that_do_not_fit_are_refused_by_name_and_the_result_counts(
    tmp_path: Path, dialect: DialectName, more: dict[str, Any], field: str
) -> None:
    call = ask("Replace", path="a.py", content="x")
    async with running(tmp_path, agent=script(tmp_path, steps({"call": [call]}))) as gateway:
        plugin = await gateway.connect(SOCKETS[dialect] + "&details=1")
        watcher = await gateway.connect(WATCH)
        await watcher.send({"type": "user_message", "content": "go"})
        await plugin.send(result_of(dialect, await called(plugin), **more))
        error = (await plugin.receive_until("ERROR"))[-1]
        assert field in error["data"]["details"]
        await watcher.receive_until("turn_ended")
        event = await settled(gateway, "Replace")
    assert event["outcome"] == "ok"
    assert event["result"] == "## 修改已应用"
    assert "details" not in event


@pytest.mark.parametrize("embedded", [False, True], ids=["picows", "asgi"])
async def test_the_gateway_says_that_it_reads_details_to_those_who_ask(tmp_path: Path, embedded: bool) -> None:
    async with running(tmp_path, embedded=embedded) as gateway:
        for path, said in (("/ws/s1", None), ("/ws/s1?details=1", "1")):
            peer = await gateway.connect(path)
            assert peer.socket.response is not None
            assert peer.socket.response.headers.get("Toolwire-Details") == said
            await peer.close()


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_client_can_say_that_a_write_is_undecided(tmp_path: Path, dialect: DialectName) -> None:
    call = ask("Replace", path="a.py", content="x")
    async with running(tmp_path, agent=script(tmp_path, steps({"call": [call]}))) as gateway:
        plugin = await gateway.connect({**SOCKETS, "gateway": "/ws/s1?"}[dialect] + "&details=1")
        watcher = await gateway.connect(WATCH)
        await watcher.send({"type": "user_message", "content": "go"})
        if dialect == "gateway":
            asked = (await plugin.receive_until("tool_call"))[-1]["call_id"]
            told = {"type": "tool_result", "call_id": asked, "error": "who knows", "indeterminate": True}
        else:
            told = result_of(dialect, await called(plugin), success=False, error="who knows", indeterminate=True)
            del told["data"]["result"]
        await plugin.send(told)
        await watcher.receive_until("turn_ended")
        assert (await settled(gateway, "Replace"))["outcome"] == "indeterminate"
