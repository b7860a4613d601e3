"""Document 1 and its version 2, `/ws/agent/chat`: chat with an agent, tools in IDE and gateway."""

from __future__ import annotations

from typing import Any

import msgspec

from toolwire.core.commands import Authenticate, Command, Ping, Prompt, RunTool, Stop
from toolwire.core.events import (
    AgentChosen,
    AnyEvent,
    ApprovalAnswered,
    ApprovalRequested,
    CallRequested,
    CallSettled,
    Mode,
    Said,
    Stage,
    Stopped,
    Thought,
    TurnAsked,
    TurnEnded,
    TurnStarted,
)
from toolwire.dialects import agent_chat_messages as messages
from toolwire.dialects import approvals, chinese, details, enveloped, names, wire
from toolwire.dialects.agent_chat_messages import MESSAGES, RECEIVED, Status, decode_any, encode, typed
from toolwire.dialects.approvals import ApprovalAnswer, decided
from toolwire.dialects.base import Dialect, Handshake
from toolwire.dialects.calls import as_text
from toolwire.errors import HandshakeRefused, ToolwireError

__all__ = ["AgentChat", "decode_any", "encode"]

PROTOCOL_VERSION = "2.0"
MODES: tuple[Mode, ...] = ("agent", "ask", "plan")
ADDRESSES = ("projectKey", "webSocketSessionId")
"""Parameters of a TOOL_CALL that say where it goes, not what it does; the gateway adds them to what it sends."""
_RECEIVED = {kind: MESSAGES[kind] for kind in RECEIVED}
_STATUSES: dict[str, Status] = {
    "completed": "COMPLETED",
    "failed": "FAILED",
    "timed_out": "FAILED",
    "cancelled": "CANCELLED",
    "overridden": "CANCELLED",
}
_write = msgspec.json.Encoder().encode


class _PieceData(msgspec.Struct, frozen=True):
    sessionId: str
    content: str
    chunkIndex: int
    isComplete: bool


class _Piece(msgspec.Struct, frozen=True, tag_field="type", tag="STREAMING_CONTENT"):
    """Piece, written at a fraction of its cost; a test holds the two equal."""

    data: _PieceData


class _Call(msgspec.Struct, frozen=True, tag_field="type", tag="TOOL_CALL"):
    """ToolCall, the same way."""

    toolCallId: str
    toolName: str
    params: dict[str, Any]
    webSocketSessionId: str


