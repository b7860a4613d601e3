"""Document 4: results of tools as raw JSON, one envelope a line, and the request lines that ask for them.

The four editing tools have typed `data`; any other tool's result is whatever object it is. `data` as a string is a
failure. The uuid of an envelope is an argument: nothing here is random.

In the edits of a session, what only the one who ran the tool can know may be missing (docs/dialects/backend-only.md);
such fields are optional to read. What the tools of `toolwire service` answer has all of them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from toolwire.dialects.wire import Model, encode, fit, misfit, parse
from toolwire.errors import InvalidMessage

__all__ = [
    "DATA",
    "Data",
    "EditData",
    "EditResult",
    "Hunk",
    "MultiEditData",
    "NotebookData",
    "ReplaceData",
    "Request",
    "Result",
    "decode",
    "decode_hunk",
    "decode_request",
    "encode",
    "result",
]

Uuid = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")]


class Hunk(Model):
    """Appendix: one stretch of a unified diff."""

    oldStart: int = Field(ge=0)
    oldLines: int = Field(ge=0)
    newStart: int = Field(ge=0)
    newLines: int = Field(ge=0)
    lines: list[Annotated[str, StringConstraints(pattern=r"^[ +\-\\]")]]


class ReplaceData(Model):
    type: Literal["create", "update"] | None = None
    filePath: str
    content: str
    structuredPatch: list[Hunk] | None = None


class EditData(Model):
    filePath: str
    oldString: str
    newString: str
    originalFile: str | None = None
    structuredPatch: list[Hunk] | None = None


class EditResult(Model):
    editIndex: int = Field(ge=1)
    success: bool
    old_string: str
    new_string: str
    occurrences: int | None = Field(None, ge=0)


class MultiEditData(Model):
    filePath: str
    wasNewFile: bool | None = None
    editsApplied: list[EditResult]
    totalEdits: int
    summary: str | None = None
    structuredPatch: list[Hunk] | None = None


class NotebookData(Model):
    cell_number: int
    new_source: str
    cell_type: Literal["code", "markdown", "raw"] | None = None
    language: str | None = None
    edit_mode: Literal["replace", "insert", "delete"]
    error: str | None = None


Data = ReplaceData | EditData | MultiEditData | NotebookData

DATA: dict[str, type[Data]] = {
    "Replace": ReplaceData,
    "Edit": EditData,
    "MultiEdit": MultiEditData,
    "NotebookEditCell": NotebookData,
}


class Result(Model):
    """The envelope. `data` is one of `Data` for an editing tool, a string for a failure, else any JSON."""

    type: Literal["backend_only"]
    tool_name: str
    tool_use_id: str
    uuid: Uuid
    data: Any

    @property
    def failed(self) -> bool:
        return isinstance(self.data, str) or (isinstance(self.data, NotebookData) and self.data.error is not None)


class Request(Model):
    """A line that asks for a tool (design, `toolwire service`)."""

    tool_name: str = Field(min_length=1)
    tool_use_id: str
    input: dict[str, Any] = Field(default_factory=dict)


def decode(message: bytes) -> Result:
    """An envelope with its data typed; InvalidMessage names what does not fit."""
    result = fit(Result, parse(message))
    wanted = DATA.get(result.tool_name)
    if wanted is None or isinstance(result.data, str):
        return result
    return result.model_copy(update={"data": _data(wanted, result.data)})


def decode_hunk(message: bytes) -> Hunk:
    return fit(Hunk, parse(message))


def decode_request(line: bytes) -> Request:
    return fit(Request, parse(line))


def result(tool_name: str, tool_use_id: str, uuid: str, data: Any) -> bytes:
    """One envelope, as it goes out."""
    return encode(Result(type="backend_only", tool_name=tool_name, tool_use_id=tool_use_id, uuid=uuid, data=data))


def _data(wanted: type[Data], value: Any) -> Data:
    if not isinstance(value, dict):
        raise misfit("must be an object, or a string that says what failed", "data")
    try:
        return fit(wanted, value)
    except InvalidMessage as error:
        fields = {f"data.{name}": what for name, what in error.fields.items()}
        raise InvalidMessage("; ".join(f"{name}: {what}" for name, what in fields.items()), fields=fields) from None
