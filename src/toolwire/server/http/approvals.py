"""What waits for a person's word, and giving it (document 3, "Confirmation")."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from toolwire.server.http.errors import ErrorBody
from toolwire.server.http.health import hub_of
from toolwire.server.http.sessions import caller_of
from toolwire.store.approval_records import Approval

router = APIRouter(prefix="/api/approvals", tags=["approvals"])

_NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": ErrorBody}}
_REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorBody, "description": "The changed arguments do not fit the tool"},
    403: {"model": ErrorBody, "description": "The caller's role may not answer"},
    409: {"model": ErrorBody, "description": "It was answered before, has expired, or is about other arguments"},
    **_NOT_FOUND,
}


class ApprovalView(BaseModel):
    """A request for approval."""

    id: str
    session: str
    turn: str
    tool: str
    arguments: dict[str, Any]
    digest: str
    risk: str
    role: str
    """The least role that may answer."""
    asked_by: str
    why: str
    """Which rule wants a person's word."""
    trace_id: str
    asked_at: int
    expires_at: int
    state: str
    reason: str = ""
    answered_by: str = ""
    edited_arguments: dict[str, Any] | None = None


class ApprovalList(BaseModel):
    approvals: list[ApprovalView]


class Word(BaseModel):
    """An answer. `arguments`, with approve, are used instead of those that were asked for."""

    model_config = ConfigDict(strict=True)

    decision: Literal["approve", "reject"]
    reason: str = Field("", max_length=2000)
    arguments: dict[str, Any] | None = None
    digest: str | None = None
    """If given, it must be that of the request: a yes to what was seen, and to nothing else."""


@router.get("")
async def waiting(
    request: Request,
    session: Annotated[str | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> ApprovalList:
    """What waits for a person, the oldest first."""
    found = await hub_of(request).approvals.pending(caller_of(request).tenant, session, limit)
    return ApprovalList(approvals=[_view(request, approval) for approval in found])


@router.get("/{number}", responses=_NOT_FOUND)
async def one(request: Request, number: str) -> ApprovalView:
    """A request, answered or not."""
    return _view(request, await hub_of(request).approvals.find(caller_of(request).tenant, number))


@router.post("/{number}", responses=_REFUSED)
async def answer(request: Request, number: str, word: Word) -> ApprovalView:
    """Approve, approve with other arguments, or reject with a reason. The first answer counts."""
    answered = await hub_of(request).approvals.answer(
        number,
        caller_of(request),
        word.decision,
        arguments=word.arguments,
        reason=word.reason,
        digest=word.digest,
    )
    return _view(request, answered)


def _view(request: Request, approval: Approval) -> ApprovalView:
    return ApprovalView(
        id=approval.id,
        session=approval.session,
        turn=approval.turn,
        tool=approval.tool,
        arguments=approval.arguments,
        digest=approval.digest,
        risk=approval.risk,
        role=approval.role,
        asked_by=approval.caller,
        why=hub_of(request).words.why(approval.tool, by_agent=bool(approval.turn)),
        trace_id=approval.trace,
        asked_at=approval.asked,
        expires_at=approval.expires,
        state=approval.state,
        reason=approval.reason,
        answered_by=approval.answered_by,
        edited_arguments=approval.edited,
    )
