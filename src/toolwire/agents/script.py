"""The file of a scripted agent, as the design describes it: turns with steps. Read once, checked strictly."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import from_json

from toolwire.agents.json_place import line_of
from toolwire.core.events import Placement, Stage
from toolwire.errors import ConfigError, why_not_read

KINDS = ("say", "think", "call", "sleep_ms", "fail")
ERRORS_SHOWN = 10
EXAMPLE = 'for example {"turns": [{"steps": [{"say": ["hello"]}]}]}'


def _as_pieces(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class ScriptCall(_Part):
    """One tool call of a step. `placement` absent: where the turn's tools run."""

    tool: str = Field(min_length=1)
    arguments: dict[str, Any] = Field(default_factory=dict)
    placement: Placement | None = None


class ScriptStep(_Part):
    """Exactly one of say, think, call, sleep_ms and fail."""

    say: Annotated[list[str], BeforeValidator(_as_pieces)] | None = None
    """Pieces of one run of text; a plain string is one piece."""
    think: str | None = None
    stage: Stage | None = None
    percent: int | None = Field(None, ge=0, le=100)
    call: list[ScriptCall] | None = None
    sleep_ms: float | None = Field(None, ge=0, allow_inf_nan=False)
    fail: str | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(
                f"a step has exactly one of {', '.join(KINDS)}; this one has {', '.join(given) or 'none'}"
            )
        if self.think is None and (self.stage is not None or self.percent is not None):
            raise ValueError("stage and percent belong to a think step")
        return self


class ScriptTurn(_Part):
    """What is done for a prompt in which `match` is found, or for any prompt if there is none."""

    match: str | None = None
    once: bool = False
    steps: list[ScriptStep]

    @field_validator("match")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        try:
            re.compile(pattern or "")
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(f"not a regular expression: {error}") from None
        return pattern


class Script(_Part):
    turns: list[ScriptTurn]


def load_script(path: Path) -> Script:
    """Read and check a script file."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"can't read the script {path}: {why_not_read(error)}",
            field=str(path),
            hint="`toolwire sessions export ID -o FILE` writes one",
        ) from None
    return parse_script(text, str(path))


def parse_script(text: str, source: str) -> Script:
    """Check the text of a script. An error says where in `source` it is."""
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise ConfigError(f"{source} is not JSON: {error}", field=source, hint=EXAMPLE) from None
    try:
        return Script.model_validate(value)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False)
        shown = [_describe(text, source, problem["loc"], problem["msg"]) for problem in problems[:ERRORS_SHOWN]]
        if len(problems) > ERRORS_SHOWN:
            shown.append(f"… and {len(problems) - ERRORS_SHOWN} more")
        raise ConfigError("\n".join(shown), field=source, hint=EXAMPLE) from None


def _describe(text: str, source: str, path: tuple[str | int, ...], message: str) -> str:
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
    message = message.removeprefix("Value error, ")
    return f"{source}, line {line_of(text, path)}: {place + ': ' if place else ''}{message}"
