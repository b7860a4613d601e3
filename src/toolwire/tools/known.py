"""An edit of which only a part is known, as document 4's `data`: the fields of its table that can be told.

It was run by an IDE that told its result in words alone, or was found to have happened after a crash, or its result
was cut for size. What was asked is told as it was asked; what only the one who ran it can know (the patch, the file
before, how often a string occurred) is left out rather than made up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolwire.settings import Settings

Fields = dict[str, Any]
_EXCERPT = Settings().edit_excerpt
_PATHS = ("path", "relativePath", "relative_path", "file_path", "filePath", "notebook_path", "notebookPath")


def known(tool: str, arguments: Mapping[str, Any], fields: Mapping[str, Any], text: str) -> Fields:
    """`fields`: those of the typed result that are there. `text`: the result in words."""
    where = {} if tool == "NotebookEditCell" else _where(arguments, fields)
    return where | _OF[tool](arguments, fields, text)


def _where(arguments: Mapping[str, Any], fields: Mapping[str, Any]) -> Fields:
    """An IDE's root is its own: a path that it did not tell is given as it was asked for."""
    if isinstance(fields.get("filePath"), str):
        return {"filePath": fields["filePath"]}
    return {"filePath": next((arguments[name] for name in _PATHS if isinstance(arguments.get(name), str)), "")}


def _patch(fields: Mapping[str, Any]) -> Fields:
    return {"structuredPatch": fields["patch"]} if isinstance(fields.get("patch"), list) else {}


def _texts(arguments: Mapping[str, Any], **names: str) -> Fields:
    return {name: arguments[asked] for name, asked in names.items() if isinstance(arguments.get(asked), str)}


def _replace(arguments: Mapping[str, Any], fields: Mapping[str, Any], _: str) -> Fields:
    kind = {} if fields.get("created") is None else {"type": "create" if fields["created"] else "update"}
    return {**kind, **_texts(arguments, content="content"), **_patch(fields)}


def _edit(arguments: Mapping[str, Any], fields: Mapping[str, Any], _: str) -> Fields:
    asked = _texts(arguments, oldString="old_string", newString="new_string")
    return {**asked, **_texts(fields, originalFile="originalFile"), **_patch(fields)}


def _multi_edit(arguments: Mapping[str, Any], fields: Mapping[str, Any], text: str) -> Fields:
    edits = arguments.get("edits")
    asked = [edit for edit in edits if isinstance(edit, Mapping)] if isinstance(edits, list) else []
    applied = [
        {"editIndex": number, "success": True}
        | {name: edit[name][:_EXCERPT] for name in ("old_string", "new_string") if isinstance(edit.get(name), str)}
        for number, edit in enumerate(asked, 1)
    ]
    made = {} if fields.get("created") is None else {"wasNewFile": bool(fields["created"])}
    summary = {"summary": text} if text else {}
    return {**made, "editsApplied": applied, "totalEdits": len(applied), **summary, **_patch(fields)}


def _notebook(arguments: Mapping[str, Any], _: Mapping[str, Any], __: str) -> Fields:
    number = arguments.get("cell_number")
    return {
        "cell_number": number if isinstance(number, int) else 0,
        "new_source": "",
        "edit_mode": "replace",
        **_texts(arguments, new_source="new_source", cell_type="cell_type", edit_mode="edit_mode"),
    }


def _change(arguments: Mapping[str, Any], fields: Mapping[str, Any], text: str) -> Fields:
    """Not a tool of document 4: its data is an object, as that of every other tool."""
    words = {"content": text} if text else {}
    return {**words, **_texts(arguments, description="description"), **fields}


_OF = {
    "Replace": _replace,
    "Edit": _edit,
    "MultiEdit": _multi_edit,
    "NotebookEditCell": _notebook,
    "apply_change": _change,
}
