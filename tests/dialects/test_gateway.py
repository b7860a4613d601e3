"""Document 5: what an IDE may say, and what it is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from toolwire.core.commands import AddMessage, Answer, Command, Ping, Prompt, Report
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
    Stopped,
    Thought,
    TurnAsked,
    TurnEnded,
    TurnOutcome,
    TurnStarted,
)
from toolwire.dialects import gateway
from toolwire.dialects.base import Dialect, Handshake
from toolwire.dialects.gateway import (
    Gateway,
    WSAssistantMessage,
    WSErrorResponse,
    WSToolCall,
    WSToolResult,
    WSUserMessage,
)
from toolwire.errors import HandshakeRefused, InvalidMessage, MessageTooLarge, QueueFull


def connect(session: str = "s-1", **query: str) -> Gateway:
    return Gateway(Handshake(query=query, connection="conn-1", session=session, default_project="first"))


def hear(**message: Any) -> Command:
    return connect().decode(json.dumps(message).encode())


def told(messages: list[bytes]) -> list[Any]:
    return [json.loads(message) for message in messages]


def ended(outcome: TurnOutcome, message: str = "") -> TurnEnded:
    return TurnEnded(9, 0, "t", "r", "c", outcome, "prompt", "text", code="X", message=message)


def settled(outcome: CallOutcome, result: Any = None, error: str = "") -> CallSettled:
    return CallSettled(3, 0, "t", "r", "call-1", "Edit", outcome, result, error)


def test_the_schemas_are_importable_under_the_document_s_names() -> None:
    assert WSUserMessage(type="user_message", content="x").role == "user"
    assert WSAssistantMessage(type="assistant_message", token="x", is_final=True).is_final
    assert WSToolCall(type="tool_call", call_id="c", tool_name="t", arguments={}).arguments == {}
    assert WSToolResult(type="tool_result", call_id="c", error="e").result is None
    assert WSErrorResponse(type="error", content="x").content == "x"


@pytest.mark.parametrize("outcome", [{}, {"result": None}, {"result": 1, "error": "x"}, {"error": None}])
def test_a_tool_result_has_exactly_one_of_result_and_error(outcome: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="exactly one of result and error"):
        WSToolResult.model_validate({"type": "tool_result", "call_id": "c", **outcome})
    with pytest.raises(InvalidMessage, match="exactly one of result and error"):
        hear(type="tool_result", call_id="c", **outcome)


def test_a_user_message_asks_and_waits_its_turn() -> None:
    assert hear(type="user_message", content="Открой файл") == Prompt("Открой файл", busy="queue")
    assert hear(type="user_message", content="Открой", role="user") == Prompt("Открой")


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_another_role_only_adds_to_the_history(role: Any) -> None:
    assert hear(type="user_message", content="x", role=role) == AddMessage(role, "x")


def test_an_error_from_the_ide_is_a_report() -> None:
    assert hear(type="error", content="disk full") == Report("disk full")


@pytest.mark.parametrize(
    "message",
    [
        {"call_id": "c-1", "result": {"content": "x"}},
        {"callId": "c-1", "result": {"content": "x"}},
        {"toolCallId": "c-1", "result": {"content": "x"}},
        {"call_id": "c-1", "result": {"content": "x"}, "error": None},
        {"data": {"call_id": "c-1", "result": {"content": "x"}}},
        {"data": {"callId": "c-1", "result": {"content": "x"}}},
        {"toolCallId": "c-1", "data": {"result": {"content": "x"}}},
        {"call_id": "c-1", "result": {"content": "x"}, "data": {"call_id": "other", "error": "ignored"}},
    ],
)
def test_the_id_of_a_result_is_found_in_every_spelling_and_place(message: dict[str, Any]) -> None:
    assert hear(type="tool_result", **message) == Answer("c-1", True, {"content": "x"})


def test_a_failed_call_brings_its_error() -> None:
    assert hear(type="tool_result", call_id="c", error="File not found") == Answer("c", False, None, "File not found")


@pytest.mark.parametrize("result", [0, False, "", [], {}])
def test_any_result_but_null_is_a_result(result: Any) -> None:
    assert hear(type="tool_result", call_id="c", result=result) == Answer("c", True, result)


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({}, "type"),
        ({"type": 5}, "type"),
        ({"type": None}, "type"),
        ({"type": "USER_MESSAGE"}, "type"),
        ({"type": "assistant_message", "token": "x", "is_final": True}, "type"),
        ({"type": "tool_call", "call_id": "c", "tool_name": "t", "arguments": {}}, "type"),
        ({"type": "turn_ended", "outcome": "completed"}, "type"),
        ({"type": "user_message"}, "content"),
        ({"type": "user_message", "content": 5}, "content"),
        ({"type": "user_message", "content": ""}, "content"),
        ({"type": "user_message", "content": "x", "role": "admin"}, "role"),
        ({"type": "user_message", "content": "x", "role": None}, "role"),
        ({"type": "tool_result", "result": 1}, "call_id"),
        ({"type": "tool_result", "call_id": "", "result": 1}, "call_id"),
        ({"type": "tool_result", "call_id": 7, "result": 1}, "call_id"),
        ({"type": "tool_result", "call_id": "c", "error": 1}, "error"),
        ({"type": "error"}, "content"),
    ],
)
def test_a_message_that_does_not_fit_is_refused_and_its_field_is_named(message: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        hear(**message)
    assert field in refused.value.fields
    answer = json.loads(connect().error(refused.value))
    assert answer["type"] == "error"
    assert field in answer["content"]
    assert answer["content"].startswith("INVALID_REQUEST: ")


def test_text_goes_out_piece_by_piece_as_the_agent_made_it() -> None:
    pieces = [Said(1, 0, "t", "r", "Открываю ", 0), Said(2, 0, "t", "r", "main.py...", 1, final=True)]
    assert [told(connect().render(piece)) for piece in pieces] == [
        [{"type": "assistant_message", "token": "Открываю ", "is_final": False}],
        [{"type": "assistant_message", "token": "main.py...", "is_final": True}],
    ]


def test_a_call_goes_out_with_its_arguments_as_they_are() -> None:
    call = CallRequested(1, 0, "t", "r", "read_file-1", "read_file", {"path": "/src/main.py"})
    assert connect().render(call) == []
    assert json.loads(connect().call(call)) == {
        "type": "tool_call",
        "call_id": "read_file-1",
        "tool_name": "read_file",
        "arguments": {"path": "/src/main.py"},
    }


@pytest.mark.parametrize(
    ("outcome", "content"),
    [
        ("failed", "The turn failed: why"),
        ("timed_out", "The turn took too long: why"),
        ("overridden", "The turn was overridden: why"),
        ("cancelled", "The turn was stopped: why"),
    ],
)
def test_a_turn_that_does_not_complete_ends_with_an_error(outcome: TurnOutcome, content: str) -> None:
    assert told(connect().render(ended(outcome, "why"))) == [{"type": "error", "content": content}]


@pytest.mark.parametrize(
    "event",
    [
        ended("completed"),
        TurnAsked(1, 0, "t", "r", "prompt", "c"),
        TurnStarted(1, 0, "t", "r"),
        AgentChosen(1, 0, "t", "r", "local"),
        Thought(1, 0, "t", "r", "hm", "analyzing", 1, 10),
        settled("ok", {"content": ""}),
        settled("failed", error="no"),
        settled("timed_out", error="late"),
        Stopped(1, 0),
        SessionReset(1, 0, "c"),
        MessageAdded(1, 0, "c", "system", "x"),
        PeerReported(1, 0, "x"),
    ],
)
def test_the_document_has_no_message_for_the_rest(event: AnyEvent) -> None:
    assert connect().render(event) == []


def test_a_call_that_nobody_can_decide_is_told_to_everyone() -> None:
    assert told(connect().render(settled("indeterminate", error="contact was lost"))) == [
        {"type": "error", "content": "Edit (call-1): contact was lost"}
    ]


def test_a_watcher_sees_prompts_results_and_ends() -> None:
    seen: list[AnyEvent] = [
        TurnAsked(1, 0, "t", "r", "prompt", "c"),
        MessageAdded(2, 0, "c", "system", "be brief"),
        settled("ok", {"content": "x"}),
        settled("ok", "text of a plugin"),
        settled("ok"),
        settled("failed", error="no"),
        settled("cancelled"),
        ended("completed"),
        ended("failed", "why"),
        Said(1, 0, "t", "r", "x", 0),
    ]
    watcher = connect(watch="1")
    assert watcher.watches
    assert [told(watcher.mirror(event)) for event in seen] == [
        [{"type": "user_message", "content": "prompt", "role": "user"}],
        [{"type": "user_message", "content": "be brief", "role": "system"}],
        [{"type": "tool_result", "call_id": "call-1", "result": {"content": "x"}}],
        [{"type": "tool_result", "call_id": "call-1", "result": {"content": "text of a plugin"}}],
        [{"type": "tool_result", "call_id": "call-1", "result": {"content": ""}}],
        [{"type": "tool_result", "call_id": "call-1", "error": "no"}],
        [{"type": "tool_result", "call_id": "call-1", "error": "cancelled"}],
        [{"type": "turn_ended", "outcome": "completed", "calls": 0, "ms": 0}],
        [{"type": "turn_ended", "outcome": "failed", "calls": 0, "ms": 0, "code": "X", "message": "why"}],
        [],
    ]


@pytest.mark.parametrize("session", ["", "analyze", "agent", "a\nb", "a\x7f", "x" * 257, "\ud800"])
def test_what_is_not_a_session_id_is_refused_by_name(session: str) -> None:
    with pytest.raises(HandshakeRefused) as refused:
        connect(session)
    assert refused.value.field == "session_id"
    assert "session_id" in json.loads(Gateway.refusal(refused.value))["content"]


@pytest.mark.parametrize("session", ["s", "сессия 1", "x" * 256, "analyze2", "a/b"])
def test_any_other_name_is_one(session: str) -> None:
    assert connect(session).session == session


def test_the_project_is_the_query_s_else_the_first() -> None:
    assert connect().project == "first"
    assert connect(projectKey="second").project == "second"
    with pytest.raises(HandshakeRefused, match="projectKey"):
        connect(projectKey="a\0b")


def test_tools_run_where_the_query_says() -> None:
    assert connect().placement == "client"
    assert connect(tools="server").placement == "server"
    with pytest.raises(HandshakeRefused, match="tools"):
        connect(tools="moon")


def test_there_is_no_greeting_no_heartbeat_and_no_time_limit() -> None:
    dialect = connect()
    assert dialect.greeting(5) == []
    heartbeat: Dialect = dialect
    assert heartbeat.pong(Ping(5), 1) is None
    assert not dialect.idle_timeout
    assert not dialect.limited_turns


def test_other_errors_keep_their_code_and_say_what_to_do() -> None:
    dialect = connect()
    assert "MESSAGE_TOO_LARGE" in json.loads(dialect.error(MessageTooLarge("11 bytes; at most 10")))["content"]
    assert json.loads(dialect.error(QueueFull("32 are waiting", hint="wait"))) == {
        "type": "error",
        "content": "QUEUE_FULL: 32 are waiting (wait)",
    }


def test_the_public_names_are_these() -> None:
    assert sorted(gateway.__all__) == [
        "Gateway",
        "WSAssistantMessage",
        "WSErrorResponse",
        "WSToolCall",
        "WSToolResult",
        "WSTurnEnded",
        "WSUserMessage",
        "decode_any",
        "encode",
    ]
