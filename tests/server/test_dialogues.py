"""The documents' own dialogues, message for message, over a real socket."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.running import Running, running, script, steps


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "main.py").write_text("print('hello')  # TODO say more\n")
    return tmp_path


async def test_the_full_dialogue_of_document_5(project: Path, embedded: bool) -> None:
    agent = script(
        project,
        steps(
            {"say": ["Открываю ", "main.py..."]},
            {"call": [{"tool": "read_file", "arguments": {"path": "main.py"}}]},
            {"say": ["Файл прочитан"]},
        ),
    )
    async with running(project, agent=agent, embedded=embedded) as gateway:
        ide = await gateway.connect("/ws/s1")
        await ide.send({"type": "user_message", "content": "Открой файл main.py", "role": "user"})
        assert await ide.receive() == {"type": "assistant_message", "token": "Открываю ", "is_final": False}
        assert await ide.receive() == {"type": "assistant_message", "token": "main.py...", "is_final": True}
        call = await ide.receive()
        assert call == {
            "type": "tool_call",
            "call_id": call["call_id"],
            "tool_name": "read_file",
            "arguments": {"path": "main.py"},
        }
        assert call["call_id"].startswith("read_file-")
        answer = {"type": "tool_result", "call_id": call["call_id"], "result": {"content": "// file content here"}}
        await ide.send(answer)
        assert await ide.receive() == {"type": "assistant_message", "token": "Файл прочитан", "is_final": True}
        await ide.close()


ANALYZE = "/ws/analyze?sessionId=ws-1&projectKey=autoloop&projectPath=/Users/xxx/project"


async def test_the_single_analysis_of_document_2(project: Path, embedded: bool) -> None:
    agent = script(
        project,
        steps(
            {"think": "正在向量搜索相关代码...", "stage": "analyzing", "percent": 30},
            {"call": [{"tool": "read_class", "arguments": {"className": "FileFilter"}}]},
            {"say": ["# 分析结果\n\n", "{{1}}"]},
        ),
    )
    async with running(project, agent=agent, embedded=embedded) as gateway:
        plugin = await gateway.connect(ANALYZE)
        connected = await plugin.receive()
        assert connected["type"] == "CONNECTED"
        request = connected["data"]["requestId"]
        await plugin.send({"type": "ANALYZE", "data": {"message": "分析文件过滤的代码"}})
        thinking = await plugin.receive()
        assert thinking["type"] == "THINKING"
        assert thinking["data"]["requestId"] == request
        assert thinking["data"]["thinking"] == "正在向量搜索相关代码..."
        assert (thinking["data"]["stage"], thinking["data"]["percent"], thinking["data"]["round"]) == (
            "analyzing",
            30,
            1,
        )
        call = await plugin.receive()
        assert call["type"] == "TOOL_CALL"
        assert call["data"]["toolName"] == "read_class"
        assert call["data"]["params"] == {"className": "FileFilter"}
        assert call["data"]["projectPath"] == "/Users/xxx/project"
        result = {"callId": call["data"]["callId"], "success": True, "result": "## FileFilter.java"}
        await plugin.send({"type": "TOOL_RESULT", "data": result})
        complete = await plugin.receive()
        assert complete["type"] == "COMPLETE"
        assert complete["data"]["requestId"] == request
        assert complete["data"]["result"] == "# 分析结果\n\n## FileFilter.java"
        await plugin.close()


async def analyze(gateway: Running, path: str, data: dict[str, Any]) -> dict[str, Any]:
    """One analysis on a connection of its own; gives the terminal message."""
    plugin = await gateway.connect(path)
    await plugin.receive_until("CONNECTED")
    await plugin.send({"type": "ANALYZE", "data": data})
    while (message := await plugin.receive())["type"] not in ("COMPLETE", "ERROR"):
        pass
    await plugin.close()
    return message


async def test_several_turns_of_document_2_continue_one_conversation(project: Path, embedded: bool) -> None:
    agent = script(project, {"match": "怎么配置", "steps": [{"say": ["second"]}]}, steps({"say": ["first"]}))
    async with running(project, agent=agent, embedded=embedded) as gateway:
        first = await analyze(gateway, ANALYZE, {"requestId": None, "message": "分析"})
        request = first["data"]["requestId"]
        second = await analyze(gateway, ANALYZE, {"requestId": request, "message": "application.yml 怎么配置？"})
        assert second["data"] == {**second["data"], "requestId": request, "result": "second"}
        history = await gateway.hub.history("default", f"request:autoloop:{request}")
        assert [message.text for message in history] == ["分析", "first", "application.yml 怎么配置？", "second"]


async def test_the_manual_test_of_document_1(project: Path, embedded: bool) -> None:
    async with running(project, embedded=embedded) as gateway:
        client = await gateway.connect("/ws/agent/chat?sessionId=test-123&projectKey=demo")
        connected = await client.receive()
        assert connected["type"] == "CONNECTED"
        assert connected["data"]["sessionId"] == "test-123"
        assert connected["data"]["protocolVersion"] == "2.0"
        params = {"pattern": "TODO", "projectKey": "demo"}
        await client.send({"type": "TOOL_CALL", "toolCallId": "test-001", "toolName": "grep_file", "params": params})
        result = await client.receive()
        assert result["type"] == "TOOL_RESULT"
        assert result["data"]["toolCallId"] == "test-001"
        assert result["data"]["success"] is True
        assert "main.py" in result["data"]["result"]
        assert "**匹配数量**: 1" in result["data"]["result"]
        await client.close()


async def test_a_chat_of_version_2_streams_and_completes(project: Path, embedded: bool) -> None:
    agent = script(
        project,
        steps(
            {"think": "looking", "stage": "planning"},
            {"say": ["one ", "two"]},
            {"call": [{"tool": "read_file", "arguments": {"relativePath": "main.py"}}]},
            {"say": ["three"]},
        ),
    )
    async with running(project, agent=agent, embedded=embedded) as gateway:
        plugin = await gateway.connect("/ws/agent/chat?sessionId=chat-1&projectKey=autoloop")
        await plugin.receive_until("CONNECTED")
        await plugin.send({"type": "AGENT_CHAT", "data": {"message": "go"}})
        seen = await plugin.receive_until("TOOL_CALL")
        call = seen.pop()
        assert call["params"] == {
            "relativePath": "main.py",
            "projectKey": "autoloop",
            "webSocketSessionId": "chat-1",
        }
        assert call["webSocketSessionId"] == "chat-1"
        pieces = [message["data"] for message in seen if message["type"] == "STREAMING_CONTENT"]
        assert [(piece["content"], piece["chunkIndex"]) for piece in pieces] == [("one ", 0), ("two", 1)]
        stages = [message["data"]["stage"] for message in seen if message["type"] == "AGENT_RESPONSE"]
        assert stages == ["analyzing", "planning"]
        result = {"toolCallId": call["toolCallId"], "success": True, "result": "…", "executionTime": 3}
        await plugin.send({"type": "TOOL_RESULT", "data": result})
        while (last := await plugin.receive())["type"] != "AGENT_RESPONSE":
            pass
        assert last["data"]["status"] == "COMPLETED"
        assert last["data"]["content"] == "one two\n\nthree"
        assert last["data"]["degraded"] is False
        await plugin.close()
