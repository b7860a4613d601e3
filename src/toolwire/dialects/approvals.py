"""A person's word over a socket: beyond the documents, and the same in each of them.

Those that watch are told of a request and of its answer; any connection may answer. Documents 1 and 2 have the fields
in `data`, document 5 at the root.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from toolwire.core import events
from toolwire.core.commands import Decide
from toolwire.core.events import AnyEvent, Decision
from toolwire.dialects import wire
from toolwire.dialects.wire import Model

Number = Annotated[str, Field(min_length=1)]
Word = Literal["approve", "reject"]


class RequestData(Model):
    approvalId: str
    toolName: str
    arguments: dict[str, Any]
    digest: str
    risk: str
    expiresAt: int
    askedBy: str = ""
    why: str = ""


class ApprovalRequest(Model):
    """Server to client: may this call be made, with exactly these arguments?"""

    type: Literal["APPROVAL_REQUEST"]
    data: RequestData


class ResultData(Model):
    approvalId: str
    decision: Decision
    reason: str
    by: str


class ApprovalResult(Model):
    """Server to client: the one answer to a request."""

    type: Literal["APPROVAL_RESULT"]
    data: ResultData


class AnswerData(Model):
    approvalId: Number
    decision: Word
    reason: str | None = None
    arguments: dict[str, Any] | None = None
    digest: str | None = None


class ApprovalAnswer(Model):
    """Client to server: a person's word; `arguments` are used instead of those that were asked for."""

    type: Literal["APPROVAL_ANSWER"]
    data: AnswerData


class WSApprovalRequest(Model):
    """Gateway to those that watch: may this call be made, with exactly these arguments?"""

    type: Literal["approval_request"]
    approval_id: str
    tool_name: str
    arguments: dict[str, Any]
    digest: str
    risk: str
    expires_at: int
    asked_by: str = ""
    why: str = ""


class WSApprovalResult(Model):
    """Gateway to those that watch: the one answer to a request."""

    type: Literal["approval_result"]
    approval_id: str
    decision: Decision
    reason: str
    by: str


class WSApprovalAnswer(Model):
    """Client to gateway: a person's word; `arguments` are used instead of those that were asked for."""

    type: Literal["approval_answer"]
    approval_id: Number
    decision: Word
    reason: str | None = None
    arguments: dict[str, Any] | None = None
    digest: str | None = None


ENVELOPED: dict[str, type[Model]] = {
    "APPROVAL_REQUEST": ApprovalRequest,
    "APPROVAL_RESULT": ApprovalResult,
    "APPROVAL_ANSWER": ApprovalAnswer,
}


def decided(message: ApprovalAnswer | WSApprovalAnswer) -> Decide:
    if isinstance(message, ApprovalAnswer):
        data = message.data
        return Decide(data.approvalId, data.decision, data.reason or "", data.arguments, data.digest)
    return Decide(message.approval_id, message.decision, message.reason or "", message.arguments, message.digest)


def enveloped(event: AnyEvent) -> list[bytes]:
    """What a watching connection of document 1 or 2 is told."""
    match event:
        case events.ApprovalRequested():
            request = RequestData(
                approvalId=event.approval,
                toolName=event.tool,
                arguments=event.arguments,
                digest=event.digest,
                risk=event.risk,
                expiresAt=event.expires,
                askedBy=event.asked_by,
                why=event.why,
            )
            return [wire.encode(ApprovalRequest(type="APPROVAL_REQUEST", data=request))]
        case events.ApprovalAnswered():
            result = ResultData(approvalId=event.approval, decision=event.decision, reason=event.reason, by=event.by)
            return [wire.encode(ApprovalResult(type="APPROVAL_RESULT", data=result))]
        case _:
            return []


def flat(event: AnyEvent) -> list[bytes]:
    """What a watching connection of document 5 is told."""
    match event:
        case events.ApprovalRequested():
            request = WSApprovalRequest(
                type="approval_request",
                approval_id=event.approval,
                tool_name=event.tool,
                arguments=event.arguments,
                digest=event.digest,
                risk=event.risk,
                expires_at=event.expires,
                asked_by=event.asked_by,
                why=event.why,
            )
            return [wire.encode(request)]
        case events.ApprovalAnswered():
            result = WSApprovalResult(
                type="approval_result",
                approval_id=event.approval,
                decision=event.decision,
                reason=event.reason,
                by=event.by,
            )
            return [wire.encode(result)]
        case _:
            return []


def question(event: events.ApprovalRequested) -> str:
    """For a person who reads document 1."""
    return f"等待确认: {event.tool} ({event.approval})"


def outcome(event: events.ApprovalAnswered) -> str:
    told = {"approved": "已批准", "edited": "已修改参数并批准", "rejected": "已拒绝", "expired": "确认已过期"}
    text = f"{told.get(event.decision, '确认已撤回')}: {event.tool}"
    return f"{text} ({event.reason})" if event.reason else text
