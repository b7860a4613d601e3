"""What a tool result may have beside its document's fields: the typed fields of a write, and whether it is undecided.

Documents 1 and 2 tell the result of a tool in words. A client that says `?details=1` may add, where the document has
its own fields (in `data`; in document 5 at the root):

- `details`: what the words mean, field by field, with the patch and the content hashes of a write;
- `indeterminate`: true beside an `error`: it may have taken effect, and nothing can tell.

A gateway that reads them says so in its answer to the handshake (`Toolwire-Details: 1`); to any other a client sends
the document's fields alone. What does not fit is left out and named to the client; the result itself still counts.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec
from pydantic import Field, StringConstraints

from toolwire.core.commands import Answer, AnswerWithFaults, Command
from toolwire.dialects.backend_only import EditResult, Hunk
from toolwire.dialects.wire import Model, fit
from toolwire.errors import InvalidMessage

DETAILS: Final = "details"
"""The query parameter, and the field."""
DETAILS_HEADER: Final = "Toolwire-Details"
INDETERMINATE: Final = "indeterminate"

ContentHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Path = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
Count = Annotated[int, Field(ge=0)]


class Details(Model):
    """The typed fields of every tool that writes; a field without a value is left out, an unknown one is ignored."""

    path: Path
    filePath: Path | None = None
    created: bool | None = None
    removed: bool | None = None
    hash_before: ContentHash | None = None
    hash_after: ContentHash | None = None
    patch: list[Hunk] | None = None
    formatted_by: str | None = None
    # Replace
    type: str | None = None
    content: str | None = None
    # Edit
    oldString: str | None = None
    newString: str | None = None
    originalFile: str | None = None
    occurrences: Count | None = None
    # MultiEdit
    wasNewFile: bool | None = None
    editsApplied: list[EditResult] | None = None
    totalEdits: Count | None = None
    summary: str | None = None
    # NotebookEditCell
    cell_number: int | None = None
    new_source: str | None = None
    cell_type: str | None = None
    language: str | None = None
    edit_mode: str | None = None
    # apply_change
    matched: str | None = None
    line: Count | None = None
    format_trouble: str | None = None
    description: str | None = None
    # A result that was cut for size, or told again after a crash
    truncated: bool | None = None
    ref: str | None = None
    omitted: list[str] | None = None
    recovered: bool | None = None


def read(command: Command, value: dict[str, Any], limit: int) -> Command:
    """A decoded tool result with what stands beside it in the message; any other command as it is."""
    if type(command) is not Answer:
        return command
    inner = value.get("data")
    beside, prefix = (inner, "data.") if isinstance(inner, dict) else (value, "")
    details, undecided = beside.get(DETAILS), beside.get(INDETERMINATE)
    if details is None and undecided is None:
        return command
    faults: dict[str, str] = {}
    kept = None if details is None else _typed(details, limit, prefix, faults)
    if undecided is not None and not isinstance(undecided, bool):
        faults[prefix + INDETERMINATE] = "must be true or false"
    fields: dict[str, Any] = {
        "details": kept if command.ok else None,
        "indeterminate": undecided is True and not command.ok,
    }
    outcome = (command.call_id, command.ok, command.result, command.error)
    return AnswerWithFaults(*outcome, **fields, faults=faults) if faults else Answer(*outcome, **fields)


def _typed(details: Any, limit: int, prefix: str, faults: dict[str, str]) -> dict[str, Any] | None:
    place = prefix + DETAILS
    if not isinstance(details, dict):
        faults[place] = "must be an object"
        return None
    size = len(msgspec.json.encode(details))
    if size > limit:
        faults[place] = f"has {size} bytes; at most {limit} are taken"
        return None
    try:
        return fit(Details, details).model_dump(exclude_none=True)
    except InvalidMessage as error:
        faults.update({f"{place}.{field}": what for field, what in error.fields.items()})
        return None
