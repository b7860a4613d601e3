"""Document 2: what a plugin may say, and what it is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolwire.core.commands import Answer, Authenticate, Command, Ping, Prompt
from toolwire.core.events import (
    AnyEvent,
    CallOutcome,
    CallRequested,
    CallSettled,
    Said,
    Stopped,
    Thought,
    TurnAsked,
    TurnEnded,
    TurnStarted,
)
from toolwire.core.ids import Ids
from toolwire.core.session import Limits, Session
from toolwire.dialects.analyze import Analyze, conversation
from toolwire.dialects.base import Handshake
from toolwire.errors import (
    HandshakeRefused,
    InvalidMessage,
    MessageTooLarge,
    NotAuthenticated,
    PeerError,
    StoreError,
    ToolwireError,
)

QUERY = {"sessionId": "ws-1", "projectKey": "autoloop", "projectPath": "/home/dev/project"}


def connect(without: str = "", **query: str) -> Analyze:
    given = {name: value for name, value in {**QUERY, **query}.items() if name != without}
    return Analyze(Handshake(query=given, connection="conn-1", fresh_request="req-fresh"))


def hear(kind: str, data: Any = None, /, **root: Any) -> Command:
    body = {"type": kind, **root} | ({"data": data} if data is not None else {})
    return connect().decode(json.dumps(body).encode())


def told(messages: list[bytes]) -> list[Any]:
    return [json.loads(message) for message in messages]


def settled(outcome: CallOutcome, result: Any = None, error: str = "", request: str = "req-1") -> CallSettled:
    return CallSettled(3, 0, "t", request, "call-1", "apply_change", outcome, result, error)


def ended(outcome: Any, code: str = "", message: str = "", **more: Any) -> TurnEnded:
    return TurnEnded(9, 0, "t", "req-1", "c", outcome, "prompt", "the text", code, message, **more)


def test_the_connection_is_greeted_with_its_request() -> None:
    assert told(connect().greeting(1704438400000)) == [
        {
            "type": "CONNECTED",
            "data": {
                "message": "WebSocket connected successfully",
                "requestId": "req-fresh",
                "serverTime": 1704438400000,
            },
        }
    ]
    assert told(connect(requestId="req-9").greeting(0))[0]["data"]["requestId"] == "req-9"


@pytest.mark.parametrize("field", ["sessionId", "projectKey", "projectPath"])
@pytest.mark.parametrize("value", [None, "", "a\0b", "x" * 5000])
def test_a_handshake_without_a_good_parameter_is_refused_by_name(field: str, value: str | None) -> None:
    with pytest.raises(HandshakeRefused) as refused:
        connect(without=field) if value is None else connect(**{field: value})
    assert refused.value.field == field
    answer = json.loads(Analyze.refusal(refused.value))
    assert answer["type"] == "ERROR"
    assert answer["data"]["code"] == "INVALID_REQUEST"
    assert field in answer["data"]["message"]
    assert field in answer["data"]["details"]


@pytest.mark.parametrize(
    ("mode", "agent"), [("", ""), ("claude-code", ""), ("legacy", "local"), ("fast", HandshakeRefused)]
)
def test_the_mode_of_the_query_picks_the_agent(mode: str, agent: Any) -> None:
    if agent is HandshakeRefused:
        with pytest.raises(HandshakeRefused, match="mode"):
            connect(mode=mode)
        return
    prompt = connect(mode=mode).decode(b'{"type":"ANALYZE","data":{"message":"x"}}')
    assert isinstance(prompt, Prompt)
    assert prompt.agent == agent


def test_an_analyze_overrides_and_continues_its_conversation() -> None:
    assert hear("ANALYZE", {"message": "分析", "requestId": "req-7", "mode": "legacy"}) == Prompt(
        text="分析",
        busy="override",
        request="req-7",
        conversation="request:autoloop:req-7",
        project="autoloop",
        mode="agent",
        agent="local",
    )


@pytest.mark.parametrize("given", [{}, {"requestId": None}, {"requestId": ""}])
def test_without_a_request_id_it_is_the_connection_s(given: dict[str, Any]) -> None:
    prompt = hear("ANALYZE", {"message": "x", **given})
    assert isinstance(prompt, Prompt)
    assert (prompt.request, prompt.conversation) == ("req-fresh", "request:autoloop:req-fresh")


def test_another_project_has_other_conversations() -> None:
    prompt = hear("ANALYZE", {"message": "x", "projectKey": "other"})
    assert isinstance(prompt, Prompt)
    assert (prompt.project, prompt.conversation) == ("other", "request:other:req-fresh")
    assert conversation("a:b", "c") != conversation("a", "b:c")


@pytest.mark.parametrize("name", ["callId", "toolCallId", "call_id"])
@pytest.mark.parametrize("place", ["data", "root", "id at root"])
def test_a_result_is_found_in_every_spelling_and_place(name: str, place: str) -> None:
    fields = {"success": True, "result": "text"}
    if place == "data":
        answer = hear("TOOL_RESULT", {name: "c-1", **fields})
    elif place == "root":
        answer = hear("TOOL_RESULT", **{name: "c-1"}, **fields)
    else:
        answer = hear("TOOL_RESULT", fields, **{name: "c-1"})
    assert answer == Answer("c-1", True, "text")


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"success": False, "error": "类未找到"}, Answer("c", False, None, "类未找到")),
        ({"success": False}, Answer("c", False, None, "")),
        ({"success": False, "result": "why"}, Answer("c", False, None, "why")),
        ({"success": True}, Answer("c", True, "")),
        ({"success": True, "result": None, "error": None}, Answer("c", True, "")),
        ({"success": True, "result": "x", "error": ""}, Answer("c", True, "x")),
    ],
)
def test_what_a_client_leaves_out_of_a_result_is_empty(fields: dict[str, Any], answer: Answer) -> None:
    assert hear("TOOL_RESULT", {"callId": "c", **fields}) == answer


def test_heartbeat_and_token() -> None:
    ping = hear("PING", {"timestamp": 1704438400000})
    assert ping == Ping(1704438400000)
    assert json.loads(connect().pong(Ping(1704438400000), 1)) == {
        "type": "PONG",
        "data": {"timestamp": 1704438400000},
    }
    assert hear("PING") == Ping(None)
    assert hear("CONNECT", {"token": "secret"}) == Authenticate("secret")


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        ({"type": "ANALYZE"}, ["data"]),
        ({"type": "ANALYZE", "data": []}, ["data"]),
        ({"type": "ANALYZE", "data": {}}, ["data.message"]),
        ({"type": "ANALYZE", "data": {"message": ""}}, ["data.message"]),
        ({"type": "ANALYZE", "data": {"message": 1, "mode": "x"}}, ["data.message", "data.mode"]),
        ({"type": "ANALYZE", "data": {"message": "x", "requestId": 5}}, ["data.requestId"]),
        ({"type": "ANALYZE", "data": {"message": "x", "requestId": "a\nb"}}, ["data.requestId"]),
        ({"type": "ANALYZE", "data": {"message": "x", "projectKey": "x" * 300}}, ["data.projectKey"]),
        ({"type": "TOOL_RESULT", "data": {"success": True}}, ["data.callId"]),
        ({"type": "TOOL_RESULT", "data": {"callId": "c"}}, ["data.success"]),
        ({"type": "TOOL_RESULT", "data": {"callId": "c", "success": "true"}}, ["data.success"]),
        ({"type": "TOOL_RESULT", "data": {"callId": "c", "success": True, "result": {}}}, ["data.result"]),
        ({"type": "TOOL_RESULT"}, ["data.callId", "data.success"]),
        ({"type": "TOOL_RESULT", "data": "x"}, ["data"]),
        ({"type": "PING", "data": {"timestamp": "now"}}, ["data.timestamp"]),
        ({"type": "CONNECT", "data": {}}, ["data.token"]),
        ({"type": "COMPLETE", "data": {"result": "x"}}, ["type"]),
        ({"type": "analyze"}, ["type"]),
        ({"data": {}}, ["type"]),
    ],
)
def test_details_name_every_field_at_fault(message: dict[str, Any], fields: list[str]) -> None:
    with pytest.raises(InvalidMessage) as refused:
        connect().decode(json.dumps(message).encode())
    answer = json.loads(connect().error(refused.value))["data"]
    assert answer["code"] == "INVALID_REQUEST"
    assert answer["message"].startswith("请求参数无效")
    assert sorted(answer["details"]) == sorted(fields)


@pytest.mark.parametrize(
    ("message", "request_id"),
    [
        (b'{"type":"ANALYZE","data":{"requestId":"req-7"}}', "req-7"),
        (b'{"type":"ANALYZE","data":{"requestId":7,"message":"x"}}', "req-fresh"),
        (b'{"type":"ANALYZE"}', "req-fresh"),
        (b'{"type":"TOOL_RESULT","data":{}}', ""),
        (b"not json", ""),
    ],
)
def test_an_error_names_a_request_only_if_it_is_that_request_s_end(message: bytes, request_id: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        connect().decode(message)
    assert refused.value.request == request_id
    assert json.loads(connect().error(refused.value, request=request_id))["data"]["requestId"] == request_id


def test_thoughts_become_progress() -> None:
    thought = Thought(1, 0, "t", "req-1", "正在搜索", "planning", 2, 40)
    assert told(connect().render(thought)) == [
        {
            "type": "THINKING",
            "data": {"requestId": "req-1", "thinking": "正在搜索", "stage": "planning", "percent": 40, "round": 2},
        }
    ]
    unknown = Thought(1, 0, "t", "req-1", "x", "analyzing", 1)
    assert "percent" not in told(connect().render(unknown))[0]["data"]


def test_a_completed_turn_tells_the_whole_text_and_what_it_took() -> None:
    event = ended(
        "completed", rounds=3, calls=4, failed_calls=1, ms=1234, stages=("analyzing", "planning", "executing")
    )
    assert told(connect().render(event)) == [
        {
            "type": "COMPLETE",
            "data": {
                "requestId": "req-1",
                "result": "the text",
                "process": "阶段: 分析 → 规划 → 执行，共 3 轮，工具调用 4 次（失败 1 次），用时 1.2 秒",
            },
        }
    ]


@pytest.mark.parametrize(
    ("event", "code", "said"),
    [
        (ended("overridden", "REQUEST_OVERRIDDEN", "newer"), "REQUEST_OVERRIDDEN", "请求已被新的请求覆盖: newer"),
        (ended("timed_out", "ANALYSIS_TIMEOUT", "300 s"), "ANALYSIS_TIMEOUT", "分析超时: 300 s"),
        (ended("failed", "ANALYSIS_FAILED", "why"), "ANALYSIS_FAILED", "分析失败: why"),
        (ended("failed", "PROJECT_NOT_FOUND", "x"), "PROJECT_NOT_FOUND", "项目路径不存在: x"),
        (ended("failed", "TOOL_EXECUTION_FAILED", "x"), "TOOL_EXECUTION_FAILED", "工具执行失败: x"),
        (ended("failed", "INTERRUPTED", "restart"), "ANALYSIS_FAILED", "分析失败: restart"),
        (ended("cancelled", "STOPPED", "stopped"), "ANALYSIS_FAILED", "分析已停止"),
    ],
)
def test_any_other_end_is_one_error_of_the_document(event: TurnEnded, code: str, said: str) -> None:
    assert told(connect().render(event)) == [
        {"type": "ERROR", "data": {"requestId": "req-1", "code": code, "message": said, "details": {}}}
    ]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MessageTooLarge("11 bytes"), "MESSAGE_TOO_LARGE"),
        (PeerError("no such project", code="PROJECT_NOT_FOUND", field="projectKey"), "PROJECT_NOT_FOUND"),
        (NotAuthenticated("send CONNECT"), "UNAUTHENTICATED"),
        (StoreError("disk full"), "ANALYSIS_FAILED"),
    ],
)
def test_errors_have_a_code_and_all_fields(error: ToolwireError, code: str) -> None:
    answer = json.loads(connect().error(error, request="req-3"))["data"]
    assert answer["code"] == code
    assert answer["requestId"] == "req-3"
    assert error.message in answer["message"]
    assert isinstance(answer["details"], dict)


def test_a_call_carries_the_path_the_ide_gave() -> None:
    call = CallRequested(1, 0, "t", "req-1", "read_class-1", "read_class", {"className": "A"})
    assert json.loads(connect().call(call)) == {
        "type": "TOOL_CALL",
        "data": {
            "callId": "read_class-1",
            "toolName": "read_class",
            "params": {"className": "A"},
            "projectPath": "/home/dev/project",
        },
    }


def test_a_call_that_nobody_can_decide_is_told_without_ending_the_request() -> None:
    [message] = told(connect().render(settled("indeterminate", error="contact was lost")))
    assert message["type"] == "THINKING"
    assert "apply_change" in message["data"]["thinking"]
    [outside] = told(connect().render(settled("indeterminate", request="")))
    assert (outside["type"], outside["data"]["requestId"]) == ("ERROR", "")


def test_a_watcher_sees_prompts_and_results() -> None:
    seen: list[AnyEvent] = [
        TurnAsked(1, 0, "t", "req-1", "prompt", "c", "autoloop", agent="local"),
        settled("ok", {"content": "x", "more": 1}),
        settled("ok", {"lines": [1]}),
        settled("ok"),
        settled("failed", error="no"),
        Said(1, 0, "t", "r", "x", 0),
    ]
    asked = {"requestId": "req-1", "message": "prompt", "projectKey": "autoloop"}
    assert [told(connect().mirror(event)) for event in seen] == [
        [{"type": "ANALYZE", "data": asked | {"projectPath": "/home/dev/project", "mode": "legacy"}}],
        [{"type": "TOOL_RESULT", "data": {"callId": "call-1", "success": True, "result": "x"}}],
        [{"type": "TOOL_RESULT", "data": {"callId": "call-1", "success": True, "result": '{"lines":[1]}'}}],
        [{"type": "TOOL_RESULT", "data": {"callId": "call-1", "success": True, "result": ""}}],
        [{"type": "TOOL_RESULT", "data": {"callId": "call-1", "success": False, "error": "no"}}],
        [],
    ]


def test_each_request_gets_one_terminal_message_and_an_override_comes_first() -> None:
    session = Session("s", limits=Limits(4, 8, 1000), ids=Ids(b"abcdef"))
    plugin = connect()
    events: list[AnyEvent] = []
    for number in (1, 2, 3):
        command = plugin.decode(b'{"type":"ANALYZE","data":{"message":"x","requestId":"r%d"}}' % number)
        assert isinstance(command, Prompt)
        events += session.prompt(command, number, placement="client", limit_ms=1000)
    assert session.running is not None
    events += session.finish(session.running.id, 9)
    events += session.stop(10)
    terminal = [message for event in events for message in told(plugin.render(event))]
    assert [(m["type"], m["data"]["requestId"], m["data"].get("code")) for m in terminal] == [
        ("ERROR", "r1", "REQUEST_OVERRIDDEN"),
        ("ERROR", "r2", "REQUEST_OVERRIDDEN"),
        ("COMPLETE", "r3", None),
    ]
    assert plugin.render(TurnStarted(1, 0, "t", "r")) == plugin.render(Stopped(1, 0)) == []


def test_the_document_s_limits_apply() -> None:
    assert Analyze.idle_timeout
    assert Analyze.limited_turns
