"""Asking a person before a call is made (document 3, "Confirmation").

A request is bound to the digest of the exact arguments. It is stored with an event in the log of its session,
survives a restart, expires, is answered once and serves once. Any gateway on the same store can take the answer.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from toolwire.core.events import ApprovalAnswered, ApprovalRequested
from toolwire.core.idempotency import digest_of
from toolwire.errors import PeerError, QueueFull, StoreError
from toolwire.server.clock import now_ms
from toolwire.server.logs import log
from toolwire.server.roles import Role, at_least
from toolwire.server.security import Caller
from toolwire.store import approval_records
from toolwire.store.approval_records import Approval, State
from toolwire.store.group_commit import Append
from toolwire.store.refusals import CONFLICT

if TYPE_CHECKING:
    from toolwire.server.hub import Hub


class ApprovalNotFound(PeerError):
    code = "APPROVAL_NOT_FOUND"


class ApprovalStale(PeerError):
    """A second answer, an answer to other arguments, or one that came too late."""

    code = "APPROVAL_STALE"


class ApprovalForbidden(PeerError):
    code = "PERMISSION_DENIED"


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked."""

    tenant: str
    session: str
    tool: str
    arguments: dict[str, Any]
    risk: str
    role: Role
    caller: str
    trace: str
    call_key: str = ""
    turn: str = ""
    request: str = ""
    why: str = ""


