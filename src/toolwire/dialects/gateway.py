"""Document 5, `/ws/{session_id}`: streamed chat and tool calls between the gateway and an IDE."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from toolwire.core.commands import AddMessage, Answer, Command, Ping, Prompt, Report
from toolwire.core.events import AnyEvent, CallRequested, CallSettled, MessageAdded, Said, TurnAsked, TurnEnded
from toolwire.dialects import approvals, details, names, wire
from toolwire.dialects.approvals import WSApprovalAnswer, decided
from toolwire.dialects.base import Dialect, Handshake
from toolwire.dialects.calls import as_object
from toolwire.dialects.gateway_messages import (
    MESSAGES,
    RECEIVED,
    WSAssistantMessage,
    WSErrorResponse,
    WSToolCall,
    WSToolResult,
    WSTurnEnded,
    WSUserMessage,
    decode_any,
    encode,
    typed,
)
from toolwire.errors import HandshakeRefused, ToolwireError

__all__ = [
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

NOT_SESSIONS = ("analyze", "agent")
"""Paths of other documents under `/ws/`."""
_RECEIVED = {kind: MESSAGES[kind] for kind in RECEIVED}
_ENDS = {
    "failed": "The turn failed",
    "timed_out": "The turn took too long",
    "overridden": "The turn was overridden",
    "cancelled": "The turn was stopped",
}


class _Token(msgspec.Struct, frozen=True, tag_field="type", tag="assistant_message"):
    """WSAssistantMessage, written at a fraction of its cost; a test holds the two equal."""

    token: str
    is_final: bool


class _Call(msgspec.Struct, frozen=True, tag_field="type", tag="tool_call"):
    """WSToolCall, the same way."""

    call_id: str
    tool_name: str
    arguments: dict[str, Any]


_write = msgspec.json.Encoder().encode


class Gateway(Dialect):
    """One IDE on document 5."""

    name = "gateway"
    shows = frozenset({Said, TurnEnded, CallSettled})

    def __init__(self, handshake: Handshake) -> None:
        super().__init__(handshake)
        self.session = names.required({"session_id": handshake.session}, "session_id", where="path")
        if self.session in NOT_SESSIONS:
            raise HandshakeRefused(f"{self.session} is not a session id", field="session_id")
        self.project = names.optional(handshake.query, "projectKey") or handshake.default_project

    @classmethod
    def refusal(cls, error: ToolwireError) -> bytes:
        return _error(_sentence(error))

    def greeting(self, now: int) -> list[bytes]:
        return []

    def decode(self, message: bytes) -> Command:
        value = wire.parse(message, self.handshake.nesting_limit)
        if value.get("type") == "tool_result":
            answer = _plain_answer(value)
            if answer is not None:
                return details.read(answer, value, self.handshake.details_limit) if self.detailed else answer
        wire.kind_of(value, _RECEIVED)
        command = _command(typed(value))
        return details.read(command, value, self.handshake.details_limit) if self.detailed else command

    def render(self, event: AnyEvent) -> list[bytes]:
        if type(event) is Said:
            return [_write(_Token(event.text, event.final))]
        if type(event) is TurnEnded and event.outcome != "completed":
            return [_error(": ".join(filter(None, (_ENDS[event.outcome], event.message))))]
        if type(event) is CallSettled and event.outcome == "indeterminate":
            return [_error(f"{event.tool} ({event.call_id}): {event.error or 'its outcome is not known'}")]
        return []

    def call(self, event: CallRequested) -> bytes:
        return _write(_Call(event.call_id, event.tool, event.arguments))

    def mirror(self, event: AnyEvent) -> list[bytes]:
        match event:
            case TurnAsked():
                return [encode(WSUserMessage(type="user_message", content=event.prompt, role="user"))]
            case MessageAdded():
                return [encode(WSUserMessage(type="user_message", content=event.text, role=event.role))]
            case CallSettled(outcome="ok"):
                result = as_object(event.result)
                return [encode(WSToolResult(type="tool_result", call_id=event.call_id, result=result))]
            case CallSettled():
                error = event.error or event.outcome
                return [encode(WSToolResult(type="tool_result", call_id=event.call_id, error=error))]
            case TurnEnded():
                return [_turn_ended(event)]
            case _:
                return approvals.flat(event)

    def error(self, error: ToolwireError, *, request: str = "") -> bytes:
        return _error(_sentence(error))

    def pong(self, ping: Ping, now: int) -> None:
        """The document has no heartbeat but the WebSocket's own."""


def _plain_answer(value: dict[str, Any]) -> Answer | None:
    """A tool_result exactly as the document has it, without the cost of a model. None: look closer."""
    call_id = value.get("call_id")
    if type(call_id) is not str or not call_id:
        return None
    result = value.get("result")
    error = value.get("error")
    if error is None:
        return Answer(call_id, True, result) if result is not None else None
    return Answer(call_id, False, None, error) if result is None and type(error) is str else None


def _command(message: wire.Model) -> Command:
    match message:
        case WSUserMessage(role="user"):
            if not message.content:
                raise wire.misfit("must not be empty", "content")
            return Prompt(message.content)
        case WSUserMessage():
            return AddMessage(message.role, message.content)
        case WSToolResult(error=None):
            return Answer(message.call_id, True, message.result)
        case WSToolResult():
            return Answer(message.call_id, False, None, message.error or "")
        case WSErrorResponse():
            return Report(message.content)
        case WSApprovalAnswer():
            return decided(message)
    raise wire.misfit("is not for the gateway", "type")


def _turn_ended(event: TurnEnded) -> bytes:
    kind: Literal["turn_ended"] = "turn_ended"
    ended: dict[str, Any] = {"type": kind, "outcome": event.outcome, "calls": event.calls, "ms": event.ms}
    if event.outcome != "completed":
        ended |= {"code": event.code, "message": event.message}
    return encode(WSTurnEnded.model_validate(ended))


def _error(content: str) -> bytes:
    return encode(WSErrorResponse(type="error", content=content))


def _sentence(error: ToolwireError) -> str:
    """Code, what is wrong, where, and what to do."""
    message = error.message
    if error.field and error.field != wire.WHOLE and error.field not in message:
        message = f"{error.field}: {message}"
    return f"{error.code}: {message}" + (f" ({error.hint})" if error.hint else "")
