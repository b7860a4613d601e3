from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.dialects.base import DialectName
from toolwire.errors import InvalidMessage
from toolwire.ide.call import Outcome
from toolwire.ide.meanings import (
    Answered,
    Asked,
    Ended,
    Failed,
    Greeted,
    Meaning,
    Message,
    Other,
    Prompted,
    Said,
    Thought,
)
from toolwire.ide.speech import speech_of

GOLDEN = Path(__file__).parents[1] / "golden"
DIALECTS: tuple[DialectName, ...] = ("agent_chat", "analyze", "gateway")
FOLDERS = {"agent_chat": "1-tool-protocol", "analyze": "2-analyze-v1", "gateway": "5-gateway-ide"}


def heard(dialect: DialectName, **message: Any) -> Meaning:
    return speech_of(dialect).hear(json.dumps(message).encode()).meaning


@pytest.mark.parametrize(
    ("dialect", "message", "meaning"),
    [
        ("gateway", {"type": "assistant_message", "token": "a", "is_final": True}, Said("a", True)),
        ("gateway", {"type": "error", "content": "no"}, Failed("no")),
        ("gateway", {"type": "user_message", "content": "hi"}, Prompted("hi")),
        ("gateway", {"type": "tool_result", "call_id": "1", "result": {"a": 1}}, Answered("1", True, {"a": 1})),
        ("gateway", {"type": "tool_result", "call_id": "1", "error": "no"}, Answered("1", False, None, "no")),
        ("gateway", {"type": "turn_ended", "outcome": "completed"}, Ended("completed", "", "completed")),
        ("gateway", {"type": "turn_ended", "outcome": "timed_out"}, Ended("failed", "", "timed_out")),
        ("gateway", {"type": "news"}, Other("news", known=False)),
        (
            "analyze",
            {"type": "CONNECTED", "data": {"message": "", "requestId": "r", "serverTime": 1}},
            Greeted(),
        ),
        (
            "analyze",
            {"type": "THINKING", "data": {"thinking": "t", "stage": "planning", "percent": 30.5}},
            Thought("t", "planning", 30),
        ),
        ("analyze", {"type": "COMPLETE", "data": {"result": "x"}}, Ended("completed", "x")),
        (
            "analyze",
            {"type": "ERROR", "data": {"requestId": "r", "message": "m", "code": "C"}},
            Ended("failed", "", "m", "C"),
        ),
        ("analyze", {"type": "ERROR", "data": {"message": "m", "code": "C"}}, Failed("m", "C")),
        ("analyze", {"type": "PONG", "data": {"timestamp": 1}}, Other("Pong")),
        (
            "agent_chat",
            {
                "type": "STREAMING_CONTENT",
                "data": {"sessionId": "", "content": "a", "chunkIndex": 0, "isComplete": False},
            },
            Said("a"),
        ),
        ("agent_chat", {"type": "ERROR", "data": {"code": "C", "message": "m", "details": {}}}, Failed("m", "C")),
    ],
)
def test_what_messages_mean(dialect: DialectName, message: dict[str, Any], meaning: Meaning) -> None:
    assert heard(dialect, **message) == meaning


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        ("PROCESSING", Thought("text", "analyzing")),
        ("WAITING_CONFIRM", Thought("text", "analyzing")),
        ("COMPLETED", Ended("completed", "text")),
        ("FAILED", Ended("failed", "", "text")),
        ("CANCELLED", Ended("cancelled", "", "text")),
    ],
)
def test_document_1_tells_progress_and_end_in_one_message(status: str, meaning: Meaning) -> None:
    data = {
        "sessionId": "",
        "requestId": "",
        "status": status,
        "stage": "analyzing",
        "content": "text",
        "degraded": False,
    }
    assert heard("agent_chat", type="AGENT_RESPONSE", data=data) == meaning


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "fields",
    [
        {"call_id": "c", "tool_name": "t", "arguments": {"a": 1}},
        {"callId": "c", "toolName": "t", "params": {"a": 1}},
        {"toolCallId": "c", "toolName": "t", "params": {"a": 1}},
        {"data": {"callId": "c", "toolName": "t", "params": {"a": 1}}},
        {"data": {"toolCallId": "c", "toolName": "t", "params": {"a": 1}}},
    ],
)
def test_a_call_is_understood_in_every_spelling(dialect: DialectName, fields: dict[str, Any]) -> None:
    kind = "tool_call" if dialect == "gateway" else "TOOL_CALL"
    assert heard(dialect, type=kind, **fields) == Asked("c", "t", {"a": 1})


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_example_of_the_document_is_understood(dialect: DialectName) -> None:
    speech = speech_of(dialect)
    for file in sorted((GOLDEN / FOLDERS[dialect]).glob("*.json")):
        assert isinstance(speech.hear(file.read_bytes()), Message), file.name