class Approvals:
    """The requests of one gateway's tenants."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._waiting: dict[str, asyncio.Event] = {}

    async def start(self) -> None:
        """Turns that a crash has ended wait for nothing any more."""
        alive = self._hub.records.alive
        for approval in await self._hub.store.query(approval_records.of_turns):
            if not alive(approval.owner):
                await self._close(approval, "withdrawn", reason="the gateway was restarted")

    # Asking ------------------------------------------------------------------------------------------------

    async def ask(self, question: Question) -> Approval:
        """The request for this very call: the one that was made before, if it is still to be used, or a new one."""
        digest = digest_of(question.arguments)
        known = await self._hub.store.query(
            partial(
                approval_records.for_call,
                tenant=question.tenant,
                caller=question.caller,
                tool=question.tool,
                call_key=question.call_key,
                digest=digest,
            )
        )
        if known is not None and known.state == "pending" and known.expires <= now_ms():
            await self._close(known, "expired")
            known = None
        if known is not None and known.state != "expired" and not question.turn:
            return known
        return await self._new(question, digest)

    async def _new(self, question: Question, digest: str) -> Approval:
        hub, now = self._hub, now_ms()
        limit = hub.settings.approvals_open
        tenant = question.tenant
        if await hub.store.query(lambda tables: approval_records.count_pending(tables, tenant, now)) >= limit:
            raise QueueFull(f"{limit} requests for approval are waiting already")
        approval = Approval(
            id=f"approval-{hub.ids.next(now)}",
            tenant=question.tenant,
            session=question.session,
            turn=question.turn,
            tool=question.tool,
            arguments=question.arguments,
            digest=digest,
            call_key=question.call_key,
            risk=question.risk,
            role=question.role,
            caller=question.caller,
            trace=question.trace,
            owner=hub.records.owner,
            asked=now,
            expires=now + int(hub.settings.approval_timeout * 1000),
        )
        event = ApprovalRequested(
            *(0, now, question.turn, question.request, approval.id, approval.tool, approval.arguments, digest),
            risk=approval.risk,
            asked_by=approval.caller,
            expires=approval.expires,
            trace=approval.trace,
            why=question.why,
        )
        await self._record(approval, event)
        return approval

    async def _record(self, approval: Approval, event: ApprovalRequested) -> None:
        """The request and its event, in one transaction; the session is opened anew if another was quicker."""
        hub = self._hub
        for _ in range(hub.settings.call_session_tries):
            async with hub.visit(approval.tenant, approval.session) as live:
                append = Append(live.record.number, [live.core.note(event)], live.committed, live.lost)
                try:
                    await hub.store.transact(lambda tables: approval_records.add(tables, approval), append=append)
                    return
                except StoreError as error:
                    if error.code != CONFLICT:
                        raise
        raise StoreError(f"the session {approval.session} is written to by another gateway all the time")

    async def wait(self, approval: Approval, seconds: float) -> Approval:
        """Until it is answered, here or through another gateway; as it is then, or when the time is up."""
        told = self._waiting.setdefault(approval.id, asyncio.Event())
        until = self._hub.loop.time() + seconds
        try:
            while approval.state == "pending" and (left := until - self._hub.loop.time()) > 0:
                if approval.expires <= now_ms():
                    await self._close(approval, "expired")
                else:
                    await _either(told, min(left, self._hub.settings.approval_poll))
                approval = await self._fresh(approval)
        finally:
            self._waiting.pop(approval.id, None)
        return approval

    async def use(self, approval: Approval) -> bool:
        """Take the answer for one call; False if another call has taken it."""
        return await self._hub.store.transact(lambda tables: approval_records.use(tables, approval.id))

    async def withdraw(self, approval: Approval, reason: str) -> None:
        """Nobody waits for it any more."""
        await self._close(approval, "withdrawn", reason=reason)

    # Answering ---------------------------------------------------------------------------------------------

    async def pending(self, tenant: str, session: str | None = None, limit: int = 100) -> list[Approval]:
        now = now_ms()
        return await self._hub.store.query(
            lambda tables: approval_records.pending(tables, tenant, session, now, limit)
        )

    async def find(self, tenant: str, number: str) -> Approval:
        found = await self._hub.store.query(lambda tables: approval_records.find(tables, tenant, number))
        if found is None:
            raise ApprovalNotFound(f"no approval {number[:80]!r}", field="id", hint="GET /api/approvals lists them")
        return found

    async def answer(
        self,
        number: str,
        by: Caller,
        decision: Literal["approve", "reject"],
        *,
        arguments: dict[str, Any] | None = None,
        reason: str = "",
        digest: str | None = None,
    ) -> Approval:
        """A person's word. Raises ApprovalNotFound, ApprovalForbidden, ApprovalStale; FlashError for arguments."""
        approval = await self.find(by.tenant, number)
        if not at_least(by.role, approval.role):  # type: ignore[arg-type]
            raise ApprovalForbidden(f"only {approval.role} and above may answer this", field="id")
        _still_open(approval, digest)
        if approval.expires <= now_ms():
            await self._close(approval, "expired")
            raise ApprovalStale(f"{number} has expired", field="id")
        edited = arguments if decision == "approve" and arguments != approval.arguments else None
        if edited is not None:
            self._hub.calls.check_arguments(approval.tool, edited)
        state: State = "rejected" if decision == "reject" else "approved" if edited is None else "edited"
        if not await self._close(approval, state, edited=edited, reason=reason, by=by.name):
            _still_open(await self.find(by.tenant, number), digest)
        return await self.find(by.tenant, number)

    async def _close(
        self,
        approval: Approval,
        state: State,
        *,
        edited: dict[str, Any] | None = None,
        reason: str = "",
        by: str = "",
    ) -> bool:
        """Store an answer, if it is the first, then tell of it."""
        now = now_ms()
        first = await self._hub.store.transact(
            partial(
                approval_records.answer, number=approval.id, state=state, now=now, edited=edited, reason=reason, by=by
            )
        )
        if not first:
            return False
        assert state != "pending"
        try:
            async with self._hub.visit(approval.tenant, approval.session) as live:
                running = live.core.running
                request = running.request if running is not None and running.id == approval.turn else ""
                event = ApprovalAnswered(
                    *(0, now, approval.turn, request, approval.id, approval.tool, state),
                    arguments=edited,
                    reason=reason,
                    by=by,
                    trace=approval.trace,
                )
                live.submit([live.core.note(event)])
        except StoreError as error:
            log.error("an answer is stored, but not in its session's log", approval=approval.id, error=error.message)
        if (told := self._waiting.get(approval.id)) is not None:
            told.set()
        return True

    async def _fresh(self, approval: Approval) -> Approval:
        found = await self._hub.store.query(
            lambda tables: approval_records.find(tables, approval.tenant, approval.id)
        )
        return found or approval


def _still_open(approval: Approval, digest: str | None) -> None:
    if digest is not None and digest != approval.digest:
        raise ApprovalStale(f"{approval.id} is about other arguments", field="digest")
    if approval.state != "pending":
        who = f" by {approval.answered_by}" if approval.answered_by else ""
        raise ApprovalStale(f"{approval.id} is {approval.state} already{who}", field="id")


async def _either(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