class AgentChat(Dialect):
    """One IDE plugin on document 1, version 2."""

    name = "agent_chat"
    shows = frozenset(
        {
            *(Said, TurnStarted, AgentChosen, Thought, TurnEnded, CallSettled, Stopped),
            *(ApprovalRequested, ApprovalAnswered),
        }
    )

    def __init__(self, handshake: Handshake) -> None:
        super().__init__(handshake)
        query = handshake.query
        self.session = names.required(query, "sessionId")
        self.project = names.required(query, "projectKey")
        mode = query.get("mode") or MODES[0]
        if mode not in MODES:
            raise HandshakeRefused(f"mode is one of {', '.join(MODES)}, not {mode[:80]!r}", field="mode")
        self.mode = mode

    @classmethod
    def refusal(cls, error: ToolwireError) -> bytes:
        return _error(error.code, chinese.explain(error), chinese.details(error))

    def greeting(self, now: int) -> list[bytes]:
        data = messages.ConnectedData(
            message="WebSocket connected successfully",
            sessionId=self.session,
            projectKey=self.project,
            mode=self.mode,
            serverTime=now,
            protocolVersion=PROTOCOL_VERSION,
        )
        return [encode(messages.Connected(type="CONNECTED", data=data))]

    def decode(self, message: bytes) -> Command:
        value = wire.parse(message, self.handshake.nesting_limit)
        if value.get("type") == "TOOL_RESULT":
            answer = enveloped.plain_answer(value, "toolCallId")
            if answer is not None:
                return details.read(answer, value, self.handshake.details_limit) if self.detailed else answer
        wire.kind_of(value, _RECEIVED)
        command = self._command(typed(value))
        return details.read(command, value, self.handshake.details_limit) if self.detailed else command

    def render(self, event: AnyEvent) -> list[bytes]:
        match event:
            case Said():
                return [_write(_Piece(_PieceData(self.session, event.text, event.index, event.final)))]
            case TurnStarted():
                return [self._response(event.request, "PROCESSING")]
            case AgentChosen(degraded=True):
                content = f"已降级到 {event.agent}: {event.reason}" if event.reason else f"已降级到 {event.agent}"
                return [self._response(event.request, "PROCESSING", content=content, degraded=True)]
            case Thought():
                return [self._response(event.request, "PROCESSING", event.stage, event.text, event.degraded)]
            case TurnEnded():
                return [self._ended(event)]
            case CallSettled():
                return self._settled(event)
            case ApprovalRequested() if event.turn:
                return [self._response(event.request, "WAITING_CONFIRM", "executing", approvals.question(event))]
            case ApprovalAnswered() if event.turn and event.request:
                return [self._response(event.request, "PROCESSING", "executing", approvals.outcome(event))]
            case Stopped():
                data = messages.StoppedData(sessionId=self.session)
                return [encode(messages.Stopped(type="STOPPED", data=data))]
            case _:
                return []

    def call(self, event: CallRequested) -> bytes:
        address = {"projectKey": event.project or self.project, "webSocketSessionId": self.session}
        return _write(_Call(event.call_id, event.tool, {**event.arguments, **address}, self.session))

    def mirror(self, event: AnyEvent) -> list[bytes]:
        match event:
            case TurnAsked():
                data = messages.ChatData(
                    message=event.prompt,
                    sessionId=self.session,
                    projectKey=event.project or self.project,
                    mode=event.mode,
                )
                return [encode(messages.Chat(type="AGENT_CHAT", data=data))]
            case CallSettled() if not self._own(event):
                return [_result(event, event.call_id)]
            case _:
                return approvals.enveloped(event)

    def error(self, error: ToolwireError, *, request: str = "") -> bytes:
        return _error(chinese.code_of(error), chinese.explain(error), chinese.details(error))

    def pong(self, ping: Ping, now: int) -> bytes:
        return encode(enveloped.pong(ping.timestamp, now))

    # In ----------------------------------------------------------------------------------------------------

    def _command(self, message: wire.Model) -> Command:
        match message:
            case messages.Chat():
                return self._prompt(message.data)
            case messages.ToolResult():
                data = message.data
                return enveloped.answer(data.toolCallId, data.success, data.result, data.error)
            case messages.Stop():
                self._check_session(message.data.sessionId)
                return Stop()
            case messages.ToolCall():
                return self._run_tool(message)
            case ApprovalAnswer():
                return decided(message)
            case enveloped.Ping():
                return Ping(message.data.timestamp)
            case enveloped.Connect():
                return Authenticate(message.data.token)
        raise wire.misfit("is not for the gateway", "type")

    def _prompt(self, data: messages.ChatData) -> Prompt:
        self._check_session(data.sessionId)
        if not data.message:
            raise wire.misfit("must not be empty", "data.message")
        project = data.projectKey or self.project
        what = names.fault(project)
        if what is not None:
            raise wire.misfit(what, "data.projectKey")
        return Prompt(text=data.message, busy="queue", project=project, mode=data.mode or self.mode)

    def _run_tool(self, call: messages.ToolCall) -> RunTool:
        """The tool runs in the project of this connection; a call addressed elsewhere is refused."""
        if call.params.get("projectKey") not in (self.project, None, ""):
            raise wire.misfit(f"is not this connection's ({self.project})", "params.projectKey")
        arguments = {name: value for name, value in call.params.items() if name not in ADDRESSES}
        return RunTool(call.toolCallId, call.toolName, arguments)

    def _check_session(self, session: str | None) -> None:
        if session and session != self.session:
            raise wire.misfit(f"is not this connection's ({self.session})", "data.sessionId")

    # Out ---------------------------------------------------------------------------------------------------

    def _own(self, event: CallSettled) -> bool:
        return bool(event.asked_by) and event.asked_by == self.handshake.connection

    def _settled(self, event: CallSettled) -> list[bytes]:
        if self._own(event):
            return [_result(event, event.asked_as)]
        if event.outcome == "indeterminate":
            return [_error("TOOL_EXECUTION_FAILED", chinese.undecided(event), {"toolCallId": event.call_id})]
        return []

    def _ended(self, event: TurnEnded) -> bytes:
        status = _STATUSES[event.outcome]
        if status == "COMPLETED":
            content = event.text
        elif event.outcome == "cancelled":
            content = "已停止"
        else:
            content = chinese.sentence(event.code, event.message)
        stage = event.stages[-1] if event.stages else "analyzing"
        return self._response(event.request, status, stage, content, event.degraded)

    def _response(
        self, request: str, status: Status, stage: Stage = "analyzing", content: str = "", degraded: bool = False
    ) -> bytes:
        data = messages.ResponseData(
            sessionId=self.session,
            requestId=request,
            status=status,
            stage=stage,
            content=content,
            degraded=degraded,
        )
        return encode(messages.Response(type="AGENT_RESPONSE", data=data))


def _result(event: CallSettled, call_id: str) -> bytes:
    if event.outcome == "ok":
        data = messages.ToolResultData(
            toolCallId=call_id, success=True, result=as_text(event.result), executionTime=event.ms
        )
    else:
        error = event.error or chinese.sentence("TOOL_EXECUTION_FAILED", event.outcome)
        data = messages.ToolResultData(toolCallId=call_id, success=False, error=error, executionTime=event.ms)
    return encode(messages.ToolResult(type="TOOL_RESULT", data=data))


def _error(code: str, message: str, details: dict[str, str]) -> bytes:
    return encode(messages.Error(type="ERROR", data=messages.ErrorData(code=code, message=message, details=details)))
