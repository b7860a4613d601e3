"""`toolwire.toml`: tools that a project adds, and what roles may call. A bad entry is refused with its line.

    [roles]                               # tool_id = the least role that may call it
    "flash.app.publish" = "super_admin"

    [[tool]]
    id = "shop.stock"                     # name_zh, name_en, intent, object, risk, role, reads, confirm, timeout
    reads = true
    input = {type = "object", properties = {sku = {type = "string"}}, required = ["sku"]}
    command = ["bin/stock", "{sku}"]      # or: http = {method = "GET", url = "https://shop.example/stock/{sku}"}

A file that the operator names with --config is taken at its word. One that merely lies in a project may come from
anywhere: its tools count as high risk, and it may ask for a greater role, never for a lesser one.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from toolwire.errors import ConfigError, why_not_read
from toolwire.server.arguments import validator_of
from toolwire.server.roles import ROLES, Role
from toolwire.tools.base import Risk

NAME: Final = "toolwire.toml"
ELSEWHERE: Final = 'docs/dialects/flash.md, "More tools", shows an entry; --config FILE names another file'
PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_TOOL_HEADER = re.compile(r"\s*\[\[\s*tool\s*\]\]")


class Http(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    url: str = Field(pattern=r"^https?://[^/{}\s]+(/\S*)?$")
    """Arguments go into its path, never into its host; what is left goes into the query of a GET, else the body."""
    headers: dict[str, str] = {}


class FileTool(BaseModel):
    """One `[[tool]]`: exactly one of `command` and `http`."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")
    name_zh: str = ""
    name_en: str = ""
    intent: str = "run"
    object: str = "project"
    risk: Risk = "high"
    reads: bool = False
    role: Role = "editor"
    confirm: bool = False
    timeout: float | None = Field(None, gt=0, le=86400)
    input: dict[str, Any] = {"type": "object"}
    output: dict[str, Any] = {"type": "object"}
    command: list[str] | None = Field(None, min_length=1)
    http: Http | None = None

    @model_validator(mode="after")
    def _one_way(self) -> FileTool:
        if (self.command is None) == (self.http is None):
            raise ValueError("a tool has exactly one of command and http")
        return self

    def templates(self) -> list[str]:
        return self.command if self.command is not None else [self.http.url] if self.http is not None else []


@dataclass(frozen=True, slots=True)
class ToolsFile:
    """What a file says, checked."""

    path: Path | None = None
    tools: tuple[FileTool, ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    trusted: bool = True
    places: Mapping[str, str] = field(default_factory=dict)
    """Where the file speaks of a tool_id: its name and the line."""


NOTHING: Final = ToolsFile()


def find(named: Path | None, projects: Mapping[str, Path], environment: Mapping[str, str] = os.environ) -> ToolsFile:
    """The file that was named, or the one in the first project, or nothing."""
    if named is not None:
        return read(named, trusted=True, environment=environment)
    root = next(iter(projects.values()), None)
    path = root / NAME if root is not None else None
    if path is None or path.is_symlink() or not path.is_file():
        return NOTHING
    return read(path, trusted=False, environment=environment)


def read(path: Path, *, trusted: bool, environment: Mapping[str, str] = os.environ) -> ToolsFile:
    try:
        text = path.read_text(encoding="utf-8")
        value = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"can't read {path}: {why_not_read(error)}", field="config", hint=ELSEWHERE) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}", field="config", hint=ELSEWHERE) from None
    lines = _Lines(path, text.splitlines())
    for name in value:
        if name not in ("roles", "tool"):
            raise lines.error(name, f"{name!r} is not known here; there are [roles] and [[tool]]")
    tools = _tools(value.get("tool", []), lines, environment)
    roles = _roles(value.get("roles", {}), lines)
    places = {tool_id: lines.place(tool_id) for tool_id in roles}
    places |= {tool.id: lines.place("id", number) for number, tool in enumerate(tools)}
    return ToolsFile(path, tuple(tools), roles, trusted, places)


def _tools(entries: Any, lines: _Lines, environment: Mapping[str, str]) -> list[FileTool]:
    if not isinstance(entries, list):
        raise lines.error("tool", "write [[tool]], with two brackets")
    found: dict[str, FileTool] = {}
    for number, entry in enumerate(entries):
        try:
            tool = FileTool.model_validate(entry)
            validator_of(tool.id, tool.input)
            _check_places(tool)
            tool = _with_secrets(tool, environment)
        except ValidationError as error:
            first = error.errors()[0]
            key = str(first["loc"][0]) if first["loc"] else ""
            where = ".".join(str(step) for step in first["loc"])
            raise lines.error(key, f"{where}: {first['msg']}" if where else first["msg"], number) from None
        except (ValueError, ConfigError) as error:
            raise lines.error(getattr(error, "field", None) or "", str(error), number) from None
        if tool.id in found:
            raise lines.error("id", f"two tools are called {tool.id}", number)
        found[tool.id] = tool
    return list(found.values())


def _roles(entries: Any, lines: _Lines) -> dict[str, Role]:
    if not isinstance(entries, dict):
        raise lines.error("roles", "[roles] is a table: tool_id = role")
    for tool_id, role in entries.items():
        if role not in ROLES:
            raise lines.error(tool_id, f"{tool_id}: {role!r} is not a role; there are {', '.join(ROLES)}")
    return dict(entries)


def _check_places(tool: FileTool) -> None:
    """Every {name} in a command or an address must be an argument that is always there."""
    known = set(tool.input.get("required", ()))
    for text in tool.templates():
        for name in PLACEHOLDER.findall(text):
            if name not in known:
                field = "command" if tool.command is not None else "http"
                raise ConfigError(f"{{{name}}} is not a required argument of {tool.id}", field=field)


def _with_secrets(tool: FileTool, environment: Mapping[str, str]) -> FileTool:
    """`${NAME}` in a header comes from the environment: secrets are not written into files."""
    if tool.http is None:
        return tool

    def value(match: re.Match[str]) -> str:
        if match[1] not in environment:
            raise ConfigError(f"the environment has no {match[1]}", field="http")
        return environment[match[1]]

    headers = {name: _VARIABLE.sub(value, text) for name, text in tool.http.headers.items()}
    return tool.model_copy(update={"http": tool.http.model_copy(update={"headers": headers})})


class _Lines:
    """Finds the line of what is wrong."""

    def __init__(self, path: Path, lines: list[str]) -> None:
        self._path = path
        self._lines = lines
        self._headers = [number for number, line in enumerate(lines, 1) if _TOOL_HEADER.match(line)]

    def error(self, key: str, what: str, tool: int | None = None) -> ConfigError:
        return ConfigError(f"{self.place(key, tool)}: {what}", field="config", hint=ELSEWHERE)

    def place(self, key: str, tool: int | None = None) -> str:
        return f"{self._path}, line {self._line(key, tool)}"

    def _line(self, key: str, tool: int | None) -> int:
        first, last = 1, len(self._lines)
        if tool is not None and tool < len(self._headers):
            first = self._headers[tool]
            last = self._headers[tool + 1] - 1 if tool + 1 < len(self._headers) else last
        pattern = re.compile(rf"\s*\[?\[?\s*[\"']?{re.escape(key)}\b") if key else None
        for number in range(first, last + 1):
            if pattern is not None and pattern.match(self._lines[number - 1]):
                return number
        return first
