"""The flows of documents 1 and 2 with the `websockets` command line as the client: lines in, lines out."""

from __future__ import annotations

from pathlib import Path

from support.command_line import command_line
from support.running import running, script, steps

ANALYZE = "/ws/analyze?sessionId=ws-1&projectKey=demo&projectPath=/Users/xxx/project"


async def test_the_single_analysis_of_document_2(tmp_path: Path) -> None:
    call = {"tool": "read_class", "arguments": {"className": "FileFilter"}}
    agent = script(tmp_path, steps({"think": "正在向量搜索相关代码..."}, {"call": [call]}, {"say": ["# 分析结果"]}))
    async with running(tmp_path, agent=agent) as gateway, command_line(gateway.ws(ANALYZE)) as client:
        assert (await client.shows())["type"] == "CONNECTED"
        await client.type({"type": "ANALYZE", "data": {"message": "分析文件过滤的代码"}})
        assert (await client.shows())["type"] == "THINKING"
        asked = (await client.shows())["data"]
        assert asked["params"] == {"className": "FileFilter"}
        result = {"callId": asked["callId"], "success": True, "result": "..."}
        await client.type({"type": "TOOL_RESULT", "data": result})
        complete = await client.shows()
        assert (complete["type"], complete["data"]["result"]) == ("COMPLETE", "# 分析结果")


async def test_several_turns_of_document_2(tmp_path: Path) -> None:
    agent = script(tmp_path, {"match": "怎么配置", "steps": [{"say": ["second"]}]}, steps({"say": ["first"]}))
    async with running(tmp_path, agent=agent) as gateway, command_line(gateway.ws(ANALYZE)) as client:
        await client.shows()
        await client.type({"type": "ANALYZE", "data": {"requestId": None, "message": "分析"}})
        first = (await client.shows())["data"]
        again = {"requestId": first["requestId"], "message": "application.yml 怎么配置？"}
        await client.type({"type": "ANALYZE", "data": again})
        second = (await client.shows())["data"]
        assert (first["result"], second["result"]) == ("first", "second")
        assert first["requestId"] == second["requestId"]


async def test_the_manual_test_of_document_1(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("# TODO\n")
    path = "/ws/agent/chat?sessionId=test-123&projectKey=demo"
    async with running(tmp_path) as gateway, command_line(gateway.ws(path)) as client:
        assert (await client.shows())["type"] == "CONNECTED"
        params = {"pattern": "TODO", "projectKey": "demo"}
        await client.type({"type": "TOOL_CALL", "toolCallId": "test-001", "toolName": "grep_file", "params": params})
        result = await client.shows()
        assert (result["type"], result["data"]["toolCallId"]) == ("TOOL_RESULT", "test-001")
        assert result["data"]["success"] is True
