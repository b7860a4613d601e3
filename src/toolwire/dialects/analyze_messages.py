"""The messages of document 2, `/ws/analyze`: `{type, data}`, told apart by `type`.

Fields the document calls required but leaves out in its own examples are optional to read; `ALWAYS` lists what the
gateway never leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from toolwire.core.events import Stage
from toolwire.dialects import approvals, wire
from toolwire.dialects.enveloped import Connect, Number, Ping, Pong, Text, result_fields
from toolwire.dialects.wire import Model

AnalyzeMode = Literal["claude-code", "legacy"]


class ConnectedData(Model):
    message: str
    requestId: str
    serverTime: int


class Connected(Model):
    """1.2, server to client."""

    type: Literal["CONNECTED"]
    data: ConnectedData


class AnalyzeData(Model):
    requestId: str | None = None
    message: str
    projectKey: str | None = None
    projectPath: str | None = None
    mode: AnalyzeMode | None = None


class AnalyzeRequest(Model):
    """3.1, client to server."""

    type: Literal["ANALYZE"]
    data: AnalyzeData


class CompleteData(Model):
    requestId: str | None = None
    result: str
    process: str | None = None


class Complete(Model):
    """3.2, server to client."""

    type: Literal["COMPLETE"]
    data: CompleteData


class ThinkingData(Model):
    requestId: str | None = None
    thinking: str
    stage: Stage | None = None
    percent: Annotated[Number, Field(ge=0, le=100)] | None = None
    round: int | None = None


class Thinking(Model):
    """3.3, server to client."""

    type: Literal["THINKING"]
    data: ThinkingData


class ToolCallData(Model):
    callId: Text
    toolName: Text
    params: dict[str, Any]
    projectPath: str | None = None


class ToolCall(Model):
    """3.4, server to client."""

    type: Literal["TOOL_CALL"]
    data: ToolCallData


class ToolResultData(Model):
    callId: Text
    success: bool
    result: str | None = None
    error: str | None = None


class ToolResult(Model):
    """3.5, client to server."""

    type: Literal["TOOL_RESULT"]
    data: ToolResultData


class ErrorData(Model):
    requestId: str | None = None
    code: str | None = None
    message: str
    details: dict[str, Any] | None = None


class Error(Model):
    """3.6 and 4.2, server to client."""

    type: Literal["ERROR"]
    data: ErrorData


MESSAGES: Mapping[str, type[Model]] = {
    "ANALYZE": AnalyzeRequest,
    "COMPLETE": Complete,
    "THINKING": Thinking,
    "TOOL_CALL": ToolCall,
    "TOOL_RESULT": ToolResult,
    "ERROR": Error,
    "PING": Ping,
    "PONG": Pong,
    "CONNECT": Connect,
    "CONNECTED": Connected,
    **approvals.ENVELOPED,
}
RECEIVED = ("ANALYZE", "TOOL_RESULT", "PING", "CONNECT", "APPROVAL_ANSWER")
SENT = ("CONNECTED", "COMPLETE", "THINKING", "TOOL_CALL", "ERROR", "PONG")
WATCHED = ("ANALYZE", "TOOL_RESULT", "APPROVAL_REQUEST", "APPROVAL_RESULT")
ALWAYS: Mapping[str, tuple[str, ...]] = {
    "COMPLETE": ("requestId", "result"),
    "THINKING": ("requestId", "thinking"),
    "TOOL_CALL": ("callId", "toolName", "params", "projectPath"),
    "ERROR": ("requestId", "message", "code", "details"),
}


def decode_any(message: bytes, nesting_limit: int = wire.NESTING_LIMIT) -> Model:
    """Any message of the document, of either direction; raises InvalidMessage."""
    return typed(wire.parse(message, nesting_limit))


def typed(value: dict[str, Any]) -> Model:
    """A parsed message as its model, whichever spelling its id came in."""
    kind = wire.kind_of(value, MESSAGES)
    if kind == "TOOL_RESULT":
        value = result_fields(value, "callId")
    return wire.fit(MESSAGES[kind], value)


encode = wire.encode
