"""Attachments (spec README, "Resources"): files in `.uploads/app/<appId>/`, and a row for each that was uploaded.

The file is made first, never over another one; then the row. A crash between the two leaves a file without a row,
which the same upload, made again, takes for its own because it holds the same bytes.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import sqlite3
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from toolwire.core.events import Attachment
from toolwire.errors import FlashError, ToolError
from toolwire.server.catalogue import CallContext, ServiceResult
from toolwire.server.clock import now_ms
from toolwire.server.flash import effects, rows
from toolwire.server.flash.controlled import refused
from toolwire.server.flash.drafts import check_app_id, check_seen
from toolwire.server.security import Caller
from toolwire.tools import atomic
from toolwire.tools.textfile import content_hash
from toolwire.tools.workspace import Workspace

if TYPE_CHECKING:
    from toolwire.server.hub import Hub

FOLDER = ".uploads/app"
NAME_BYTES = 200
"""Room is left for a suffix within a file system's 255."""
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn")
"""Also signs that turn the order of what is shown around: `exe.txt` may not be what it looks like."""
_JOINERS = "\u200c\u200d"
"""Persian words and many emoji are written with these."""
_SHOWN = {
    "id": "id",
    "app_id": "appId",
    "conversation_id": "conversationId",
    "name": "name",
    "mime_type": "mimeType",
    "size": "size",
    "relative_path": "relativePath",
    "text_preview": "textPreview",
    "uploaded_at": "uploadedAt",
}


async def upload(
    context: CallContext, app_id: str, name: str, mime_type: str, content_base64: str, conversation: str | None
) -> ServiceResult:
    hub, caller = context.hub, context.caller
    check_app_id(app_id)
    check_name(name)
    data = await asyncio.to_thread(_decoded, content_base64, hub.settings.flash_attachment_bytes)
    preview = text_preview(data, hub.settings.flash_preview_chars)
    sha256 = content_hash(data)
    folder = f"{FOLDER}/{app_id}/"
    taken = await hub.store.query(lambda connection: _taken(connection, caller.tenant, folder))
    path = await asyncio.to_thread(_place, hub, caller.tenant, app_id, name, data, taken)
    row = {
        "id": f"file-{hub.ids.next(now_ms())}",
        "owner": caller.name,
        "app_id": app_id,
        "conversation_id": conversation,
        "mime_type": mime_type,
        "size": len(data),
        "sha256": sha256,
        "text_preview": preview,
    }

    def work(connection: sqlite3.Connection, at: str) -> ServiceResult:
        place = path
        now_taken = _taken(connection, caller.tenant, folder)
        if place in now_taken:  # the same bytes came twice in one moment
            place = _place(hub, caller.tenant, app_id, name, data, now_taken)
        made = {**row, "name": place.rpartition("/")[2], "relative_path": place, "uploaded_at": at}
        rows.insert(connection, rows.ATTACHMENTS, caller.tenant, made)
        return ServiceResult({"file": shown(made)}, "附件已上传", rows_affected=1)

    told = {"appId": app_id, "fileName": name, "size": len(data), "sha256": sha256}
    return await effects.write(context, "flash.attachment.upload", told, work)


async def listed(context: CallContext, page: rows.Page) -> ServiceResult:
    found = await context.hub.store.query(
        lambda connection: rows.select(connection, rows.ATTACHMENTS, context.caller, page)
    )
    return ServiceResult({"files": [shown(row) for row in found]}, f"共 {len(found)} 个附件")


async def content(hub: Hub, caller: Caller, file_id: str) -> tuple[dict[str, Any], bytes]:
    """An uploaded file: what is known of it, and its bytes."""
    row = await hub.store.query(lambda connection: rows.one(connection, rows.ATTACHMENTS, caller, file_id))
    limit = hub.settings.flash_attachment_bytes

    def read() -> bytes:
        try:
            return hub.controlled.of(caller.tenant).read_bytes(row["relative_path"], limit)
        except ToolError as error:
            raise refused(error) from error

    return shown(row), await asyncio.to_thread(read)


