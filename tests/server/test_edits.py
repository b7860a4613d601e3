"""Document 4 over HTTP, and results too long to send at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.patience import PATIENCE
from support.running import Running, running, script, steps
from toolwire.dialects import backend_only
from toolwire.settings import Settings

PROMPT = {"type": "user_message", "content": "go"}


def ask(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


async def run_all(gateway: Running, path: str = "/ws/edits?tools=server&watch=1") -> None:
    peer = await gateway.connect(path)
    await peer.send(PROMPT)
    await peer.receive_until("turn_ended")
    await peer.close()


def client(gateway: Running) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=gateway.http, trust_env=False, timeout=PATIENCE)


async def test_every_edit_of_a_session_is_given_in_document_4s_envelope(tmp_path: Path) -> None:
    (tmp_path / "config.py").write_text("# Configuration\nDEBUG = False\nPORT = 8000\n")
    agent = script(
        tmp_path,
        steps(
            {"call": [ask("read_file", path="config.py")]},
            {"call": [ask("Edit", file_path="config.py", old_string="DEBUG = False", new_string="DEBUG = True")]},
            {"call": [ask("Edit", file_path="config.py", old_string="NOT THERE", new_string="x")]},
            {"call": [ask("Replace", file_path="new.py", content="a = 1\n")]},
        ),
    )
    async with running(tmp_path, agent=agent) as gateway:
        await run_all(gateway)
        async with client(gateway) as http:
            answer = await http.get("/api/sessions/edits/edits", params={"follow": "false"})
            again = await http.get("/api/sessions/edits/edits", params={"follow": "false"})
    assert answer.content == again.content
    lines = [json.loads(line) for line in answer.text.splitlines()]
    for line in answer.text.splitlines():
        assert backend_only.decode(line.encode())
    edit, failed, created = (line["data"] for line in lines)
    assert edit == {
        "filePath": f"{tmp_path}/config.py",
        "oldString": "DEBUG = False",
        "newString": "DEBUG = True",
        "originalFile": "# Configuration\nDEBUG = False\nPORT = 8000\n",
        "structuredPatch": [
            {
                "oldStart": 2,
                "oldLines": 1,
                "newStart": 2,
                "newLines": 1,
                "lines": ["-DEBUG = False", "+DEBUG = True"],
            }
        ],
    }
    assert failed.startswith("Error: ")
    assert created["type"] == "create"
    assert [line["tool_name"] for line in lines] == ["Edit", "Edit", "Replace"]


async def test_edits_are_followed_live(tmp_path: Path) -> None:
    agent = script(tmp_path, steps({"call": [ask("Replace", file_path="{{0}}.txt", content="x\n")]}))
    async with running(tmp_path, agent=agent) as gateway:
        first = await gateway.connect("/ws/edits?tools=server")
        await first.send({"type": "user_message", "content": "hello", "role": "system"})
        async with client(gateway) as http, http.stream("GET", "/api/sessions/edits/edits") as stream:
            await run_all(gateway)
            line = await anext(stream.aiter_lines())
        assert json.loads(line)["tool_name"] == "Replace"


@pytest.mark.parametrize(("what", "accept"), [("edits", "*/*"), ("events", "text/event-stream")])
async def test_a_shutdown_ends_the_streams_of_followers_properly(tmp_path: Path, what: str, accept: str) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
        async with running(tmp_path, settings=Settings(shutdown_grace=1)) as gateway:
            first = await gateway.connect("/ws/edits?tools=server")
            await first.send({"type": "user_message", "content": "hello", "role": "system"})
            await first.close()
            address = f"{gateway.http}/api/sessions/edits/{what}"
            stream = await http.send(http.build_request("GET", address, headers={"Accept": accept}), stream=True)
            assert stream.status_code == 200
        await stream.aread()  # cut off, it would raise


async def test_a_client_call_of_document_1_leaves_patch_and_hashes_in_the_log(tmp_path: Path) -> None:
    async with running(tmp_path) as gateway:
        plugin = await gateway.connect("/ws/agent/chat?sessionId=s1&projectKey=demo")
        await plugin.receive()
        params = {"relativePath": "made.py", "replaceContent": "x = 1\n"}
        call = {"type": "TOOL_CALL", "toolCallId": "t1", "toolName": "apply_change", "params": params}
        await plugin.send(call)
        result = (await plugin.receive())["data"]
        assert result["success"] is True
        async with client(gateway) as http:
            page = (await http.get("/api/sessions/s1/events")).json()
        settled = page["events"][-1]
        assert settled["details"]["hash_after"]
        assert settled["result"] == result["result"]


async def test_a_result_cut_for_size_can_be_had_whole(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(5000))
    (tmp_path / "long.txt").write_text(text)
    agent = script(tmp_path, steps({"call": [ask("grep_file", pattern="line", limit=4000)]}))
    settings = Settings(result_limit=2000)
    async with running(tmp_path, agent=agent, settings=settings) as gateway:
        page = await gateway.connect("/ws/long?tools=server&watch=1")
        await page.send(PROMPT)
        result = (await page.receive_until("tool_result"))[-1]["result"]
        assert result["truncated"] is True
        async with client(gateway) as http:
            whole = await http.get(f"/api/results/{result['ref']}")
            assert "line 900" in whole.text
            assert (await http.get("/api/results/nonsense")).json()["code"] == "RESULT_NOT_FOUND"


@pytest.mark.parametrize("path", ["/api/sessions/nobody/edits", "/api/sessions/nobody/stop"])
async def test_a_session_nobody_knows_is_a_404(tmp_path: Path, path: str) -> None:
    async with running(tmp_path) as gateway, client(gateway) as http:
        answer = await (http.post(path) if path.endswith("stop") else http.get(path))
        assert answer.status_code == 404
