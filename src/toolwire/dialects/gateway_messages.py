"""The messages of document 5, `/ws/{session_id}`: flat objects, told apart by `type`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from toolwire.core.events import Role, TurnOutcome
from toolwire.dialects import wire
from toolwire.dialects.approvals import WSApprovalAnswer, WSApprovalRequest, WSApprovalResult
from toolwire.dialects.calls import CALL_ID_SPELLINGS, first
from toolwire.dialects.wire import Model

CallId = Annotated[str, Field(min_length=1)]


class WSUserMessage(Model):
    """Section 1. A role other than `user` only adds to the history."""

    type: Literal["user_message"]
    content: str
    role: Role = "user"


class WSAssistantMessage(Model):
    """Section 2. `is_final` ends a run of text, not the turn."""

    type: Literal["assistant_message"]
    token: str
    is_final: bool


class WSToolCall(Model):
    """Section 3, gateway to IDE."""

    type: Literal["tool_call"]
    call_id: CallId
    tool_name: Annotated[str, Field(min_length=1)]
    arguments: dict[str, Any]


class WSToolResult(Model):
    """Section 3, IDE to gateway: exactly one of `result` and `error`; null counts as absent."""

    type: Literal["tool_result"]
    call_id: CallId
    result: Any = None
    error: str | None = None

    @model_validator(mode="after")
    def _one_outcome(self) -> WSToolResult:
        if (self.result is None) == (self.error is None):
            raise ValueError("exactly one of result and error must be given")
        return self


class WSErrorResponse(Model):
    """Section 4, both directions."""

    type: Literal["error"]
    content: str


class WSTurnEnded(Model):
    """Not of the document: told only to a connection that watches (`?watch=1`), which else could not know."""

    type: Literal["turn_ended"]
    outcome: TurnOutcome
    calls: int = 0
    ms: int = 0
    code: str = ""
    message: str = ""


Message = (
    WSUserMessage
    | WSAssistantMessage
    | WSToolCall
    | WSToolResult
    | WSErrorResponse
    | WSTurnEnded
    | WSApprovalRequest
    | WSApprovalResult
    | WSApprovalAnswer
)

MESSAGES: Mapping[str, type[Message]] = {
    "user_message": WSUserMessage,
    "assistant_message": WSAssistantMessage,
    "tool_call": WSToolCall,
    "tool_result": WSToolResult,
    "error": WSErrorResponse,
    "turn_ended": WSTurnEnded,
    "approval_request": WSApprovalRequest,
    "approval_result": WSApprovalResult,
    "approval_answer": WSApprovalAnswer,
}
RECEIVED = ("user_message", "tool_result", "error", "approval_answer")
SENT = ("assistant_message", "tool_call", "error")
WATCHED = ("user_message", "tool_result", "turn_ended", "approval_request", "approval_result")
"""Sent to a connection that watches, beside the above."""


def decode_any(message: bytes, nesting_limit: int = wire.NESTING_LIMIT) -> Message:
    """Any message of the document, of either direction; raises InvalidMessage."""
    return typed(wire.parse(message, nesting_limit))


def typed(value: dict[str, Any]) -> Message:
    """A parsed message as its model, whichever spelling its id came in."""
    kind = wire.kind_of(value, MESSAGES)
    if kind == "tool_result":
        value = _result_fields(value)
    return wire.fit(MESSAGES[kind], value)


encode = wire.encode


def _result_fields(value: dict[str, Any]) -> dict[str, Any]:
    """At the root, as the document says; what is missing there may be in `data`, the id in another spelling."""
    inner = value.get("data")
    data = inner if isinstance(inner, dict) else {}
    fields = {"type": value["type"]}
    call_id = first(CALL_ID_SPELLINGS, value, data)
    if call_id is not None:
        fields["call_id"] = call_id
    outcome = value if value.keys() & {"result", "error"} else data
    fields |= {name: outcome[name] for name in ("result", "error") if name in outcome}
    return fields
