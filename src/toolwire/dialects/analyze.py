"""Document 2, `/ws/analyze`: ANALYZE … COMPLETE between an IDE plugin and the agent backend."""

from __future__ import annotations

from typing import Any

import msgspec

from toolwire.core.commands import Authenticate, Command, Ping, Prompt
from toolwire.core.events import AnyEvent, CallRequested, CallSettled, Thought, TurnAsked, TurnEnded
from toolwire.dialects import analyze_messages as messages
from toolwire.dialects import approvals, chinese, details, enveloped, names, wire
from toolwire.dialects.analyze_messages import MESSAGES, RECEIVED, decode_any, encode, typed
from toolwire.dialects.approvals import ApprovalAnswer, decided
from toolwire.dialects.base import Dialect, Handshake
from toolwire.dialects.calls import as_text
from toolwire.errors import HandshakeRefused, InvalidMessage, ToolwireError

__all__ = ["Analyze", "decode_any", "encode"]

MODES: tuple[messages.AnalyzeMode, ...] = ("claude-code", "legacy")
AGENTS: dict[messages.AnalyzeMode, str] = {"claude-code": "", "legacy": "local"}
"""`legacy` means the local agent, `claude-code` the configured ones (spec README, "mode")."""
_RECEIVED = {kind: MESSAGES[kind] for kind in RECEIVED}
_write = msgspec.json.Encoder().encode


class _CallData(msgspec.Struct, frozen=True):
    callId: str
    toolName: str
    params: dict[str, Any]
    projectPath: str


class _Call(msgspec.Struct, frozen=True, tag_field="type", tag="TOOL_CALL"):
    """ToolCall, written at a fraction of its cost; a test holds the two equal."""

    data: _CallData


class Analyze(Dialect):
    """One IDE plugin on document 2."""

    name = "analyze"
    shows = frozenset({Thought, TurnEnded, CallSettled})
    idle_timeout = True
    limited_turns = True

    def __init__(self, handshake: Handshake) -> None:
        super().__init__(handshake)
        query = handshake.query
        self.session = names.required(query, "sessionId")
        self.project = names.required(query, "projectKey")
        self.project_path = names.required(query, "projectPath", names.PATH_LIMIT)
        self.request = names.optional(query, "requestId") or handshake.fresh_request
        """The request of an ANALYZE that names none."""
        self._asked = (self.request, self.project_path)
        """The last request asked here, and where its project is: an ANALYZE may say so for itself."""
        mode = query.get("mode") or MODES[0]
        if mode not in MODES:
            raise HandshakeRefused(f"mode is {' or '.join(MODES)}, not {mode[:80]!r}", field="mode")
        self.analyze_mode = mode

    @classmethod
    def refusal(cls, error: ToolwireError) -> bytes:
        return _error("", error.code, chinese.explain(error), chinese.details(error))

    def greeting(self, now: int) -> list[bytes]:
        data = messages.ConnectedData(
            message="WebSocket connected successfully", requestId=self.request, serverTime=now
        )
        return [encode(messages.Connected(type="CONNECTED", data=data))]

    def decode(self, message: bytes) -> Command:
        value = wire.parse(message, self.handshake.nesting_limit)
        if value.get("type") == "TOOL_RESULT":
            answer = enveloped.plain_answer(value, "callId")
            if answer is not None:
                return details.read(answer, value, self.handshake.details_limit) if self.detailed else answer
        kind = wire.kind_of(value, _RECEIVED)
        try:
            command = self._command(typed(value))
            return details.read(command, value, self.handshake.details_limit) if self.detailed else command
        except InvalidMessage as error:
            if kind == "ANALYZE":
                error.request = self._meant(value)
            raise

    def render(self, event: AnyEvent) -> list[bytes]:
        match event:
            case Thought():
                return [_thinking(event)]
            case TurnEnded(outcome="completed"):
                data = messages.CompleteData(
                    requestId=event.request, result=event.text, process=chinese.summary(event)
                )
                return [encode(messages.Complete(type="COMPLETE", data=data))]
            case TurnEnded():
                return [_ended(event)]
            case CallSettled(outcome="indeterminate"):
                return [_undecided(event)]
            case _:
                return []

    def call(self, event: CallRequested) -> bytes:
        request, path = self._asked
        place = path if event.request == request else self.project_path
        return _write(_Call(_CallData(event.call_id, event.tool, event.arguments, place)))

    def mirror(self, event: AnyEvent) -> list[bytes]:
        match event:
            case TurnAsked():
                asked = messages.AnalyzeData(
                    requestId=event.request,
                    message=event.prompt,
                    projectKey=event.project,
                    projectPath=self.project_path,
                    mode="legacy" if event.agent == AGENTS["legacy"] else "claude-code",
                )
                return [encode(messages.AnalyzeRequest(type="ANALYZE", data=asked))]
            case CallSettled():
                return [_settled(event)]
            case _:
                return approvals.enveloped(event)

    def error(self, error: ToolwireError, *, request: str = "") -> bytes:
        """Names a request only where the error is that request's end."""
        return _error(request, chinese.code_of(error), chinese.explain(error), chinese.details(error))

    def pong(self, ping: Ping, now: int) -> bytes:
        return encode(enveloped.pong(ping.timestamp, now))

    def _command(self, message: wire.Model) -> Command:
        match message:
            case messages.AnalyzeRequest():
                return self._prompt(message.data)
            case messages.ToolResult():
                data = message.data
                return enveloped.answer(data.callId, data.success, data.result, data.error)
            case ApprovalAnswer():
                return decided(message)
            case enveloped.Ping():
                return Ping(message.data.timestamp)
            case enveloped.Connect():
                return Authenticate(message.data.token)
        raise wire.misfit("is not for the gateway", "type")

    def _prompt(self, data: messages.AnalyzeData) -> Prompt:
        if not data.message:
            raise wire.misfit("must not be empty", "data.message")
        request = data.requestId or self.request
        project = data.projectKey or self.project
        path = data.projectPath or self.project_path
        found = {
            "data.requestId": names.fault(request),
            "data.projectKey": names.fault(project),
            "data.projectPath": names.fault(path, names.PATH_LIMIT),
        }
        faults = {field: what for field, what in found.items() if what is not None}
        if faults:
            raise InvalidMessage("; ".join(f"{field} {what}" for field, what in faults.items()), fields=faults)
        self._asked = (request, path)
        return Prompt(
            text=data.message,
            busy="override",
            request=request,
            conversation=conversation(project, request),
            project=project,
            agent=AGENTS[data.mode or self.analyze_mode],
        )

    def _meant(self, value: dict[str, Any]) -> str:
        """The request of an ANALYZE that does not fit: the ERROR it gets is that request's end."""
        data = value.get("data")
        asked = data.get("requestId") if isinstance(data, dict) else None
        return asked if isinstance(asked, str) and asked and not names.fault(asked) else self.request


