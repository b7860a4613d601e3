"""`toolwire call`: one tool, here, now."""

from __future__ import annotations

import asyncio
import json as jsonlib
import os
import ssl
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import AliasChoices, ValidationError

from toolwire.cli import options
from toolwire.cli.api import Api
from toolwire.cli.desk import desk
from toolwire.cli.remote_call import remote_call
from toolwire.cli.screen import clean, console, json_line
from toolwire.core.ids import NODE_BYTES, Ids
from toolwire.errors import ConfigError
from toolwire.ide.address import Address
from toolwire.ide.call import Outcome
from toolwire.settings import Settings
from toolwire.tools.base import Context, Language, Tool
from toolwire.tools.registry import as_markdown, as_object, default_registry
from toolwire.tools.texts import sentence


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
    url: Annotated[str, typer.Option("--url", help="Run it in this gateway instead.", metavar="WS_URL")] = "",
    project: Annotated[
        str, typer.Option("--project", help="With --url: which project; default: the first.", metavar="KEY")
    ] = "",
    token_file: options.TokenFile = None,
    ca: options.Ca = None,
    json: options.Json = False,
    overrides: options.Set = None,
) -> None:
    """Run one tool on the folder PATH, or in a gateway, and print its result.

    The exit code is 0 only if it succeeded. A write prints its call id: `toolwire undo CALL_ID` takes it back.
    """
    settings = options.settings_of(overrides)
    call_id = Ids(os.urandom(NODE_BYTES)).call(tool, int(time.time() * 1000))
    asked = _Asked(tool, arguments or [], call_id, settings)
    if url:
        place = Address(url, "agent_chat", call_id, project, token=options.token_of(token_file))
        outcome = _call_there(asked, place, options.tls_of(ca))
    else:
        outcome = _call_here(asked, path, None if json else _language(settings, overrides), read_first)
    if json:
        body = outcome.result if isinstance(outcome.result, dict) else {"content": outcome.result}
        told = body if outcome.ok else {"error": outcome.error}
        json_line({"call_id": call_id, "tool": tool, "success": outcome.ok} | told)
    elif outcome.ok:
        text = str(outcome.result).rstrip("\n") + "\n"
        sys.stdout.write(clean(text) if sys.stdout.isatty() else text)
    else:
        sys.stderr.write(f"toolwire: {outcome.error}\n")
    if outcome.ok and not (url or json) and not default_registry().get(tool).reads:
        where = "" if path == Path() else f" --path {path}"
        console(notes=True).print(f"take it back with: toolwire undo {call_id}{where}", style="dim")
    raise typer.Exit(0 if outcome.ok else 1)


@dataclass(frozen=True, slots=True)
class _Asked:
    tool: str
    words: list[str]
    call_id: str
    settings: Settings


def _call_here(asked: _Asked, path: Path, language: Language | None, read_first: bool) -> Outcome:
    """With a language, its Markdown in that language; without, an object."""
    registry, tool = default_registry(), asked.tool
    if tool not in registry:
        raise ConfigError(f"no tool called {tool}", field="tool", hint="there are: " + ", ".join(registry.names()))
    with desk(path, asked.settings, call_id=asked.call_id) as context:
        given = values(registry.get(tool), asked.words)
        if read_first:
            _read(context, given)
        ended = registry.run(tool, given, context)
        if ended.error is not None and ended.error.kind == "bad_arguments" and language is not None:
            told = sentence(ended.error, language)
            raise ConfigError(told, field="arguments", hint=f"`toolwire tools {tool}` explains them")
        if ended.error is not None:
            return Outcome(False, error=sentence(ended.error, language or "en"))
        return Outcome(True, as_markdown(ended, language) if language else as_object(ended, "en"))


def _call_there(asked: _Asked, place: Address, tls: ssl.SSLContext | None) -> Outcome:
    registry = default_registry()
    given = values(registry.get(asked.tool) if asked.tool in registry else None, asked.words)
    if not place.project:
        place = replace(place, project=Api(place, tls).default_project())
    return asyncio.run(remote_call(place, asked.call_id, asked.tool, given, settings=asked.settings, tls=tls))


def values(tool: Tool | None, words: list[str]) -> dict[str, Any]:
    """`KEY=VALUE` words as arguments. A value is JSON if it parses and the tool is not known to want text there."""
    texts: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise ConfigError(f"{word!r} is not KEY=VALUE", field="arguments", hint="for example path=src/main.py")
        texts[name] = value
    given = {name: _parsed(value) for name, value in texts.items()}
    if tool is None:
        return given
    _check_names(tool, given)
    try:
        tool.input.model_validate(given)
    except ValidationError as error:
        for problem in error.errors():
            name = str(problem["loc"][0]) if problem["loc"] else ""
            # `missing`: the word `null`, which as JSON says that there is no such argument.
            wanted = problem["type"] in ("string_type", "missing") and len(problem["loc"]) == 1
            if wanted and name in texts:
                given[name] = texts[name]
    return given


def _check_names(tool: Tool, given: Iterable[str]) -> None:
    """Programs may send more than a tool takes; a person who types it has misspelled something."""
    known: set[str] = set()
    for name, field in tool.input.model_fields.items():
        known.add(name)
        aliases = field.validation_alias
        known |= {str(alias) for alias in aliases.choices} if isinstance(aliases, AliasChoices) else set()
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"`toolwire tools {tool.name}` lists its arguments"
            raise ConfigError(f"{tool.name} has no argument {name}", field=name, hint=hint)


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
  toolwire call grep_file pattern='def \\w+' regex=true --json
  toolwire call Edit file_path=a.py old_string=foo new_string=bar --read-first
  toolwire call read_file path=README.md --url ws://127.0.0.1:8080
""",
)
