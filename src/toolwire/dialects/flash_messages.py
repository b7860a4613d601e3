"""The messages of document 3, section 7, `/agent/ws`: flat objects, told apart by `type`; each names its session.

A `flash:tool_call` carries the fields of section 4 at its root. When one comes in, only its `type` and `id` are
looked at here: the rest is judged by whoever runs calls, who answers in the words of section 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, field_validator

from toolwire.core.events import Role
from toolwire.dialects import names, wire
from toolwire.dialects.flash_calls import ToolCall, ToolResponse
from toolwire.dialects.wire import Model
from toolwire.errors import InvalidMessage

Text = Annotated[str, Field(min_length=1)]
Id = str | int | None
Status = Literal["running", "retry", "log", "reset", "stopped"]


class FlashHistoryItem(Model):
    role: Role
    content: str


class FlashAttachment(Model):
    """A file of the controlled folder; only `relativePath` is needed, the rest is what the client knows of it."""

    name: str | None = None
    mimeType: str | None = None
    size: int | None = None
    relativePath: Text
    textPreview: str | None = None


class _OfSession(Model):
    sessionId: Text

    @field_validator("sessionId")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        what = names.fault(name)
        if what is not None:
            raise ValueError(what)
        return name


class FlashTask(_OfSession):
    """7.1: begin a long task. One at a time in a session."""

    type: Literal["flash:cline_task"]
    prompt: Text
    history: list[FlashHistoryItem] | None = None
    attachments: list[FlashAttachment] | None = None
    trace_id: str | None = None
    """Beyond the document: under which trace the task and its calls are recorded."""


class FlashStop(_OfSession):
    """7.1: end the task."""

    type: Literal["flash:cline_stop"]


class FlashReset(_OfSession):
    """7.1: end the task and forget what was said."""

    type: Literal["flash:cline_reset"]


class FlashApprovalAnswer(_OfSession):
    """Beyond the document: a person's word on a call that waits for it. `arguments` are used instead of those that
    were asked for."""

    type: Literal["flash:approval_answer"]
    approvalId: Text
    decision: Literal["approve", "reject"]
    reason: str | None = None
    arguments: dict[str, Any] | None = None
    digest: str | None = None


class FlashToolCall(ToolCall):
    """A tool call as in section 4, its fields at the root. `id` is given back with the result."""

    type: Literal["flash:tool_call"]
    id: Id = None


class AnyToolCall(Model):
    """A tool call whose envelope nobody has looked at yet."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    type: Literal["flash:tool_call"]
    id: Id = None

    @property
    def envelope(self) -> dict[str, Any]:
        """The request as section 4 has it."""
        return dict(self.model_extra or {})


class FlashToolResult(ToolResponse):
    """The response of section 5, its fields at the root."""

    type: Literal["flash:tool_result"]
    id: Id = None


class FlashStatus(Model):
    """7.2: how the task is getting on."""

    type: Literal["flash:cline_status"]
    sessionId: str
    status: Status
    message: str


class FlashOutput(Model):
    """7.2: a piece of the answer, as the agent made it."""

    type: Literal["flash:cline_output"]
    sessionId: str
    role: Literal["assistant"]
    content: str


class FlashSummary(Model):
    """7.2: the whole answer, before the end of a task that succeeded."""

    type: Literal["flash:cline_summary"]
    sessionId: str
    role: Literal["assistant"]
    content: str


class FlashFailure(Model):
    """7.2: what went wrong; with a code of section 6."""

    type: Literal["flash:cline_error"]
    sessionId: str
    error: str
    code: str


class FlashDone(Model):
    """7.2: the end of a task, always last, once. `exitCode`: 0, 1 failed, 130 stopped."""

    type: Literal["flash:cline_done"]
    sessionId: str
    success: bool
    exitCode: int
    elapsedMs: int


Received = FlashTask | FlashStop | FlashReset | FlashApprovalAnswer | AnyToolCall
Message = (
    FlashTask
    | FlashStop
    | FlashReset
    | FlashApprovalAnswer
    | FlashToolCall
    | FlashToolResult
    | FlashStatus
    | FlashOutput
    | FlashSummary
    | FlashFailure
    | FlashDone
)

MESSAGES: Mapping[str, type[Message]] = {
    "flash:cline_task": FlashTask,
    "flash:cline_stop": FlashStop,
    "flash:cline_reset": FlashReset,
    "flash:approval_answer": FlashApprovalAnswer,
    "flash:tool_call": FlashToolCall,
    "flash:tool_result": FlashToolResult,
    "flash:cline_status": FlashStatus,
    "flash:cline_output": FlashOutput,
    "flash:cline_summary": FlashSummary,
    "flash:cline_error": FlashFailure,
    "flash:cline_done": FlashDone,
}
RECEIVED = ("flash:cline_task", "flash:cline_stop", "flash:cline_reset", "flash:approval_answer", "flash:tool_call")
SENT = (
    "flash:cline_status",
    "flash:cline_output",
    "flash:cline_summary",
    "flash:cline_error",
    "flash:cline_done",
    "flash:tool_result",
)
WATCHED = ()
_HEARD: Mapping[str, type[Received]] = {
    "flash:cline_task": FlashTask,
    "flash:cline_stop": FlashStop,
    "flash:cline_reset": FlashReset,
    "flash:approval_answer": FlashApprovalAnswer,
    "flash:tool_call": AnyToolCall,
}


def decode_any(message: bytes, nesting_limit: int = wire.NESTING_LIMIT) -> Message:
    """Any message of the document, of either direction; raises InvalidMessage."""
    value = wire.parse(message, nesting_limit)
    return wire.fit(MESSAGES[wire.kind_of(value, MESSAGES)], value)


def received(message: bytes, nesting_limit: int = wire.NESTING_LIMIT) -> Received:
    """A message a client may send; raises InvalidMessage."""
    value = wire.parse(message, nesting_limit)
    return wire.fit(_HEARD[wire.kind_of(value, _HEARD)], value)


def session_of(message: bytes, nesting_limit: int = wire.NESTING_LIMIT) -> str:
    """The session that a message which does not fit still names; empty if it names none."""
    try:
        name = wire.parse(message, nesting_limit).get("sessionId")
    except InvalidMessage:
        return ""
    return name if isinstance(name, str) and names.fault(name) is None else ""


encode = wire.encode
