"""`toolwire up`: the main job in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toolwire.cli import options
from toolwire.cli.serve import Agent, Approve, LogLevel, Port, TokenFile, ToolsFile


def up(
    path: Annotated[Path, typer.Argument(help="The project's folder.")] = Path(),
    port: Port = 8080,
    agent: Agent = "local",
    store: options.Store = "",
    token_file: TokenFile = None,
    tools_file: ToolsFile = None,
    approve: Approve = "high",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page when it is ready.")] = True,
    log_level: LogLevel = "warning",
    json: options.Json = False,
    overrides: options.Set = None,
) -> None:
    """Serve the project in PATH on this machine: gateway, tools and web page, ready for questions.

    The project is called after its folder. Open the page, connect an IDE plugin, or talk with `toolwire chat`.
    """
    root = options.folder(path).resolve()
    from toolwire.cli.gateway_process import run_gateway
    from toolwire.server.config import GatewayConfig
    from toolwire.store import default_url

    config = GatewayConfig(
        projects={options.project_key(root): root},
        port=port,
        agent=agent,
        store=store or default_url(),
        token_file=token_file,
        tools_file=tools_file,
        approve=approve,
        settings=options.settings_of(overrides),
    )
    raise typer.Exit(run_gateway(config, level=log_level, json=json, browser=browser))


app = options.command(
    up,
    examples="""\
  toolwire up
  toolwire up ~/work/shop --port 9000
  toolwire up . --approve writes                 # you are asked before the agent writes, on the page or in the chat
  toolwire up . --agent script:demo.json --store memory: --no-browser
""",
)