def conversation(project: str, request: str) -> str:
    """The history a requestId continues. A colon in the project's name can't make two of them one."""
    return f"request:{project.replace('%', '%25').replace(':', '%3A')}:{request}"


def _thinking(event: Thought) -> bytes:
    known: dict[str, Any] = {} if event.percent is None else {"percent": event.percent}
    data = messages.ThinkingData(
        requestId=event.request, thinking=event.text, stage=event.stage, **known, round=event.round
    )
    return encode(messages.Thinking(type="THINKING", data=data))


def _ended(event: TurnEnded) -> bytes:
    match event.outcome:
        case "overridden":
            code = "REQUEST_OVERRIDDEN"
        case "timed_out":
            code = "ANALYSIS_TIMEOUT"
        case "cancelled":
            return _error(event.request, chinese.ANALYSIS_FAILED, "分析已停止", {})
        case _:
            code = chinese.known(event.code)
    return _error(event.request, code, chinese.sentence(code, event.message), {})


def _undecided(event: CallSettled) -> bytes:
    """Within a request it is said as progress: an ERROR would be the request's end."""
    if event.request:
        data = messages.ThinkingData(requestId=event.request, thinking=chinese.undecided(event))
        return encode(messages.Thinking(type="THINKING", data=data))
    return _error("", "TOOL_EXECUTION_FAILED", chinese.undecided(event), {"callId": event.call_id})


def _settled(event: CallSettled) -> bytes:
    if event.outcome == "ok":
        data = messages.ToolResultData(callId=event.call_id, success=True, result=as_text(event.result))
    else:
        data = messages.ToolResultData(callId=event.call_id, success=False, error=event.error or event.outcome)
    return encode(messages.ToolResult(type="TOOL_RESULT", data=data))


def _error(request: str, code: str, message: str, details: dict[str, str]) -> bytes:
    data = messages.ErrorData(requestId=request, code=code, message=message, details=details)
    return encode(messages.Error(type="ERROR", data=data))
