"""Document 3, section 7: its golden files, and what the events of a session become."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialects import strategies
from toolwire.core.commands import Prompt, Reset, Stop
from toolwire.core.events import (
    AgentChosen,
    AnyEvent,
    Attachment,
    CallOutput,
    CallRequested,
    CallSettled,
    Message,
    Said,
    SessionReset,
    Thought,
    TurnEnded,
    TurnStarted,
)
from toolwire.dialects import flash_messages
from toolwire.dialects.flash import Flash, failure
from toolwire.errors import AgentError, FlashError, InvalidMessage, MessageTooLarge, PeerError, ToolwireError

FOLDER = Path(__file__).parents[1] / "golden" / "3-flash-tool-calls"
GOLDEN = sorted(FOLDER.glob("0[5-8]*.json"))
FLASH = Flash(strategies.HANDSHAKE)


def hear(**fields: Any) -> Any:
    return FLASH.decode(json.dumps(fields).encode())


def told(event: AnyEvent) -> list[dict[str, Any]]:
    return [json.loads(message) for message in FLASH.render(event)]


def ended(outcome: Any, **more: Any) -> TurnEnded:
    return TurnEnded(9, 9, "t", "t", "c", outcome, "prompt", ms=120, **more)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_message_is_read_and_written_again_exactly(path: Path) -> None:
    message = path.read_bytes()
    read = flash_messages.decode_any(message)
    assert json.loads(flash_messages.encode(read)) == json.loads(message)
    more = {**json.loads(message), "unknown": 1}
    assert flash_messages.decode_any(json.dumps(more).encode()) == read


def test_there_are_four_golden_messages() -> None:
    assert len(GOLDEN) == 4


def test_the_documents_requests_are_commands() -> None:
    task = FLASH.decode((FOLDER / "05-flash_cline_task.json").read_bytes())
    path = ".uploads/app/default/spec.md"
    assert task == Prompt(
        "根据附件生成请假申请页面",
        busy="refuse",
        history=(Message("user", "..."),),
        attachments=(Attachment(path, "spec.md", "text/markdown", 1024, "..."),),
    )
    assert FLASH.decode((FOLDER / "06-flash_cline_stop.json").read_bytes()) == Stop()
    assert FLASH.decode((FOLDER / "07-flash_cline_reset.json").read_bytes()) == Reset()


def test_what_a_client_leaves_out_or_sets_to_null_is_not_needed() -> None:
    task = hear(
        type="flash:cline_task", sessionId="s", prompt="x", history=None, attachments=[{"relativePath": "a/b.md"}]
    )
    assert task == Prompt("x", busy="refuse", attachments=(Attachment("a/b.md", "b.md"),))


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"type": "flash:cline_task", "sessionId": "s"}, "prompt"),
        ({"type": "flash:cline_task", "sessionId": "s", "prompt": ""}, "prompt"),
        ({"type": "flash:cline_task", "sessionId": "", "prompt": "x"}, "sessionId"),
        ({"type": "flash:cline_task", "sessionId": 7, "prompt": "x"}, "sessionId"),
        ({"type": "flash:cline_task", "sessionId": "a\nb", "prompt": "x"}, "sessionId"),
        (
            {"type": "flash:cline_task", "sessionId": "s", "prompt": "x", "history": [{"role": "dog"}]},
            "history.0.role",
        ),
        (
            {"type": "flash:cline_task", "sessionId": "s", "prompt": "x", "attachments": [{}]},
            "attachments.0.relativePath",
        ),
        ({"type": "flash:cline_stop"}, "sessionId"),
    ],
)
def test_a_message_that_does_not_fit_is_refused_by_the_name_of_its_field(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        hear(**fields)
    assert named in refused.value.fields
    said = json.loads(FLASH.error(refused.value))
    assert (said["type"], said["code"], said["sessionId"]) == ("flash:cline_error", "VALIDATION_FAILED", "test-123")
    assert named in said["error"]


@pytest.mark.parametrize("message", [b"", b"[]", b"nope", b'{"a": 1}', b'{"type": "flash:cline_done"}', b"\xff"])
def test_what_is_no_message_at_all_is_a_bad_request(message: bytes) -> None:
    with pytest.raises(InvalidMessage) as refused:
        FLASH.decode(message)
    assert json.loads(failure(refused.value))["code"] == "BAD_REQUEST"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MessageTooLarge("big"), "MESSAGE_TOO_LARGE"),
        (PeerError("busy", code="CONFLICT"), "CONFLICT"),
        (AgentError("down"), "UPSTREAM_ERROR"),
        (FlashError("RLS_DENIED", "no"), "RLS_DENIED"),
        (ToolwireError("?"), "INTERNAL_ERROR"),
        (PeerError("odd", code="SOMETHING_ELSE"), "INTERNAL_ERROR"),
    ],
)
def test_errors_have_codes_of_the_document(error: ToolwireError, code: str) -> None:
    assert json.loads(FLASH.error(error))["code"] == code


def test_a_task_that_succeeds_is_told_from_beginning_to_end() -> None:
    assert told(TurnStarted(1, 1, "t", "t"))[0]["status"] == "running"
    assert told(AgentChosen(2, 1, "t", "t", "local")) == []
    assert told(AgentChosen(2, 1, "t", "t", "local", True, "model is down"))[0]["status"] == "retry"
    assert told(Thought(3, 1, "t", "t", "读取附件", "analyzing", 1))[0]["message"] == "读取附件"
    assert told(Said(4, 1, "t", "t", "piece", 0))[0]["content"] == "piece"
    assert told(Said(5, 1, "t", "t", "", 1, True)) == []
    assert told(CallOutput(6, 1, "c", "flash.build.run", "line\n"))[0] == {
        "type": "flash:cline_status",
        "sessionId": "test-123",
        "status": "log",
        "message": "line\n",
    }
    summary, done = told(ended("completed", text="whole"))
    assert (summary["type"], summary["role"], summary["content"]) == ("flash:cline_summary", "assistant", "whole")
    assert done == {
        "type": "flash:cline_done",
        "sessionId": "test-123",
        "success": True,
        "exitCode": 0,
        "elapsedMs": 120,
    }


@pytest.mark.parametrize(
    ("event", "before", "exit_code"),
    [
        (ended("failed", code="ANALYSIS_FAILED", message="why"), ("flash:cline_error", "UPSTREAM_ERROR"), 1),
        (ended("failed", code="INTERRUPTED", message="why"), ("flash:cline_error", "INTERNAL_ERROR"), 1),
        (ended("timed_out", code="ANALYSIS_TIMEOUT", message="why"), ("flash:cline_error", "TIMEOUT"), 1),
        (ended("overridden", code="REQUEST_OVERRIDDEN", message="why"), ("flash:cline_error", "CONFLICT"), 130),
        (ended("cancelled", code="STOPPED"), ("flash:cline_status", None), 130),
    ],
)
def test_every_other_end_says_why_and_then_done(
    event: TurnEnded, before: tuple[str, str | None], exit_code: int
) -> None:
    first, done = told(event)
    assert (first["type"], first.get("code")) == before
    assert (done["type"], done["success"], done["exitCode"]) == ("flash:cline_done", False, exit_code)


def test_a_reset_is_told_and_calls_of_programs_are_not() -> None:
    assert told(SessionReset(1, 1, "c"))[0]["status"] == "reset"
    assert told(CallRequested(1, 1, "t", "t", "c", "grep_file", {}))[0]["status"] == "log"
    assert told(CallRequested(1, 1, "", "", "c", "grep_file", {})) == []
    assert told(CallSettled(1, 1, "", "", "c", "grep_file", "ok")) == []


@settings(max_examples=200, deadline=None)
@given(strategies.any_event)
def test_there_are_words_for_every_event_and_they_carry_the_session(event: AnyEvent) -> None:
    messages = [flash_messages.decode_any(message) for message in FLASH.render(event)]
    if not messages:
        return
    assert type(event) in FLASH.shows
    assert all(message.type in flash_messages.SENT for message in messages)
    assert all(message.sessionId == "test-123" for message in messages)  # type: ignore[union-attr]
    dones = [message for message in messages if message.type == "flash:cline_done"]
    assert dones == ([messages[-1]] if isinstance(event, TurnEnded) else [])


@settings(deadline=None)
@given(strategies.json_values, st.sampled_from([*flash_messages.MESSAGES, None]))
def test_random_json_is_survived(value: Any, kind: str | None) -> None:
    body = {**value, "type": kind} if isinstance(value, dict) else {"type": kind, "prompt": value, "sessionId": value}
    refused: InvalidMessage | None = None
    try:
        FLASH.decode(json.dumps(body if kind else value).encode())
    except InvalidMessage as error:
        refused = error
    assert refused is None or flash_messages.decode_any(FLASH.error(refused))
