"""Which calls need a person's word, and getting it: for programs before they are claimed, for agents before they go
out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal

from toolwire.agents.base import Ask
from toolwire.core.events import TurnAsked
from toolwire.core.turn import CallSpec
from toolwire.errors import FlashError
from toolwire.server.approvals import Question
from toolwire.server.asked import Asked
from toolwire.server.catalogue import Catalogue
from toolwire.server.roles import Role
from toolwire.tools.base import Risk

if TYPE_CHECKING:
    from toolwire.server.hub import Hub
    from toolwire.server.live import LiveSession
    from toolwire.store.approval_records import Approval

Policy = Literal["never", "high", "writes", "all"]
NAMES_REMEMBERED: Final = 10_000
"""Names come from agents: the memory of them is bounded."""
ALWAYS: Final = "this tool is registered to ask before every call"
UNKNOWN_RISK: Final[Risk] = "medium"
"""Of a client's own tool, which we know only by name: its IDE has its own say."""


class Words:
    """Which tools an agent may not use without a person's word (`--approve`)."""

    def __init__(self, policy: Policy, catalogue: Catalogue, reads: Callable[[str], bool]) -> None:
        self._policy = policy
        self._catalogue = catalogue
        self._reads = reads
        self._known: dict[str, bool] = {}

    def asks_about(self, tool: str) -> bool:
        """Asked for every call of every turn, so the answers are remembered."""
        known = self._known.get(tool)
        if known is None:
            known = self._needed(tool)
            if len(self._known) < NAMES_REMEMBERED:
                self._known[tool] = known
        return known

    def why(self, tool: str, *, by_agent: bool) -> str:
        """The rule that wants a person's word about a tool, for that person; empty if none does."""
        entry = self._catalogue.find(tool)
        if entry is not None and entry.confirm:
            return ALWAYS
        return self._policy_on(tool) if by_agent else ""

    def _needed(self, tool: str) -> bool:
        return bool(self.why(tool, by_agent=True))

    def _policy_on(self, tool: str) -> str:
        entry = self._catalogue.find(tool)
        if self._policy == "all":
            return "this gateway asks about every call of an agent (--approve all)"
        if self._policy == "writes" and not self._reads(tool):
            return "it writes, and this gateway asks before an agent writes (--approve writes)"
        if self._policy == "high" and entry is not None and entry.risk == "high":
            return "its risk is high (--approve high)"
        return ""


async def confirmed(hub: Hub, asked: Asked) -> Asked | None:
    """A program's call, as a person has allowed it. None if the answer was used by another call under the same key.

    Raises PERMISSION_DENIED with the reason, or TIMEOUT with the approval's id: the same call, sent again, goes on
    waiting or learns the answer.
    """
    entry = asked.entry
    question = Question(
        tenant=asked.caller.tenant,
        session=asked.session,
        tool=entry.tool_id,
        arguments=asked.arguments,
        risk=entry.risk,
        role=entry.role,
        caller=asked.caller.name,
        trace=asked.trace_id,
        call_key=asked.key.key if asked.key is not None else "",
        why=hub.words.why(entry.tool_id, by_agent=False),
    )
    approval = await hub.approvals.wait(await hub.approvals.ask(question), hub.settings.approval_wait)
    if approval.state == "pending":
        raise FlashError("TIMEOUT", "等待人工确认超时", reason="APPROVAL_PENDING", approval_id=approval.id)
    if not await hub.approvals.use(approval):
        return None
    granted = approval.granted
    if granted is None:
        told = f"人工确认未通过: {approval.reason}" if approval.reason else "人工确认未通过"
        raise FlashError(
            "PERMISSION_DENIED",
            told,
            reason=f"APPROVAL_{approval.state.upper()}",
            approval_id=approval.id,
            explanation=approval.reason or None,
        )
    return asked.with_arguments(granted)


async def confirmed_specs(live: LiveSession, asked: TurnAsked, asks: Sequence[Ask]) -> list[CallSpec]:
    """An agent's calls as they may go out: as asked, with changed arguments, or refused."""
    return list(await asyncio.gather(*(_confirmed_spec(live, asked, ask) for ask in asks)))


async def _confirmed_spec(live: LiveSession, asked: TurnAsked, ask: Ask) -> CallSpec:
    hub = live.hub
    entry = hub.calls.catalogue.find(ask.tool)
    reads, arguments = live.reads(ask.tool), dict(ask.arguments)
    refused_anyway = asked.mode != "agent" and not reads
    if refused_anyway or not hub.words.asks_about(ask.tool):
        return CallSpec(ask.tool, arguments, reads, ask.placement)
    risk: Risk = entry.risk if entry is not None else UNKNOWN_RISK
    role: Role = entry.role if entry is not None else "editor"
    question = Question(
        tenant=live.record.tenant,
        session=live.record.name,
        tool=ask.tool,
        arguments=arguments,
        risk=risk,
        role=role,
        caller=asked.caller,
        trace=asked.trace,
        turn=asked.turn,
        request=asked.request,
        why=hub.words.why(ask.tool, by_agent=True),
    )
    approval = await _answered(hub, await hub.approvals.ask(question))
    granted = approval.granted
    if granted is not None:
        return CallSpec(ask.tool, granted, reads, ask.placement)
    why = f"{approval.state} by {approval.answered_by}" if approval.answered_by else approval.state
    refusal = f"a person was asked, and the call was not made: {why}" + _because(approval.reason)
    return CallSpec(ask.tool, arguments, reads, ask.placement, refusal)


async def _answered(hub: Hub, approval: Approval) -> Approval:
    try:
        return await hub.approvals.wait(approval, hub.settings.approval_timeout * 2)
    except asyncio.CancelledError:
        hub.keep(asyncio.create_task(hub.approvals.withdraw(approval, "the turn has ended"), name="withdraw"))
        raise


def _because(reason: str) -> str:
    return f" ({reason})" if reason else ""
