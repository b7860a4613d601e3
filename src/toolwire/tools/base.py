"""What a tool is: a name, typed input and output, and a function that runs in a worker thread.

A tool module defines `Input`, `Output`, `run(context, input)`, `markdown(output, language)` and `TOOL`, and nothing
else public. A tool that can't do what it was asked raises `ToolError`; anything else it raises is our defect.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from toolwire.errors import ToolError

if TYPE_CHECKING:
    from toolwire.codemap.codemap import Codemap
    from toolwire.settings import Settings
    from toolwire.tools.seen import Seen
    from toolwire.tools.workspace import Workspace

Language = Literal["zh", "en"]
Risk = Literal["low", "medium", "high"]


class ToolInput(BaseModel):
    """Arguments as a caller gives them: types are strict, unknown names are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _as_json_has_it(cls, arguments: Any) -> Any:
        """Models and Java clients write `null` for an argument they leave out, and `20.0` for 20: JSON has but one
        kind of number."""
        if isinstance(arguments, dict):
            return {name: _whole(value) for name, value in arguments.items() if value is not None}
        return arguments


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


class ToolOutput(BaseModel):
    """A typed result. Its dump (by alias, unset and None left out) is what document 5 carries."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)


def as_fields(output: ToolOutput) -> dict[str, Any]:
    """The typed fields of a result as JSON has them."""
    fields: dict[str, Any] = output.model_dump(mode="json", by_alias=True, exclude_none=True)
    return fields


def path_field(default: Any = ..., description: str = "") -> Any:
    """A path argument: `path` in document 5, `relativePath` in 1 and 2, `file_path` in 4; all are accepted."""
    return Field(
        default,
        validation_alias=AliasChoices("path", "relativePath", "relative_path", "file_path", "filePath"),
        description=description or "Path relative to the project root",
    )


@dataclass(slots=True)
class Context:
    """What a tool may use besides its input. One per call; `seen` belongs to the session."""

    workspace: Workspace
    settings: Settings
    seen: Seen
    deadline: float
    """On the monotonic clock; a tool that runs past it is told so by `check()`."""
    call_id: str = ""
    stop: threading.Event = field(default_factory=threading.Event)
    """Set when nobody waits for the result any more."""
    started: float = field(default_factory=time.monotonic)

    @property
    def codemap(self) -> Codemap:
        """Symbols and calls of the workspace, shared by all sessions; built when first asked."""
        return self.workspace.codemap

    def remaining(self) -> float:
        """Seconds left; never below zero."""
        return max(0.0, self.deadline - time.monotonic())

    def check(self) -> None:
        """Called between steps of anything long: raises if the time is up or nobody waits."""
        if self.stop.is_set():
            raise ToolError("stopped")
        if time.monotonic() >= self.deadline:
            raise ToolError("timeout", seconds=round(self.deadline - self.started, 1))


@dataclass(frozen=True, slots=True)
class Tool:
    """One entry of the registry."""

    name: str
    input: type[ToolInput]
    output: type[ToolOutput]
    run: Callable[[Context, Any], ToolOutput]
    markdown: Callable[[Any, Language], str]
    title_zh: str
    title_en: str
    intent: str
    """The verb: read, search, edit, …"""
    object: str
    """The noun: file, class, notebook, …"""
    reads: bool
    """True if running it twice does no harm: it may be sent again after a lost connection."""
    risk: Risk = "low"
    description: str = ""

    def schema(self) -> Mapping[str, Any]:
        """JSON schema of the arguments, under the names of documents 1 and 2 first."""
        return self.input.model_json_schema(by_alias=True, mode="validation")
