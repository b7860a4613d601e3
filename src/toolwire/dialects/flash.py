"""Document 3, section 7, `/agent/ws`: long tasks. One socket serves many sessions; this speaks for one of them."""

from __future__ import annotations

from toolwire.core.commands import Command, Decide, Ping, Prompt, Reset, Stop
from toolwire.core.events import (
    AgentChosen,
    AnyEvent,
    ApprovalAnswered,
    ApprovalRequested,
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
from toolwire.dialects import approvals, names, wire
from toolwire.dialects.base import Dialect, Handshake
from toolwire.dialects.flash_messages import (
    AnyToolCall,
    FlashApprovalAnswer,
    FlashDone,
    FlashFailure,
    FlashOutput,
    FlashReset,
    FlashStatus,
    FlashStop,
    FlashSummary,
    FlashTask,
    Received,
    Status,
    received,
)
from toolwire.errors import FLASH_STATUS, InvalidMessage, ToolwireError

STOPPED = 130
"""Exit code of a task that was ended from outside, as a shell gives it for Ctrl-C."""
_CODES = {
    "INVALID_REQUEST": "VALIDATION_FAILED",
    "ANALYSIS_FAILED": "UPSTREAM_ERROR",
    "TOOL_EXECUTION_FAILED": "UPSTREAM_ERROR",
    "ANALYSIS_TIMEOUT": "TIMEOUT",
    "REQUEST_OVERRIDDEN": "CONFLICT",
    "QUEUE_FULL": "CONFLICT",
    "UNAUTHENTICATED": "PERMISSION_DENIED",
}
"""This gateway's codes in section 6's words."""
_OWN_CODES = ("MESSAGE_TOO_LARGE", "CURSOR_LOST", "APPROVAL_NOT_FOUND", "APPROVAL_STALE")
"""Codes that section 6 has no word for, told as they are."""


class Flash(Dialect):
    """One session of a socket on document 3."""

    name = "flash"
    shows = frozenset(
        {
            TurnStarted,
            AgentChosen,
            Thought,
            Said,
            CallRequested,
            CallOutput,
            CallSettled,
            ApprovalRequested,
            ApprovalAnswered,
            TurnEnded,
            SessionReset,
        }
    )

    def __init__(self, handshake: Handshake) -> None:
        super().__init__(handshake)
        self.session = names.required({"sessionId": handshake.session}, "sessionId")
        self.project = handshake.default_project
        self.placement = "server"
        self.watches = False

    @classmethod
    def refusal(cls, error: ToolwireError) -> bytes:
        return failure(error)

    def greeting(self, now: int) -> list[bytes]:
        return []

    def decode(self, message: bytes) -> Command:
        return command(received(message, self.handshake.nesting_limit))

    def render(self, event: AnyEvent) -> list[bytes]:
        match event:
            case Said(text=text):
                return [wire.encode(self._output(text))] if text else []
            case TurnStarted():
                return [self.status("running", "任务已开始")]
            case AgentChosen(degraded=True):
                return [
                    self.status("retry", f"改由 {event.agent} 执行" + (f": {event.reason}" if event.reason else ""))
                ]
            case Thought(text=text):
                return [self.status("log", text)]
            case CallRequested() if event.turn:
                return [self.call(event)]
            case CallOutput(text=text):
                return [self.status("log", text)]
            case CallSettled() if event.turn:
                return [self.status("log", _settled(event))]
            case ApprovalRequested():
                return [self.status("log", approvals.question(event))]
            case ApprovalAnswered(decision="withdrawn") if event.turn:
                return []  # its task has ended, and that was the last word
            case ApprovalAnswered():
                return [self.status("log", approvals.outcome(event))]
            case TurnEnded():
                return [*self._ending(event), self._done(event)]
            case SessionReset():
                return [self.status("reset", "会话已重置")]
            case _:
                return []

    def call(self, event: CallRequested) -> bytes:
        """Tools of these tasks run in the gateway: a client is only told of them."""
        return self.status("log", f"调用工具 {event.tool}")

    def mirror(self, event: AnyEvent) -> list[bytes]:
        return []

    def error(self, error: ToolwireError, *, request: str = "") -> bytes:
        return failure(error, self.session)

    def pong(self, ping: Ping, now: int) -> None:
        """The document has no heartbeat but the WebSocket's own."""

    def status(self, status: Status, message: str) -> bytes:
        kind = FlashStatus(type="flash:cline_status", sessionId=self.session, status=status, message=message)
        return wire.encode(kind)

    def _output(self, text: str) -> FlashOutput:
        return FlashOutput(type="flash:cline_output", sessionId=self.session, role="assistant", content=text)

    def _ending(self, event: TurnEnded) -> list[bytes]:
        """What is said of an end before the word that it has ended."""
        if event.outcome == "completed":
            if not event.text:
                return []
            summary = FlashSummary(
                type="flash:cline_summary", sessionId=self.session, role="assistant", content=event.text
            )
            return [wire.encode(summary)]
        if event.outcome == "cancelled":
            return [self.status("stopped", "任务已停止")]
        return [_failure(event.message or event.outcome, _code(event.code), self.session)]

    def _done(self, event: TurnEnded) -> bytes:
        exits = {"completed": 0, "cancelled": STOPPED, "overridden": STOPPED}
        done = FlashDone(
            type="flash:cline_done",
            sessionId=self.session,
            success=event.outcome == "completed",
            exitCode=exits.get(event.outcome, 1),
            elapsedMs=event.ms,
        )
        return wire.encode(done)


def command(message: Received) -> Command:
    """What a message asks of its session. (A tool call asks nothing of it: it has a door of its own.)"""
    match message:
        case FlashTask():
            return Prompt(
                message.prompt,
                busy="refuse",
                history=tuple(Message(item.role, item.content) for item in message.history or ()),
                attachments=tuple(
                    Attachment(
                        file.relativePath,
                        file.name or file.relativePath.rpartition("/")[2],
                        file.mimeType or "",
                        file.size or 0,
                        file.textPreview or "",
                    )
                    for file in message.attachments or ()
                ),
                trace=message.trace_id or "",
            )
        case FlashStop():
            return Stop()
        case FlashReset():
            return Reset()
        case FlashApprovalAnswer():
            reason = message.reason or ""
            return Decide(message.approvalId, message.decision, reason, message.arguments, message.digest)
        case AnyToolCall():
            raise wire.misfit("is not a command to a session", "type")


def failure(error: ToolwireError, session: str = "") -> bytes:
    """An error as this document says it; what does not even fit a message's shape is a bad request."""
    code = _code(error.code)
    if isinstance(error, InvalidMessage) and set(error.fields) <= {wire.WHOLE, "type"}:
        code = "BAD_REQUEST"
    message = error.message
    if error.field and error.field != wire.WHOLE and error.field not in message:
        message = f"{error.field}: {message}"
    return _failure(message + (f" ({error.hint})" if error.hint else ""), code, session)


def _failure(text: str, code: str, session: str) -> bytes:
    return wire.encode(FlashFailure(type="flash:cline_error", sessionId=session, error=text, code=code))


def _code(code: str) -> str:
    code = _CODES.get(code, code)
    return code if code in FLASH_STATUS or code in _OWN_CODES else "INTERNAL_ERROR"


def _settled(event: CallSettled) -> str:
    if event.outcome == "ok":
        return f"工具 {event.tool} 已完成 ({event.ms} ms)"
    return f"工具 {event.tool} 失败: {event.error or event.outcome}"
