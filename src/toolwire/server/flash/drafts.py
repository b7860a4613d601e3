"""Drafts (spec README, "Resources"): one file per app in the controlled folder, and every version it had.

The file is the draft: an editor or an agent may change it too, and what it then holds becomes a version before it is
written over. File and version are written under the store's write lock, so that several gateways keep one order; a
crash between the two leaves the new file, and the same call made again finds nothing else to do.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from typing import Any

from toolwire.errors import FlashError, ToolError
from toolwire.server.catalogue import CallContext, ServiceResult
from toolwire.server.flash import effects, rows
from toolwire.server.flash.controlled import refused
from toolwire.server.security import Caller
from toolwire.tools.textfile import content_hash
from toolwire.tools.workspace import Workspace

FOLDER = "eiscore-apps/src/views/drafts"
FILE = "FlashDraft.vue"
DEFAULT_APP = "default"
OUTSIDE = "changed outside"
"""Why a version is there that nobody saved through the gateway."""
_APP_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


def check_app_id(app_id: str, field: str = "appId") -> str:
    """An app's id is also the name of a folder."""
    if not _APP_ID.fullmatch(app_id):
        raise FlashError("VALIDATION_FAILED", f"{field}: 不是有效的应用 ID {app_id[:100]!r}", field=field)
    return app_id


def path_of(app_id: str) -> str:
    if check_app_id(app_id) == DEFAULT_APP:
        return f"{FOLDER}/{FILE}"
    return f"{FOLDER}/{app_id}/{FILE}"


def check_seen(connection: sqlite3.Connection, caller: Caller, path: str) -> None:
    """Raises RLS_DENIED if a path of the controlled folder is in a draft's folder that the caller may not see."""
    if path.startswith(f"{FOLDER}/"):
        app_id, slash, _ = path.removeprefix(f"{FOLDER}/").partition("/")
        if slash:
            _check(connection, caller, app_id, write=False)


async def read(context: CallContext, app_id: str) -> ServiceResult:
    """The draft as its file has it now; empty if there is none yet."""
    path, caller = path_of(app_id), context.caller
    await context.hub.store.query(lambda connection: _check(connection, caller, app_id, write=False))
    data = await asyncio.to_thread(_file, context, path)
    content = (data or b"").decode("utf-8", "replace")
    return ServiceResult({"appId": app_id, "path": path, "content": content, "bytes": len(data or b"")}, "草稿已读取")


async def write(context: CallContext, app_id: str, content: str, reason: str) -> ServiceResult:
    """A new version, in the file and in the history."""
    path, caller, settings = path_of(app_id), context.caller, context.hub.settings
    data = content.encode()
    if len(data) > settings.flash_draft_bytes:
        limit = settings.flash_draft_bytes
        raise FlashError("VALIDATION_FAILED", f"content: {len(data)} 字节, 最多 {limit}", field="content")
    workspace = await asyncio.to_thread(context.hub.controlled.of, caller.tenant)

    def work(connection: sqlite3.Connection, at: str) -> ServiceResult:
        _check(connection, caller, app_id, write=True)
        before = _kept(workspace, path)
        last = _last(connection, caller.tenant, app_id)
        if before is not None and before != data and (last is None or last[1] != content_hash(before)):
            _add(connection, caller, app_id, before, OUTSIDE, at)
        _add(connection, caller, app_id, data, reason, at)
        _forget(connection, caller.tenant, app_id, settings.flash_drafts_kept)
        if before is None:
            workspace.write_bytes(path, data, create=True)
        elif before != data:
            workspace.write_bytes(path, data)
        return ServiceResult({"path": path, "bytes": len(data)}, "草稿已保存", rows_affected=1)

    told = {"appId": app_id, "reason": reason, "bytes": len(data), "sha256": content_hash(data)}
    return await effects.write(context, "flash.draft.write", told, work)


async def history(context: CallContext, app_id: str, limit: int, version: int | None) -> ServiceResult:
    """Versions, the newest first; one of them with its content."""
    path, caller = path_of(app_id), context.caller

    def work(connection: sqlite3.Connection) -> list[dict[str, Any]]:
        _check(connection, caller, app_id, write=False)
        columns = "version, bytes, sha256, reason, saved_by, saved_at" + (", content" if version is not None else "")
        found = connection.execute(
            f"SELECT {columns} FROM flash_drafts WHERE tenant = ?1 AND app_id = ?2"
            " AND (?3 IS NULL OR version = ?3) ORDER BY version DESC LIMIT ?4",
            (caller.tenant, app_id, version, limit),
        )
        names = [name.strip() for name in columns.split(",")]
        return [dict(zip(names, row, strict=True)) for row in found]

    versions = await context.hub.store.query(work)
    if version is not None and not versions:
        raise rows.missing(caller, "version", str(version))
    return ServiceResult({"appId": app_id, "path": path, "versions": versions}, "草稿历史")


def _check(connection: sqlite3.Connection, caller: Caller, app_id: str, *, write: bool) -> None:
    """A draft belongs to its app; without one, to whoever saved it first. The default draft is the tenant's."""
    if app_id == DEFAULT_APP:
        return
    tenant = caller.tenant
    app = connection.execute("SELECT created_by FROM flash_apps WHERE tenant = ? AND id = ?", (tenant, app_id))
    owner = app.fetchone()
    if owner is None:
        owner = connection.execute(
            "SELECT saved_by FROM flash_drafts WHERE tenant = ? AND app_id = ? ORDER BY version LIMIT 1",
            (tenant, app_id),
        ).fetchone()
    if owner is None:
        if not write and caller.role != "super_admin":
            raise rows.denied("appId")
    elif not rows.may_change(caller, owner[0]):
        raise rows.denied("appId")


def _last(connection: sqlite3.Connection, tenant: str, app_id: str) -> tuple[int, str] | None:
    found: tuple[int, str] | None = connection.execute(
        "SELECT version, sha256 FROM flash_drafts WHERE tenant = ? AND app_id = ? ORDER BY version DESC LIMIT 1",
        (tenant, app_id),
    ).fetchone()
    return found


def _add(connection: sqlite3.Connection, caller: Caller, app_id: str, data: bytes, reason: str, at: str) -> None:
    last = _last(connection, caller.tenant, app_id)
    version = last[0] + 1 if last else 1
    connection.execute(
        "INSERT INTO flash_drafts (tenant, app_id, version, content, sha256, bytes, reason, saved_by, saved_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(caller.tenant, app_id, version, data.decode("utf-8", "replace"), content_hash(data), len(data)),
            *(reason, caller.name, at),
        ),
    )


def _forget(connection: sqlite3.Connection, tenant: str, app_id: str, kept: int) -> None:
    """The oldest versions, but never the first: it says whose the draft is."""
    connection.execute(
        "DELETE FROM flash_drafts WHERE tenant = ?1 AND app_id = ?2 AND version > 1 AND version <="
        " (SELECT max(version) FROM flash_drafts WHERE tenant = ?1 AND app_id = ?2) - ?3",
        (tenant, app_id, kept),
    )


def _file(context: CallContext, path: str) -> bytes | None:
    try:
        return _kept(context.hub.controlled.of(context.caller.tenant), path)
    except ToolError as error:
        raise refused(error) from error


def _kept(workspace: Workspace, path: str) -> bytes | None:
    """The file's bytes, if there is one."""
    try:
        return workspace.read_bytes(path)
    except ToolError as error:
        if error.kind == "file_not_found":
            return None
        raise