@pytest.mark.parametrize("dialect", DIALECTS)
def test_answers_are_exactly_as_the_document_has_them(dialect: DialectName) -> None:
    speech = speech_of(dialect)
    done = json.loads(
        speech.answer("c", Outcome(True, "text" if dialect != "gateway" else {"content": "text"}, ms=5))
    )
    failed = json.loads(speech.answer("c", Outcome(False, error="no", ms=5)))
    expected: dict[str, tuple[Any, Any]] = {
        "gateway": (
            {"type": "tool_result", "call_id": "c", "result": {"content": "text"}},
            {"type": "tool_result", "call_id": "c", "error": "no"},
        ),
        "analyze": (
            {"type": "TOOL_RESULT", "data": {"callId": "c", "success": True, "result": "text"}},
            {"type": "TOOL_RESULT", "data": {"callId": "c", "success": False, "error": "no"}},
        ),
        "agent_chat": (
            {
                "type": "TOOL_RESULT",
                "data": {"toolCallId": "c", "success": True, "result": "text", "executionTime": 5},
            },
            {"type": "TOOL_RESULT", "data": {"toolCallId": "c", "success": False, "error": "no", "executionTime": 5}},
        ),
    }
    assert (done, failed) == expected[dialect]


def test_document_2_goes_on_under_the_request_it_was_first_given() -> None:
    speech = speech_of("analyze")
    assert json.loads(speech.ask("a"))["data"] == {"message": "a"}
    for request in ("req-1", "req-2"):
        data = {"message": "", "requestId": request, "serverTime": 1}
        speech.hear(json.dumps({"type": "CONNECTED", "data": data}).encode())
    assert json.loads(speech.ask("b"))["data"] == {"message": "b", "requestId": "req-1"}


def test_the_cursor_is_read_from_any_message() -> None:
    assert speech_of("gateway").hear(b'{"type":"error","content":"x","seq":"e.7"}').cursor == "e.7"
    assert speech_of("gateway").hear(b'{"type":"error","content":"x","seq":7}').cursor == ""
    assert speech_of("gateway").hear(b'{"type":"error","content":"x"}').cursor == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ["type", "data", "call_id", "callId", "tool_name", "toolName", "arguments", "params", "token"]
)
KINDS = st.sampled_from(
    ["tool_call", "TOOL_CALL", "assistant_message", "AGENT_RESPONSE", "COMPLETE", "ERROR", "error"]
)
GARBAGE = st.binary(max_size=60) | st.dictionaries(NAMES, JSON | KINDS, max_size=6).map(
    lambda value: json.dumps(value).encode()
)


@given(GARBAGE, st.sampled_from(DIALECTS))
def test_garbage_is_refused_by_name_or_means_something(raw: bytes, dialect: DialectName) -> None:
    try:
        heard = speech_of(dialect).hear(raw)
    except InvalidMessage:
        return
    assert isinstance(heard, Message)


ASIDE = [
    Outcome(True, "text", details={"path": "a.py"}),
    Outcome(False, error="who knows", indeterminate=True),
]


@pytest.mark.parametrize("outcome", ASIDE, ids=["details", "undecided"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_gateway_that_does_not_say_it_reads_more_gets_the_documents_fields_alone(
    dialect: DialectName, outcome: Outcome
) -> None:
    speech = speech_of(dialect)
    for headers in ({}, {"Toolwire-Details": "0"}):
        speech.meet(headers)
        told = json.loads(speech.answer("c", outcome))
        fields = told.get("data", told)
        assert not {"details", "indeterminate"} & fields.keys()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_gateway_that_says_so_is_told_more(dialect: DialectName) -> None:
    speech = speech_of(dialect)
    speech.meet({"Toolwire-Details": "1"})
    written, undecided = (json.loads(speech.answer("c", outcome)) for outcome in ASIDE)
    assert undecided.get("data", undecided)["indeterminate"] is True
    if dialect != "gateway":  # whose result is an object with these fields already
        assert written["data"]["details"] == {"path": "a.py"}
    speech.meet({})
    assert "details" not in json.dumps(json.loads(speech.answer("c", ASIDE[0])))
