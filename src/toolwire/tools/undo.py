"""Taking a write back, and telling after a crash whether it happened (both by content, never by guessing)."""

from __future__ import annotations

from typing import Literal

from toolwire.errors import StoreError, ToolError
from toolwire.tools import patch
from toolwire.tools.base import Context
from toolwire.tools.inverses import UndoLog, Write
from toolwire.tools.patch import Hunk
from toolwire.tools.textfile import content_hash
from toolwire.tools.workspace import Workspace
from toolwire.tools.writing import WriteResult, recorded, shown

Decision = Literal["not_done", "done", "undecidable"]
WHICH = "a write tells its call id when it is made, and is known in the folder it was made in: --path PATH"


def undo(context: Context, call_id: str) -> WriteResult:
    """Apply the inverse of that call's write, if the file is still as the call left it; else ToolError says so.

    The undo is itself a recorded write, under the context's call id, and can be undone.
    """
    workspace, log = context.workspace, UndoLog(context.workspace)
    write = log.find(call_id)
    if write is None:
        raise ToolError("undo_unknown", call_id=call_id, hint=WHICH)
    now = _bytes_now(workspace, write.path)
    if _digest(now) != write.hash_after:
        if write.state == "undone" or decide(workspace, call_id) == "not_done":
            raise ToolError("undo_nothing", call_id=call_id, path=write.path)
        raise _stale(write, _digest(now))
    result = _taken_back(context, write, now)
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


def recovered(workspace: Workspace, call_id: str) -> WriteResult:
    """What a write that turned out to have happened would have told, as far as its record and the file say.

    The patch is known while the file is as the write left it.
    """
    write = UndoLog(workspace).find(call_id)
    if write is None:
        raise ToolError("undo_unknown", call_id=call_id, hint=WHICH)
    hunks: tuple[Hunk, ...] = ()
    if write.hash_before and write.hash_after and _hash_now(workspace, write.path) == write.hash_after:
        now = workspace.read_bytes(write.path)
        hunks = _patch(write.inverse.apply(now), now, write.path)
    return WriteResult(
        path=write.path,
        file_path=workspace.absolute(write.path),
        created=write.hash_before is None,
        removed=write.hash_after is None,
        hash_before=write.hash_before,
        hash_after=write.hash_after,
        patch=hunks,
    )


def _taken_back(context: Context, write: Write, now: bytes | None) -> WriteResult:
    old = None if write.hash_before is None else write.inverse.apply(now or b"")
    if _digest(old) != write.hash_before:
        raise StoreError(f"the recorded inverse of {write.call_id} is damaged; {write.path} was left as it is")
    try:
        recorded(context, write.path, now, old)
    except ToolError as error:
        if error.kind in ("file_not_found", "content_changed", "file_exists"):
            raise _stale(write, error.facts.get("actual")) from error
        raise
    if old is None:
        context.seen.forget(write.path)
    else:
        context.seen.note(write.path, content_hash(old), old)
    return WriteResult(
        path=write.path,
        file_path=context.workspace.absolute(write.path),
        created=now is None,
        removed=old is None,
        hash_before=write.hash_after,
        hash_after=write.hash_before,
        patch=_patch(now, old, write.path),
    )


def _patch(before: bytes | None, after: bytes | None, path: str) -> tuple[Hunk, ...]:
    """None of a file that was made or removed."""
    if before is None or after is None:
        return ()
    return tuple(patch.unified(shown(before, path), shown(after, path)))


def _stale(write: Write, actual: str | None) -> ToolError:
    return ToolError("undo_stale", path=write.path, expected=write.hash_after or "-", actual=actual or "-")


def _digest(data: bytes | None) -> str | None:
    return None if data is None else content_hash(data)


def _bytes_now(workspace: Workspace, path: str) -> bytes | None:
    try:
        return workspace.read_bytes(path)
    except ToolError as error:
        if error.kind == "file_not_found":
            return None
        raise


def _hash_now(workspace: Workspace, path: str) -> str | None:
    try:
        return _digest(_bytes_now(workspace, path))
    except ToolError:
        return "unreadable"
