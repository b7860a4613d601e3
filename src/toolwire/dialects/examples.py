"""One real message of every type, for the published description and the pages of the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

_TIME = 1767686721056
_CALL = "grep_file-019b9249420-0000-5f0c9a1e77d2"
_FOUND = "## 文件内容搜索: File.java\n\n**匹配数量**: 3\n..."


def _message(kind: str, **data: Any) -> Json:
    return {"type": kind, "data": data}


_APPROVAL = "approval-019b9249420-0002-5f0c9a1e77d2"
_ASKED: Json = {"arguments": {"path": "a.txt"}, "digest": "5f0c" * 16, "risk": "high"}
_WHY = "its risk is high (--approve high)"
_APPROVALS: Mapping[str, Json] = {
    "APPROVAL_REQUEST": _message(
        "APPROVAL_REQUEST",
        approvalId=_APPROVAL,
        toolName="shop.deploy",
        **_ASKED,
        expiresAt=_TIME,
        askedBy="alice",
        why=_WHY,
    ),
    "APPROVAL_RESULT": _message(
        "APPROVAL_RESULT", approvalId=_APPROVAL, decision="rejected", reason="not today", by="alice"
    ),
    "APPROVAL_ANSWER": _message("APPROVAL_ANSWER", approvalId=_APPROVAL, decision="reject", reason="not today"),
}

AGENT_CHAT: Mapping[str, Json] = {
    **_APPROVALS,
    "CONNECTED": _message(
        "CONNECTED",
        message="WebSocket connected successfully",
        sessionId="test-123",
        projectKey="autoloop",
        mode="agent",
        serverTime=_TIME,
        protocolVersion="2.0",
    ),
    "AGENT_CHAT": _message("AGENT_CHAT", message="TODO 都在哪里？", sessionId="test-123", mode="ask"),
    "AGENT_RESPONSE": _message(
        "AGENT_RESPONSE",
        sessionId="test-123",
        requestId="019b9249420-0001-5f0c9a1e77d2",
        status="COMPLETED",
        stage="analyzing",
        content="共找到 3 处 TODO。",
        degraded=False,
    ),
    "STREAMING_CONTENT": _message(
        "STREAMING_CONTENT", sessionId="test-123", content="共找到 3 处", chunkIndex=0, isComplete=False
    ),
    "TOOL_CALL": {
        "type": "TOOL_CALL",
        "toolCallId": _CALL,
        "toolName": "grep_file",
        "params": {"pattern": "TODO", "projectKey": "autoloop", "webSocketSessionId": "test-123"},
        "webSocketSessionId": "test-123",
    },
    "TOOL_RESULT": _message("TOOL_RESULT", toolCallId=_CALL, success=True, result=_FOUND, executionTime=150),
    "STOP": _message("STOP", sessionId="test-123"),
    "STOPPED": _message("STOPPED", sessionId="test-123"),
    "PING": _message("PING", timestamp=_TIME),
    "PONG": _message("PONG", timestamp=_TIME),
    "CONNECT": _message("CONNECT", token="your-api-token"),
    "ERROR": _message(
        "ERROR",
        code="INVALID_REQUEST",
        message="请求参数无效: data.message 缺少必填字段",
        details={"data.message": "缺少必填字段"},
    ),
}

ANALYZE: Mapping[str, Json] = {
    **_APPROVALS,
    "CONNECTED": _message(
        "CONNECTED", message="WebSocket connected successfully", requestId="req-123", serverTime=_TIME
    ),
    "ANALYZE": _message(
        "ANALYZE",
        requestId="req-123",
        message="分析文件过滤的代码",
        projectKey="autoloop",
        projectPath="/Users/xxx/project",
        mode="claude-code",
    ),
    "THINKING": _message(
        "THINKING", requestId="req-123", thinking="正在搜索相关代码...", stage="analyzing", percent=30, round=1
    ),
    "TOOL_CALL": _message(
        "TOOL_CALL",
        callId="read_class-019b9249420-0000-5f0c9a1e77d2",
        toolName="read_class",
        params={"className": "FileFilter", "mode": "structure"},
        projectPath="/Users/xxx/project",
    ),
    "TOOL_RESULT": _message(
        "TOOL_RESULT",
        callId="read_class-019b9249420-0000-5f0c9a1e77d2",
        success=True,
        result="## FileFilter.java\n\n- **类名**: `FileFilter`\n...",
    ),
    "COMPLETE": _message(
        "COMPLETE",
        requestId="req-123",
        result="# 文件过滤分析\n\n...",
        process="阶段: 分析，共 2 轮，工具调用 1 次，用时 0.4 秒",
    ),
    "ERROR": _message(
        "ERROR", requestId="req-123", code="ANALYSIS_TIMEOUT", message="分析超时: no answer within 300 s", details={}
    ),
    "PING": _message("PING", timestamp=_TIME),
    "PONG": _message("PONG", timestamp=_TIME),
    "CONNECT": _message("CONNECT", token="your-api-token"),
}

FLASH: Mapping[str, Json] = {
    "flash:cline_task": {
        "type": "flash:cline_task",
        "sessionId": "flash_shell_xxx",
        "prompt": "根据附件生成请假申请页面",
        "history": [{"role": "user", "content": "先看看有哪些字段"}],
        "attachments": [
            {
                "name": "spec.md",
                "mimeType": "text/markdown",
                "size": 1024,
                "relativePath": ".uploads/app/default/spec.md",
                "textPreview": "# 请假申请",
            }
        ],
    },
    "flash:cline_stop": {"type": "flash:cline_stop", "sessionId": "flash_shell_xxx"},
    "flash:cline_reset": {"type": "flash:cline_reset", "sessionId": "flash_shell_xxx"},
    "flash:approval_answer": {
        "type": "flash:approval_answer",
        "sessionId": "flash_shell_xxx",
        "approvalId": "019b9249420-0002-5f0c9a1e77d2",
        "decision": "reject",
        "reason": "先在测试环境发布",
    },
    "flash:tool_call": {
        "type": "flash:tool_call",
        "id": "1",
        "trace_id": "tr_20260219_xxx",
        "idempotency_key": "idem_20260219_xxx",
        "tool_id": "flash.draft.write",
        "arguments": {"content": "<template>...</template>"},
    },
    "flash:tool_result": {
        "type": "flash:tool_result",
        "id": "1",
        "ok": True,
        "code": "OK",
        "message": "草稿已保存",
        "tool_id": "flash.draft.write",
        "trace_id": "tr_20260219_xxx",
        "data": {"path": "eiscore-apps/src/views/drafts/FlashDraft.vue", "bytes": 24},
        "meta": {"risk_level": "medium", "duration_ms": 148, "rows_affected": 1},
    },
    "flash:cline_status": {
        "type": "flash:cline_status",
        "sessionId": "flash_shell_xxx",
        "status": "running",
        "message": "任务已开始",
    },
    "flash:cline_output": {
        "type": "flash:cline_output",
        "sessionId": "flash_shell_xxx",
        "role": "assistant",
        "content": "页面",
    },
    "flash:cline_summary": {
        "type": "flash:cline_summary",
        "sessionId": "flash_shell_xxx",
        "role": "assistant",
        "content": "页面已生成",
    },
    "flash:cline_error": {
        "type": "flash:cline_error",
        "sessionId": "flash_shell_xxx",
        "error": "a task is running already (wait for it to end, or stop it)",
        "code": "CONFLICT",
    },
    "flash:cline_done": {
        "type": "flash:cline_done",
        "sessionId": "flash_shell_xxx",
        "success": True,
        "exitCode": 0,
        "elapsedMs": 9234,
    },
}

GATEWAY: Mapping[str, Json] = {
    "approval_request": {
        "type": "approval_request",
        "approval_id": _APPROVAL,
        "tool_name": "shop.deploy",
        **_ASKED,
        "expires_at": _TIME,
        "asked_by": "alice",
        "why": _WHY,
    },
    "approval_result": {
        "type": "approval_result",
        "approval_id": _APPROVAL,
        "decision": "approved",
        "reason": "",
        "by": "alice",
    },
    "approval_answer": {"type": "approval_answer", "approval_id": _APPROVAL, "decision": "approve"},
    "user_message": {"type": "user_message", "content": "Открой файл main.py", "role": "user"},
    "assistant_message": {"type": "assistant_message", "token": "Открываю ", "is_final": False},
    "tool_call": {
        "type": "tool_call",
        "call_id": "read_file-019b9249420-0000-5f0c9a1e77d2",
        "tool_name": "read_file",
        "arguments": {"path": "main.py"},
    },
    "tool_result": {
        "type": "tool_result",
        "call_id": "read_file-019b9249420-0000-5f0c9a1e77d2",
        "result": {"content": "// file content here"},
    },
    "error": {"type": "error", "content": "INVALID_REQUEST: content: must be a string"},
    "turn_ended": {"type": "turn_ended", "outcome": "completed", "calls": 2, "ms": 148},
}
