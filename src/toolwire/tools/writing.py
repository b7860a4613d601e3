"""What all writes share: the file as it was read, the checks before a change, the recorded inverse, the typed result.

Spec, "Replace, Edit, MultiEdit, NotebookEditCell": an existing file must have been read in the session and still be
what was read, by content. Naming the right `expected_hash` proves the same, so it counts as having read the file.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from toolwire.errors import StoreError, ToolError
from toolwire.tools import markdown as md
from toolwire.tools import patch
from toolwire.tools.base import Context, Language, ToolInput, ToolOutput
from toolwire.tools.inverses import UndoLog
from toolwire.tools.patch import Hunk
from toolwire.tools.textfile import Text, content_hash, decode
from toolwire.tools.workspace import Workspace

log = logging.getLogger(__name__)


class WriteInput(ToolInput):
    expected_hash: str | None = Field(
        None, description="SHA-256 of the file's bytes as the caller knows them; anything else there is refused"
    )


class WriteResult(ToolOutput):
    """What every write tells: which file, what it was, what it is, and the patch between the two."""

    path: str
    """Relative to the root."""
    file_path: str = Field(alias="filePath")
    """Absolute, as document 4 gives it."""
    created: bool = False
    removed: bool = False
    hash_before: str | None = None
    hash_after: str | None = None
    patch: tuple[Hunk, ...] = ()
    formatted_by: str | None = None


@dataclass(frozen=True, slots=True)
class Existing:
    """A file about to be changed."""

    path: str
    data: bytes
    kind: Text
    """Its text, and the encoding and byte-order mark that a new text of it keeps."""

    @property
    def text(self) -> str:
        return self.kind.text

    @property
    def digest(self) -> str:
        return content_hash(self.data)


def existing(context: Context, path: str, expected_hash: str | None, *, must_be_seen: bool = True) -> Existing:
    """The file, once it is sure that the caller knows what is in it."""
    workspace = context.workspace
    rel = workspace.normalise(path)
    data = workspace.read_bytes(rel)
    digest = content_hash(data)
    if expected_hash is not None:
        if digest != expected_hash.lower():
            raise _unexpected(context, rel, expected_hash.lower(), data)
    elif must_be_seen:
        _check_seen(context, rel, digest)
    return Existing(rel, data, decode(data, rel))


def new_path(context: Context, path: str, expected_hash: str | None) -> str:
    """The clean path of a file that is about to be made: nothing may be there, and nothing be expected."""
    rel = context.workspace.normalise(path)
    if context.workspace.exists(rel):
        raise ToolError("file_exists", path=rel)
    if expected_hash is not None:
        raise ToolError("unexpected_content", path=rel, expected=expected_hash, actual="-", diff="")
    return rel


def change(context: Context, before: Existing, text: str) -> dict[str, Any]:
    """Write a new text over a file, in its own encoding. The common fields of the result, but for the patch."""
    after = before.kind.encode(text, before.path)
    if after != before.data:
        recorded(context, before.path, before.data, after)
    return _fields(context, before.path, before.digest, after)


def create(context: Context, path: str, text: str) -> dict[str, Any]:
    """Make a file, UTF-8. The common fields of the result; a created file has no patch."""
    after = Text("").encode(text, path)
    recorded(context, path, None, after)
    return {**_fields(context, path, None, after), "created": True}


def recorded(context: Context, path: str, before: bytes | None, after: bytes | None) -> None:
    """Intent, effect, done: in that order, so that a crash between any two leaves a state that can be decided.

    Without `before` the file is made, without `after` it is removed.
    """
    workspace = context.workspace
    context.check()
    try:
        record = UndoLog(workspace)
        number = record.begin(context.call_id or f"write-{uuid.uuid4()}", path, before, after)
    except StoreError as error:
        raise ToolError("not_recorded", path=path, reason=error.message) from error
    try:
        _carry_out(workspace, path, before, after)
    except ToolError:
        # A failure after the rename (a sync, say) leaves the effect behind, and then the record must stay.
        if not _holds(workspace, path, after):
            _noted(record.withdraw, number)
        raise
    _noted(record.done, number)


def _carry_out(workspace: Workspace, path: str, before: bytes | None, after: bytes | None) -> None:
    expected = None if before is None else content_hash(before)
    if after is None:
        workspace.remove(path, expected=expected)
    else:
        workspace.write_bytes(path, after, expected=expected, create=before is None)


def _noted(note: Callable[[int], None], number: int) -> None:
    """The effect is decided by now; a record that can't be kept up to date must not turn it into something else."""
    try:
        note(number)
    except StoreError as error:
        log.warning("%s", error.message)


def _holds(workspace: Workspace, path: str, after: bytes | None) -> bool:
    try:
        return workspace.read_bytes(path) == after
    except ToolError as error:
        if after is None:
            return error.kind == "file_not_found"
        return error.kind not in ("file_not_found", "not_a_file", "protected_path", "outside_workspace")


def _fields(context: Context, path: str, before: str | None, after: bytes) -> dict[str, Any]:
    digest = content_hash(after)
    context.seen.note(path, digest, after)
    return {
        "path": path,
        "file_path": context.workspace.absolute(path),
        "hash_before": before,
        "hash_after": digest,
    }


def _check_seen(context: Context, path: str, digest: str) -> None:
    known = context.seen.digest(path)
    if known is None:
        raise ToolError("not_read", path=path)
    if known != digest:
        raise ToolError("changed_since_read", path=path)


def _unexpected(context: Context, path: str, expected: str, data: bytes) -> ToolError:
    known = context.seen.content(path, expected)
    hunks = [] if known is None else patch.unified(shown(known, path), shown(data, path))
    return ToolError(
        "unexpected_content",
        path=path,
        expected=expected,
        actual=content_hash(data),
        diff=f"\n{patch.as_text(hunks)[: context.settings.result_limit]}" if hunks else "",
        patch=[hunk.model_dump(by_alias=True, mode="json") for hunk in hunks],
    )


def shown(data: bytes, path: str) -> str:
    """The text for a patch that people look at; of bytes that are no text, nothing."""
    try:
        return decode(data, path).text
    except ToolError:
        return ""


def markdown(result: WriteResult, language: Language, *more: tuple[str, object]) -> str:
    """A write as documents 1 and 2 show it: what happened, to which file, and the patch."""
    zh, en = _TITLES["created" if result.created else "removed" if result.removed else "changed"]
    added, removed = patch.tally(result.patch)
    rows: list[tuple[str, object]] = [(md.pick(language, "路径", "Path"), md.code(result.path))]
    if not result.created and not result.removed:
        rows.append((md.pick(language, "变更行数", "Lines changed"), f"+{added} -{removed}"))
    rows += more
    if result.formatted_by:
        rows.append((md.pick(language, "格式化", "Formatted by"), result.formatted_by))
    hashes = f"{md.code(result.hash_before or '-')} → {md.code(result.hash_after or '-')}"
    rows.append((md.pick(language, "内容哈希", "Content hash"), hashes))
    parts = [md.heading(language, zh, en, result.path.rpartition("/")[2]), md.facts(rows)]
    if result.patch:
        parts.append(md.fenced(patch.as_text(result.patch), "diff"))
    return "\n\n".join(parts)


_TITLES = {
    "created": ("文件已创建", "File created"),
    "removed": ("文件已删除", "File removed"),
    "changed": ("修改已应用", "Change applied"),
}
