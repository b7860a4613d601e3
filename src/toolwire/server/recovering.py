"""What became of a write whose gateway was killed while it ran: decided by what is there now, never by guessing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from toolwire.errors import StoreError, ToolError
from toolwire.server.asked import Asked
from toolwire.server.catalogue import CallContext, Decided, ServiceResult
from toolwire.server.logs import log
from toolwire.tools import patch, undo
from toolwire.tools.inverses import UndoLog
from toolwire.tools.patch import Hunk
from toolwire.tools.textfile import content_hash
from toolwire.tools.workspace import Workspace
from toolwire.tools.writing import WriteResult, shown

if TYPE_CHECKING:
    from toolwire.server.hub import Hub

IN_IDE: Final = "ide:"
"""What the call id in a record begins with if an IDE was asked to run the call: only that IDE knows what it did."""


async def what_became(hub: Hub, asked: Asked, context: CallContext) -> Decided | ServiceResult:
    """Of the call `context.call_id`: its result if it happened and that can be told."""
    entry = asked.entry
    if entry.atomic:
        return "not_done"  # its record would be there
    try:
        if entry.placement == "workspace":
            return await asyncio.to_thread(_in_workspace, hub.projects.workspace(asked.project), context.call_id)
        if entry.decide is not None:
            return await entry.decide(context, asked.arguments)
    except (ToolError, StoreError, OSError) as error:
        log.warning("can't tell what became of a call", call_id=context.call_id, error=str(error))
    return "undecidable"


def _in_workspace(workspace: Workspace, call_id: str) -> Decided | ServiceResult:
    """By the record of the write, which is on disk before its effect, and the hash of what is in the file now."""
    if call_id.startswith(IN_IDE):
        return "undecidable"
    decision = undo.decide(workspace, call_id)
    if decision != "done":
        return decision
    write = UndoLog(workspace).find(call_id)
    assert write is not None
    now, before = workspace.read_bytes(write.path), write.hash_before
    hunks: list[Hunk] = []
    if before is not None and content_hash(now) == write.hash_after:
        old = write.inverse.apply(now)
        hunks = patch.unified(shown(old, write.path), shown(now, write.path))
    result = WriteResult(
        path=write.path,
        file_path=workspace.absolute(write.path),
        created=before is None,
        hash_before=before,
        hash_after=write.hash_after,
        patch=tuple(hunks),
    )
    return ServiceResult(result.model_dump(mode="json", by_alias=True, exclude_none=True))