async def attached(hub: Hub, caller: Caller, files: Sequence[Attachment]) -> tuple[Attachment, ...]:
    """Files that come with a task, as they really are: each in the controlled folder, there, and the caller's."""
    if not files:
        return ()
    found = await asyncio.to_thread(lambda: [_attached(hub, caller, file) for file in files])

    def check(connection: sqlite3.Connection) -> None:
        for file in found:
            check_seen(connection, caller, file.path)
            row = connection.execute(
                "SELECT owner FROM flash_attachments WHERE tenant = ? AND relative_path = ?",
                (caller.tenant, file.path),
            ).fetchone()
            if row is not None and not rows.may_change(caller, row[0]):
                raise rows.denied("attachments")

    await hub.store.query(check)
    return tuple(found)


def check_name(name: str, field: str = "fileName") -> None:
    """One plain name: no path, nothing invisible, nothing that a file system reads otherwise."""
    seen = [sign for sign in name if sign not in _JOINERS]
    odd = [sign for sign in seen if sign in "/\\:" or unicodedata.category(sign) in _UNSEEN]
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        size = NAME_BYTES + 1
    plain = "".join(seen).strip(". ") and name == name.strip() and not name.startswith(atomic.TEMPORARY)
    if not plain or odd or size > NAME_BYTES:
        raise FlashError("VALIDATION_FAILED", f"{field}: 不是有效的文件名 {name[:100]!r}", field=field)


def text_preview(data: bytes, limit: int) -> str:
    """The beginning of a text in UTF-8; nothing of anything else."""
    head = data[: limit * 4]
    if b"\0" in head:
        return ""
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(head) == len(data) or error.start < len(head) - 3:
            return ""
        text = head[: error.start].decode("utf-8-sig")
    return text[:limit]


def shown(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[column] for column, name in _SHOWN.items()}


def _attached(hub: Hub, caller: Caller, file: Attachment) -> Attachment:
    settings = hub.settings
    path = hub.controlled.path(caller.tenant, file.path)
    try:
        data = hub.controlled.of(caller.tenant).read_bytes(path, settings.flash_attachment_bytes)
    except ToolError as error:
        problem = refused(error)
        raise FlashError(
            "VALIDATION_FAILED", f"attachments: {problem.message}", field="attachments", hint=problem.hint
        ) from error
    limit = settings.flash_preview_chars
    preview = text_preview(data, limit) or file.preview[:limit]
    return Attachment(path, file.name or path.rpartition("/")[2], file.mime_type, len(data), preview)


def _decoded(content_base64: str, limit: int) -> bytes:
    if len(content_base64) > (limit + 2) // 3 * 4 + 4:
        raise _too_large(limit)
    try:
        data = base64.b64decode(content_base64.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise FlashError("VALIDATION_FAILED", "contentBase64: 不是有效的 Base64", field="contentBase64") from None
    if len(data) > limit:
        raise _too_large(limit)
    return data


def _too_large(limit: int) -> FlashError:
    return FlashError("VALIDATION_FAILED", f"contentBase64: 文件超过 {limit} 字节", field="contentBase64")


def _place(hub: Hub, tenant: str, app_id: str, name: str, data: bytes, taken: set[str]) -> str:
    """Makes the file under its name, or the first free one like it; gives its path."""
    workspace = hub.controlled.of(tenant)
    try:
        for candidate in _candidates(name, hub.settings.flash_names_tried):
            path = f"{FOLDER}/{app_id}/{candidate}"
            if path not in taken and _made(workspace, path, data):
                return path
    except ToolError as error:
        raise refused(error) from error
    raise FlashError("CONFLICT", f"fileName: {name!r} 的名称已用尽", field="fileName")


def _made(workspace: Workspace, path: str, data: bytes) -> bool:
    """Whether the file is ours now: made, or there with the very same bytes."""
    try:
        workspace.write_bytes(path, data, create=True)
    except ToolError as error:
        if error.kind not in ("file_exists", "link_refused", "not_a_file"):
            raise
    else:
        return True
    try:
        return workspace.read_bytes(path, len(data)) == data
    except ToolError:
        return False


def _taken(connection: sqlite3.Connection, tenant: str, folder: str) -> set[str]:
    found = connection.execute(
        "SELECT relative_path FROM flash_attachments WHERE tenant = ? AND relative_path >= ? AND relative_path < ?",
        (tenant, folder, folder[:-1] + "0"),  # "0" is the sign after "/"
    )
    return {path for (path,) in found}


def _candidates(name: str, most: int) -> Iterator[str]:
    yield name
    stem, dot, suffix = name.rpartition(".")
    if not dot or not stem:
        stem, suffix = name, ""
    for number in range(1, most):
        yield f"{stem}-{number}" + (f".{suffix}" if suffix else "")
