"""Taking a write back, and telling after a crash whether it happened (both by content, never by guessing)."""

from __future__ import annotations

from typing import Any, Literal

from toolwire.errors import StoreError, ToolError
from toolwire.tools import patch
from toolwire.tools.base import Context
from toolwire.tools.inverses import UndoLog, Write
from toolwire.tools.textfile import content_hash
from toolwire.tools.workspace import Workspace
from toolwire.tools.writing import WriteResult, shown

Decision = Literal["not_done", "done", "undecidable"]


def undo(context: Context, call_id: str) -> WriteResult:
    """Apply the inverse of that call's write, if the file is still as the call left it; else ToolError says so."""
    workspace, log = context.workspace, UndoLog(context.workspace)
    write = log.find(call_id)
    if write is None:
        raise ToolError("undo_unknown", call_id=call_id)
    if write.state == "undone" or decide(workspace, call_id) == "not_done":
        raise ToolError("undo_nothing", call_id=call_id, path=write.path)
    try:
        result = _taken_back(context, write, workspace.read_bytes(write.path))
    except ToolError as error:
        if error.kind in ("file_not_found", "content_changed"):
            raise _stale(write, error.facts.get("actual")) from error
        raise
    log.undone(write.id)
    return result


def decide(workspace: Workspace, call_id: str) -> Decision:
    """Whether the write of a call happened, by what is in the file now.

    A call without a record never began: the record is synced before the effect.
    """
    write = UndoLog(workspace).find(call_id)
    if write is None:
        return "not_done"
    if write.state != "begun":
        return "done"
    now = _hash_now(workspace, write.path)
    if now == write.hash_after:
        return "done"
    return "not_done" if now == write.hash_before else "undecidable"


def _taken_back(context: Context, write: Write, data: bytes) -> WriteResult:
    if content_hash(data) != write.hash_after:
        raise _stale(write, content_hash(data))
    workspace = context.workspace
    where: dict[str, Any] = {"path": write.path, "file_path": workspace.absolute(write.path)}
    if write.hash_before is None:
        workspace.remove(write.path, expected=write.hash_after)
        context.seen.forget(write.path)
        return WriteResult(**where, removed=True, hash_before=write.hash_after)
    old = write.inverse.apply(data)
    if content_hash(old) != write.hash_before:
        raise StoreError(f"the recorded inverse of {write.call_id} is damaged; {write.path} was left as it is")
    workspace.write_bytes(write.path, old, expected=write.hash_after)
    context.seen.note(write.path, write.hash_before, old)
    hunks = patch.unified(shown(data, write.path), shown(old, write.path))
    return WriteResult(**where, hash_before=write.hash_after, hash_after=write.hash_before, patch=tuple(hunks))


def _stale(write: Write, actual: str | None) -> ToolError:
    return ToolError("undo_stale", path=write.path, expected=write.hash_after, actual=actual or "-")


def _hash_now(workspace: Workspace, path: str) -> str | None:
    try:
        return content_hash(workspace.read_bytes(path))
    except ToolError as error:
        return None if error.kind == "file_not_found" else "unreadable"
