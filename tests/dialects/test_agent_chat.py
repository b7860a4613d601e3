"""Document 1 and version 2: what a plugin may say, and what it is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolwire.core.commands import Answer, Authenticate, Command, Ping, Prompt, RunTool, Stop
from toolwire.core.events import (
    AgentChosen,
    AnyEvent,
    CallOutcome,
    CallRequested,
    CallSettled,
    MessageAdded,
    PeerReported,
    Said,
    SessionReset,
    Thought,
    TurnAsked,
    TurnEnded,
    TurnStarted,
)
from toolwire.core.ids import Ids
from toolwire.core.session import Limits, Session
from toolwire.dialects.agent_chat import AgentChat
from toolwire.dialects.base import Handshake
from toolwire.errors import AgentError, HandshakeRefused, InvalidMessage, MessageTooLarge, QueueFull

QUERY = {"sessionId": "test-123", "projectKey": "autoloop"}


def connect(**query: str) -> AgentChat:
    return AgentChat(Handshake(query={**QUERY, **query}, connection="conn-1"))


def hear(kind: str, data: Any = None, /, **root: Any) -> Command:
    body = {"type": kind, **root} | ({"data": data} if data is not None else {})
    return connect().decode(json.dumps(body).encode())


def told(messages: list[bytes]) -> list[Any]:
    return [json.loads(message) for message in messages]


def settled(outcome: CallOutcome, result: Any = None, error: str = "", **more: Any) -> CallSettled:
    return CallSettled(3, 0, "t", "req", "call-1", "apply_change", outcome, result, error, 150, **more)


def ended(outcome: Any, code: str = "", message: str = "", **more: Any) -> TurnEnded:
    return TurnEnded(9, 0, "t", "req", "c", outcome, "prompt", "the text", code, message, **more)


def response(status: str, stage: str = "analyzing", content: str = "", degraded: bool = False) -> dict[str, Any]:
    data = {"sessionId": "test-123", "requestId": "req", "status": status, "stage": stage}
    return {"type": "AGENT_RESPONSE", "data": data | {"content": content, "degraded": degraded}}


def test_the_connection_is_greeted() -> None:
    assert told(connect(mode="plan").greeting(1767686721056)) == [
        {
            "type": "CONNECTED",
            "data": {
                "message": "WebSocket connected successfully",
                "sessionId": "test-123",
                "projectKey": "autoloop",
                "mode": "plan",
                "serverTime": 1767686721056,
                "protocolVersion": "2.0",
            },
        }
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [("sessionId", ""), ("projectKey", ""), ("sessionId", "a\nb"), ("mode", "god"), ("tools", "x")],
)
def test_a_handshake_without_a_good_parameter_is_refused_by_name(field: str, value: str) -> None:
    with pytest.raises(HandshakeRefused) as refused:
        connect(**{field: value})
    answer = json.loads(AgentChat.refusal(refused.value))
    assert (answer["type"], answer["data"]["code"]) == ("ERROR", "INVALID_REQUEST")
    assert field in answer["data"]["details"]


@pytest.mark.parametrize(
    ("query", "data", "mode"),
    [("", None, "agent"), ("ask", None, "ask"), ("ask", "plan", "plan"), ("plan", "agent", "agent")],
)
def test_a_chat_waits_its_turn_in_the_mode_of_message_or_connection(query: str, data: str | None, mode: Any) -> None:
    body = {"type": "AGENT_CHAT", "data": {"message": "在哪里", "mode": data, "sessionId": "test-123"}}
    asked = connect(mode=query).decode(json.dumps(body).encode())
    assert asked == Prompt("在哪里", busy="queue", project="autoloop", mode=mode)
    assert connect(mode=query).mode == (query or "agent")


def test_a_chat_may_be_about_another_project() -> None:
    assert hear("AGENT_CHAT", {"message": "x", "projectKey": "other"}) == Prompt("x", project="other")


@pytest.mark.parametrize("name", ["callId", "toolCallId", "call_id"])
@pytest.mark.parametrize("place", ["data", "root", "id at root"])
def test_a_result_is_found_in_every_spelling_and_place(name: str, place: str) -> None:
    fields = {"success": False, "error": "文件不存在", "executionTime": 1.5}
    if place == "data":
        answer = hear("TOOL_RESULT", {name: "c-1", **fields})
    elif place == "root":
        answer = hear("TOOL_RESULT", **{name: "c-1"}, **fields)
    else:
        answer = hear("TOOL_RESULT", fields, **{name: "c-1"})
    assert answer == Answer("c-1", False, None, "文件不存在")


@pytest.mark.parametrize(
    "message",
    [
        {"toolCallId": "test-001", "toolName": "grep_file", "params": {"pattern": "TODO", "projectKey": "autoloop"}},
        {"callId": "test-001", "toolName": "grep_file", "params": {"pattern": "TODO", "webSocketSessionId": "x"}},
        {"data": {"toolCallId": "test-001", "toolName": "grep_file", "params": {"pattern": "TODO"}}},
    ],
)
def test_a_client_s_own_tool_call_is_run_by_the_gateway(message: dict[str, Any]) -> None:
    assert hear("TOOL_CALL", **message) == RunTool("test-001", "grep_file", {"pattern": "TODO"})


def test_stop_heartbeat_and_token() -> None:
    assert hear("STOP") == hear("STOP", {}) == hear("STOP", {"sessionId": "test-123"}) == Stop()
    assert hear("PING", {"timestamp": 7}) == Ping(7)
    assert json.loads(connect().pong(Ping(7), 1)) == {"type": "PONG", "data": {"timestamp": 7}}
    assert hear("CONNECT", {"token": "secret"}) == Authenticate("secret")


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"type": "AGENT_CHAT", "data": {"message": "x", "sessionId": "other"}}, "data.sessionId"),
        ({"type": "STOP", "data": {"sessionId": "other"}}, "data.sessionId"),
        ({"type": "AGENT_CHAT", "data": {}}, "data.message"),
        ({"type": "AGENT_CHAT", "data": {"message": ""}}, "data.message"),
        ({"type": "AGENT_CHAT", "data": {"message": "x", "mode": "claude-code"}}, "data.mode"),
        ({"type": "AGENT_CHAT", "data": {"message": "x", "projectKey": "\n"}}, "data.projectKey"),
        ({"type": "TOOL_CALL", "toolCallId": "c", "toolName": "t"}, "params"),
        ({"type": "TOOL_CALL", "toolName": "t", "params": {}}, "toolCallId"),
        ({"type": "TOOL_CALL", "toolCallId": "c", "toolName": "", "params": {}}, "toolName"),
        (
            {"type": "TOOL_CALL", "toolCallId": "c", "toolName": "t", "params": {"projectKey": "x"}},
            "params.projectKey",
        ),
        ({"type": "TOOL_RESULT", "data": {"toolCallId": "c"}}, "data.success"),
        ({"type": "TOOL_RESULT", "data": {"toolCallId": "", "success": True, "result": "x"}}, "data.toolCallId"),
        ({"type": "TOOL_RESULT", "data": {"toolCallId": "c", "success": True, "result": 1}}, "data.result"),
        (
            {"type": "TOOL_RESULT", "data": {"toolCallId": "c", "success": True, "executionTime": "1"}},
            "data.executionTime",
        ),
        ({"type": "AGENT_RESPONSE", "data": {}}, "type"),
        ({"type": "ANALYZE", "data": {"message": "x"}}, "type"),
    ],
)
def test_a_message_that_does_not_fit_is_refused_and_its_field_is_named(message: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        connect().decode(json.dumps(message).encode())
    answer = json.loads(connect().error(refused.value))
    assert answer["type"] == "ERROR"
    assert answer["data"]["code"] == "INVALID_REQUEST"
    assert list(answer["data"]["details"]) == [field]
    assert field in answer["data"]["message"]


def test_a_turn_is_told_from_its_start_to_its_end() -> None:
    seen: list[AnyEvent] = [
        TurnAsked(1, 0, "t", "req", "prompt", "c"),
        TurnStarted(2, 0, "t", "req"),
        AgentChosen(3, 0, "t", "req", "local"),
        AgentChosen(3, 0, "t", "req", "local", degraded=True, reason="no key"),
        Thought(4, 0, "t", "req", "正在规划", "planning", 1, 30, degraded=True),
        Said(5, 0, "t", "req", "第一", 0),
        Said(6, 0, "t", "req", "段", 1, final=True),
        ended("completed", stages=("analyzing", "planning"), degraded=True),
    ]
    piece = {"sessionId": "test-123", "content": "第一", "chunkIndex": 0, "isComplete": False}
    assert [told(connect().render(event)) for event in seen] == [
        [],
        [response("PROCESSING")],
        [],
        [response("PROCESSING", content="已降级到 local: no key", degraded=True)],
        [response("PROCESSING", "planning", "正在规划", True)],
        [{"type": "STREAMING_CONTENT", "data": piece}],
        [{"type": "STREAMING_CONTENT", "data": piece | {"content": "段", "chunkIndex": 1, "isComplete": True}}],
        [response("COMPLETED", "planning", "the text", True)],
    ]


@pytest.mark.parametrize(
    ("event", "status", "content"),
    [
        (ended("failed", "ANALYSIS_FAILED", "why"), "FAILED", "分析失败: why"),
        (ended("failed", "INTERRUPTED", "restart"), "FAILED", "服务已重启: restart"),
        (ended("timed_out", "ANALYSIS_TIMEOUT", "300 s"), "FAILED", "分析超时: 300 s"),
        (ended("cancelled", "STOPPED", "stopped by the user"), "CANCELLED", "已停止"),
        (ended("overridden", "REQUEST_OVERRIDDEN", "newer"), "CANCELLED", "请求已被新的请求覆盖: newer"),
    ],
)
def test_any_other_end_is_said_in_a_sentence(event: TurnEnded, status: str, content: str) -> None:
    assert told(connect().render(event)) == [response(status, content=content)]


def test_stop_ends_the_turn_before_it_says_stopped() -> None:
    session = Session("s", limits=Limits(4, 8, 1000), ids=Ids(b"abcdef"))
    stopped = {"type": "STOPPED", "data": {"sessionId": "test-123"}}
    assert [told(connect().render(event)) for event in session.stop(1)] == [[stopped]]
    session.prompt(Prompt("x", request="req"), 2, placement="client")
    messages = [message for event in session.stop(3) for message in told(connect().render(event))]
    assert messages == [response("CANCELLED", content="已停止"), stopped]


def test_a_call_goes_out_at_the_root_and_says_where_it_belongs() -> None:
    arguments = {"pattern": "TODO", "projectKey": "forged"}
    call = CallRequested(1, 0, "t", "req", "grep_file-1", "grep_file", arguments, project="autoloop")
    address = {"projectKey": "autoloop", "webSocketSessionId": "test-123"}
    assert json.loads(connect().call(call)) == {
        "type": "TOOL_CALL",
        "toolCallId": "grep_file-1",
        "toolName": "grep_file",
        "params": {"pattern": "TODO"} | address,
        "webSocketSessionId": "test-123",
    }
    assert arguments == {"pattern": "TODO", "projectKey": "forged"}


def test_only_the_client_that_asked_for_a_call_gets_its_result() -> None:
    mine = settled("ok", "## 结果", asked_as="test-001", asked_by="conn-1")
    data = {"toolCallId": "test-001", "success": True, "result": "## 结果", "executionTime": 150}
    assert told(connect().render(mine)) == [{"type": "TOOL_RESULT", "data": data}]
    assert connect().mirror(mine) == []
    assert connect().render(settled("ok", "x", asked_as="test-001", asked_by="conn-2")) == []
    failed = settled("failed", error="文件不存在", asked_as="test-001", asked_by="conn-1")
    data = {"toolCallId": "test-001", "success": False, "error": "文件不存在", "executionTime": 150}
    assert told(connect().render(failed)) == [{"type": "TOOL_RESULT", "data": data}]


def test_a_call_that_nobody_can_decide_is_told_to_everyone() -> None:
    [message] = told(connect().render(settled("indeterminate", error="contact was lost")))
    assert (message["type"], message["data"]["code"]) == ("ERROR", "TOOL_EXECUTION_FAILED")
    assert message["data"]["details"] == {"toolCallId": "call-1"}


def test_a_watcher_sees_prompts_and_results() -> None:
    asked = TurnAsked(1, 0, "t", "req", "prompt", "c", mode="ask")
    data = {"message": "prompt", "sessionId": "test-123", "projectKey": "autoloop", "mode": "ask"}
    assert told(connect().mirror(asked)) == [{"type": "AGENT_CHAT", "data": data}]
    result = {"toolCallId": "call-1", "success": True, "result": "x", "executionTime": 150}
    assert told(connect().mirror(settled("ok", {"content": "x"}))) == [{"type": "TOOL_RESULT", "data": result}]
    [cancelled] = told(connect().mirror(settled("cancelled")))
    assert cancelled["data"]["error"]


@pytest.mark.parametrize(
    "event",
    [
        settled("ok", "x"),
        settled("failed", error="x"),
        settled("timed_out", error="x"),
        SessionReset(1, 0, "c"),
        MessageAdded(1, 0, "c", "system", "x"),
        PeerReported(1, 0, "x"),
    ],
)
def test_the_document_has_no_message_for_the_rest(event: AnyEvent) -> None:
    assert connect().render(event) == []


def test_errors_have_code_message_and_details() -> None:
    for error, code in [
        (MessageTooLarge("11 bytes"), "MESSAGE_TOO_LARGE"),
        (QueueFull("32 are waiting", hint="wait"), "QUEUE_FULL"),
        (AgentError("no answer"), "ANALYSIS_FAILED"),
    ]:
        answer = json.loads(connect().error(error))["data"]
        assert answer["code"] == code
        assert error.message in answer["message"]
        assert answer["details"] == {}
