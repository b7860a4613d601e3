"""Any tool's outcome as document 4's `data`: the fields of its tables for the editing tools, an object for others.

A failure is a string, `Error: …` (MultiEdit names the edit: `Error in edit 2: …`), but for notebooks, which report it
beside the fields as asked.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from toolwire.errors import ToolError
from toolwire.tools.base import ToolOutput
from toolwire.tools.registry import Outcome, as_object
from toolwire.tools.texts import sentence

EDITING = {
    "Replace": "toolwire.tools.replace",
    "Edit": "toolwire.tools.edit",
    "MultiEdit": "toolwire.tools.multi_edit",
    "NotebookEditCell": "toolwire.tools.notebook_edit_cell",
}
"""Tool name → module that has `data(output)`."""
WRITING = frozenset({*EDITING, "apply_change"})
"""Every tool that edits files; of the last the data is its result as an object."""

Data = dict[str, Any] | str


def answer(outcome: Outcome, arguments: Mapping[str, Any]) -> Data:
    """The `data` of a call that has ended."""
    if outcome.error is not None:
        return failure(outcome.tool, arguments, outcome.error)
    if outcome.tool in EDITING and outcome.output is not None:
        return data(outcome.tool, outcome.output)
    return as_object(outcome, "en")


def data(tool: str, output: ToolOutput) -> dict[str, Any]:
    """Of one of the four editing tools: the fields of its table and no others."""
    fields: dict[str, Any] = importlib.import_module(EDITING[tool]).data(output)
    return fields


def from_object(tool: str, fields: Mapping[str, Any]) -> dict[str, Any] | None:
    """The same out of a stored result, in document 5's form; None if not all of it is there."""
    if fields.get("truncated"):
        return None
    if tool not in EDITING:
        return dict(fields) if "hash_after" in fields else None
    try:
        output = importlib.import_module(EDITING[tool]).Output.model_validate(dict(fields))
    except ValidationError:
        return None
    return data(tool, output)


def failure(tool: str, arguments: Mapping[str, Any], error: ToolError) -> Data:
    message = sentence(error, "en")
    if tool == "NotebookEditCell":
        from toolwire.tools import notebook_edit_cell

        return notebook_edit_cell.failure(dict(arguments), error, message)
    return message if error.kind == "edit_failed" else f"Error: {message}"
