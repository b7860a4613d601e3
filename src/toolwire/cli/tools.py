"""`toolwire tools`: the registry, with schemas, risk and where each tool runs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toolwire.cli import options
from toolwire.cli.screen import console, json_line, json_text, print_table, table
from toolwire.errors import ConfigError
from toolwire.tools.base import Tool
from toolwire.tools.registry import default_registry

RUNS_IN = ("ide", "gateway")
"""Every tool of a workspace runs where the code is: in the IDE, or in the gateway with `?tools=server`."""


def tools(
    name: Annotated[str, typer.Argument(help="One tool, with everything about it.")] = "",
    json: options.Json = False,
) -> None:
    """List the tools an agent can use, or explain one of them."""
    registry = default_registry()
    if name and name not in registry:
        raise ConfigError(f"no tool called {name}", field="name", hint="there are: " + ", ".join(registry.names()))
    found = [registry.get(one) for one in ([name] if name else registry.names())]
    if json:
        json_line(described(found[0]) if name else [described(tool) for tool in found])
    elif name:
        _explain(found[0])
    else:
        _list(found)


def described(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title_zh": tool.title_zh,
        "title_en": tool.title_en,
        "description": tool.description,
        "intent": tool.intent,
        "object": tool.object,
        "reads": tool.reads,
        "risk": tool.risk,
        "runs_in": RUNS_IN,
        "schema": tool.schema(),
    }


def _list(found: list[Tool]) -> None:
    listed = table("tool", "does", "risk", "what for", "arguments")
    for tool in found:
        schema = tool.schema()
        needed = schema.get("required", ())
        arguments = " ".join(name if name in needed else f"[{name}]" for name in schema.get("properties", {}))
        kind = "reads" if tool.reads else "writes"
        listed.add_row(tool.name, kind, tool.risk, tool.title_en, arguments)
    screen = console()
    print_table(screen, listed, whole=3)
    screen.print(f"\nThey run in the {' or the '.join(RUNS_IN)}. `toolwire tools NAME` explains one.", style="dim")


def _explain(tool: Tool) -> None:
    screen = console()
    screen.print(f"{tool.name}  {tool.title_en}  {tool.title_zh}", style="bold")
    if tool.description:
        screen.print(tool.description, soft_wrap=not screen.is_terminal)
    kind = "reads only" if tool.reads else "writes"
    screen.print(f"{kind}, risk {tool.risk}, runs in the {' or the '.join(RUNS_IN)}\n", style="dim")
    schema = tool.schema()
    explained = table("argument", "type", "needed", "what it is")
    for name, field in schema.get("properties", {}).items():
        needed = "required" if name in schema.get("required", ()) else _default(field)
        explained.add_row(name, _type(field), needed, field.get("description", ""))
    if explained.rows:
        print_table(screen, explained, whole=3)


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    return "optional" if value is None else f"default {json_text(value)}"


def _type(field: dict[str, Any]) -> str:
    if "enum" in field:
        return "|".join(map(str, field["enum"]))
    if "anyOf" in field:
        return "|".join(_type(one) for one in field["anyOf"] if one.get("type") != "null")
    return str(field.get("type", "any"))


app = options.command(
    tools,
    examples="""\
  toolwire tools
  toolwire tools grep_file
  toolwire tools --json | jq -r '.[] | select(.reads).name'
""",
)
