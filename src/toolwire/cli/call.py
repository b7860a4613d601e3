"""`toolwire call`: one tool, here, now."""

from __future__ import annotations

import json as jsonlib
import os
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from toolwire.cli import options
from toolwire.cli.desk import desk
from toolwire.cli.screen import console, json_line
from toolwire.core.ids import NODE_BYTES, Ids
from toolwire.errors import ConfigError
from toolwire.settings import Settings
from toolwire.tools.base import Context, Language, Tool
from toolwire.tools.registry import as_markdown, as_object, default_registry


def call(
    tool: Annotated[str, typer.Argument(help="The tool's name; `toolwire tools` lists them.", metavar="TOOL")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Its arguments; values are JSON, or else text.", metavar="KEY=VALUE")
    ] = None,
    path: options.Project = Path(),
    read_first: Annotated[
        bool,
        typer.Option("--read-first", help="Read the file first: an existing file is only changed if it was read."),
    ] = False,
    json: options.Json = False,
    overrides: options.Set = None,
) -> None:
    """Run one tool on the folder PATH and print its result. The exit code is 0 only if it succeeded.

    A write prints its call id: `toolwire undo CALL_ID` takes it back.
    """
    registry = default_registry()
    if tool not in registry:
        raise ConfigError(f"no tool called {tool}", field="tool", hint="there are: " + ", ".join(registry.names()))
    definition = registry.get(tool)
    settings = options.settings_of(overrides)
    call_id = Ids(os.urandom(NODE_BYTES)).call(tool, int(time.time() * 1000))
    with desk(path, settings, call_id=call_id) as context:
        given = values(definition, arguments or [])
        if read_first:
            _read(context, given)
        outcome = registry.run(tool, given, context)
        if json:
            json_line({"call_id": call_id, "tool": tool, "success": outcome.success} | as_object(outcome, "en"))
            raise typer.Exit(0 if outcome.success else 1)
        if outcome.error is not None:
            raise outcome.error
        sys.stdout.write(as_markdown(outcome, _language(settings, overrides)).rstrip("\n") + "\n")
    if not definition.reads:
        where = "" if path == Path() else f" --path {path}"
        console(notes=True).print(f"take it back with: toolwire undo {call_id}{where}", style="dim")


def values(tool: Tool, words: list[str]) -> dict[str, Any]:
    """`KEY=VALUE` words as arguments. A value is JSON if it parses and the tool does not want text there."""
    texts: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise ConfigError(
                f"{word!r} is not KEY=VALUE", field="arguments", hint=f"see `toolwire tools {tool.name}`"
            )
        texts[name] = value
    given = {name: _parsed(value) for name, value in texts.items()}
    try:
        tool.input.model_validate(given)
    except ValidationError as error:
        for problem in error.errors():
            name = str(problem["loc"][0]) if problem["loc"] else ""
            if problem["type"] == "string_type" and name in texts and len(problem["loc"]) == 1:
                given[name] = texts[name]
    return given


def _parsed(value: str) -> Any:
    try:
        return jsonlib.loads(value)
    except ValueError:
        return value


def _read(context: Context, given: dict[str, Any]) -> None:
    names = ("path", "relativePath", "relative_path", "file_path", "filePath", "notebook_path")
    for name in names:
        if isinstance(given.get(name), str):
            default_registry().run("read_file", {"path": given[name], "start_line": 1, "end_line": 1}, context)


def _language(settings: Settings, overrides: list[str] | None) -> Language:
    """The terminal's language, unless one was asked for: the setting's default is meant for documents 1 and 2."""
    asked = any(word.startswith("language=") for word in overrides or ()) or "TOOLWIRE_LANGUAGE" in os.environ
    spoken = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    chinese = settings.language == "zh" if asked else spoken.startswith("zh")
    return "zh" if chinese else "en"


app = options.command(
    call,
    examples="""\
  toolwire call grep_file pattern=TODO limit=5
  toolwire call read_file path=src/main.py start_line=10 end_line=20 --path ~/work/shop
  toolwire call grep_file pattern='def \\\\w+' regex=true --json
  toolwire call Edit file_path=a.py old_string=foo new_string=bar --read-first
""",
)
