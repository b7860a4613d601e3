"""The messages of document 1 and its version 2, `/ws/agent/chat`.

Every message is `{type, data}`; TOOL_CALL alone has its fields at the root. `ALWAYS` lists what the gateway never
leaves out, where the document's own examples do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from toolwire.core.events import Mode, Stage
from toolwire.dialects import approvals, wire
from toolwire.dialects.calls import CALL_ID_SPELLINGS, first
from toolwire.dialects.enveloped import Connect, Number, Ping, Pong, Text, result_fields
from toolwire.dialects.wire import Model

Status = Literal["PROCESSING", "WAITING_CONFIRM", "COMPLETED", "FAILED", "CANCELLED"]


class ConnectedData(Model):
    message: str
    sessionId: str
    projectKey: str
    mode: Mode
    serverTime: int
    protocolVersion: str


class Connected(Model):
    """Server to client, once the connection is taken."""

    type: Literal["CONNECTED"]
    data: ConnectedData


class ChatData(Model):
    message: str
    sessionId: str | None = None
    projectKey: str | None = None
    projectPath: str | None = None
    mode: Mode | None = None


class Chat(Model):
    """Client to server: ask the agent."""

    type: Literal["AGENT_CHAT"]
    data: ChatData


class ResponseData(Model):
    sessionId: str
    requestId: str
    status: Status
    stage: Stage
    content: str
    degraded: bool


class Response(Model):
    """Server to client: where a turn is, and how it ended."""

    type: Literal["AGENT_RESPONSE"]
    data: ResponseData


class PieceData(Model):
    sessionId: str
    content: str
    chunkIndex: int
    isComplete: bool


class Piece(Model):
    """Server to client: a new piece of text, and only that. `isComplete` ends a run of text."""

    type: Literal["STREAMING_CONTENT"]
    data: PieceData


class ToolCall(Model):
    """Document 1, section 1: all fields at the root. From a client it asks the gateway to run the tool."""

    type: Literal["TOOL_CALL"]
    toolCallId: Text
    toolName: Text
    params: dict[str, Any]
    webSocketSessionId: str | None = None


class ToolResultData(Model):
    toolCallId: Text
    success: bool
    result: str | None = None
    error: str | None = None
    executionTime: Number | None = None


class ToolResult(Model):
    """Document 1, section 2: all fields in `data`. Server to client only for a call the client asked for."""

    type: Literal["TOOL_RESULT"]
    data: ToolResultData


class StopData(Model):
    sessionId: str | None = None


class Stop(Model):
    """Client to server: end the running turn and what waits behind it."""

    type: Literal["STOP"]
    data: StopData = StopData()


class StoppedData(Model):
    sessionId: str


class Stopped(Model):
    type: Literal["STOPPED"]
    data: StoppedData


class ErrorData(Model):
    code: str
    message: str
    details: dict[str, Any]


class Error(Model):
    type: Literal["ERROR"]
    data: ErrorData


MESSAGES: Mapping[str, type[Model]] = {
    "CONNECTED": Connected,
    "AGENT_CHAT": Chat,
    "AGENT_RESPONSE": Response,
    "STREAMING_CONTENT": Piece,
    "TOOL_CALL": ToolCall,
    "TOOL_RESULT": ToolResult,
    "STOP": Stop,
    "STOPPED": Stopped,
    "PING": Ping,
    "PONG": Pong,
    "CONNECT": Connect,
    "ERROR": Error,
    **approvals.ENVELOPED,
}
RECEIVED = ("AGENT_CHAT", "TOOL_RESULT", "STOP", "PING", "CONNECT", "TOOL_CALL", "APPROVAL_ANSWER")
SENT = (
    "CONNECTED",
    "AGENT_RESPONSE",
    "STREAMING_CONTENT",
    "TOOL_CALL",
    "TOOL_RESULT",
    "STOPPED",
    "PONG",
    "ERROR",
)
WATCHED = ("AGENT_CHAT", "TOOL_RESULT", "APPROVAL_REQUEST", "APPROVAL_RESULT")
ALWAYS: Mapping[str, tuple[str, ...]] = {
    "TOOL_CALL": ("toolCallId", "toolName", "params", "webSocketSessionId"),
}


def decode_any(message: bytes, nesting_limit: int = wire.NESTING_LIMIT) -> Model:
    """Any message of the document, of either direction; raises InvalidMessage."""
    return typed(wire.parse(message, nesting_limit))


def typed(value: dict[str, Any]) -> Model:
    """A parsed message as its model, whichever spelling its id came in."""
    kind = wire.kind_of(value, MESSAGES)
    if kind == "TOOL_RESULT":
        value = result_fields(value, "toolCallId")
    elif kind == "TOOL_CALL":
        value = _call_fields(value)
    return wire.fit(MESSAGES[kind], value)


encode = wire.encode


def _call_fields(value: dict[str, Any]) -> dict[str, Any]:
    """At the root, as the document warns in capitals; what is missing there may be in `data`."""
    inner = value.get("data")
    data = inner if isinstance(inner, dict) else {}
    fields = {name: data[name] for name in ("toolName", "params", "webSocketSessionId") if name in data} | value
    call_id = first(("toolCallId", *CALL_ID_SPELLINGS), value, data)
    if call_id is not None:
        fields["toolCallId"] = call_id
    return fields
