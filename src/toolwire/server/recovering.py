"""What became of a write whose gateway was killed while it ran: decided by what is there now, never by guessing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from toolwire.core.events import CallRequested, CallSettled
from toolwire.errors import StoreError, ToolError
from toolwire.server.asked import Asked
from toolwire.server.catalogue import CallContext, Decided, ServiceResult
from toolwire.server.logs import log
from toolwire.server.responses import data_of
from toolwire.tools import undo
from toolwire.tools.base import as_fields
from toolwire.tools.workspace import Workspace

if TYPE_CHECKING:
    from toolwire.server.hub import Hub

LOG_PAGE: Final = 1000
IN_IDE: Final = "ide:"
"""What the call id in a record begins with if an IDE was asked to run the call: only that IDE knows what it did."""


async def what_became(hub: Hub, asked: Asked, context: CallContext) -> Decided | ServiceResult:
    """Of the call `context.call_id`: its result if it happened and that can be told."""
    entry = asked.entry
    if entry.atomic:
        return "not_done"  # its record would be there
    try:
        if context.call_id.startswith(IN_IDE):
            return await _in_ide(hub, asked, context.call_id.removeprefix(IN_IDE))
        if entry.placement == "workspace":
            return await asyncio.to_thread(_in_workspace, hub.projects.workspace(asked.project), context.call_id)
        if entry.decide is not None:
            return await entry.decide(context, asked.arguments)
    except (ToolError, StoreError, OSError) as error:
        log.warning("can't tell what became of a call", call_id=context.call_id, error=str(error))
    return "undecidable"


async def _in_ide(hub: Hub, asked: Asked, call_id: str) -> Decided | ServiceResult:
    """By the log: a call that is not in it was never sent. (One that is and has no outcome is `adopting`'s.)"""
    record = await hub.store.find_session(asked.caller.tenant, asked.session)
    requested, after = False, 0
    while record is not None and (page := await hub.store.read(record.number, after=after, limit=LOG_PAGE)):
        for event in page:
            if isinstance(event, CallRequested) and event.call_id == call_id:
                requested = True
            elif isinstance(event, CallSettled) and event.call_id == call_id:
                return ServiceResult(data_of(event)) if event.outcome == "ok" else "undecidable"
        after = page[-1].seq
    return "undecidable" if requested else "not_done"


def _in_workspace(workspace: Workspace, call_id: str) -> Decided | ServiceResult:
    """By the record of the write, which is on disk before its effect, and the hash of what is in the file now."""
    decision = undo.decide(workspace, call_id)
    if decision != "done":
        return decision
    return ServiceResult(as_fields(undo.recovered(workspace, call_id)))
