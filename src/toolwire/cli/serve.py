"""`toolwire serve`: the gateway alone, with everything to configure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from toolwire.cli import options
from toolwire.errors import ConfigError

Agent = Annotated[
    str, typer.Option("--agent", help="Who answers: local, script:FILE; several with commas, the best first.")
]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free one.")]
TokenFile = Annotated[
    Path | None, typer.Option("--token-file", help="Clients must bring a token of this file.", metavar="FILE")
]
ToolsFile = Annotated[
    Path | None,
    typer.Option("--config", help="A toolwire.toml: more tools, and what roles may call.", metavar="FILE"),
]
Approve = Annotated[
    Literal["never", "high", "writes", "all"],
    typer.Option(
        "--approve",
        help="Which calls of an agent wait for a person's word, given on the page, in the chat or over HTTP.",
    ),
]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"], typer.Option("--log-level", help="What goes to stderr.")
]
LogJson = Annotated[bool, typer.Option("--log-json", help="Log lines as JSON.")]


Controlled = Annotated[
    Path | None,
    typer.Option("--controlled", help="Folder of drafts and uploads; default: beside the store.", metavar="DIR"),
]


def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on; beyond loopback a token is needed.")] = (
        "127.0.0.1"
    ),
    port: Port = 8080,
    project: Annotated[
        list[str] | None,
        typer.Option("--project", help="A folder tools may run in; the first is the default.", metavar="KEY=PATH"),
    ] = None,
    agent: Agent = "local",
    store: options.Store = "",
    controlled: Controlled = None,
    bus: Annotated[
        str, typer.Option("--bus", help="How gateways find each other: local:.", metavar="URL")
    ] = "local:",
    token_file: TokenFile = None,
    jwks: Annotated[
        Path | None, typer.Option("--jwks", help="Public keys for JSON Web Tokens (extra jwt).", metavar="FILE")
    ] = None,
    jwt_audience: Annotated[str, typer.Option("--jwt-audience", help="The `aud` they must have.")] = "",
    jwt_issuer: Annotated[str, typer.Option("--jwt-issuer", help="The `iss` they must have.")] = "",
    tools_file: ToolsFile = None,
    approve: Approve = "high",
    cert: Annotated[Path | None, typer.Option("--cert", help="TLS certificate.", metavar="FILE")] = None,
    key: Annotated[Path | None, typer.Option("--key", help="TLS key.", metavar="FILE")] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", help="A further name this gateway goes by.", metavar="NAME")
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option("--allow-origin", help="A web origin whose pages may connect.", metavar="ORIGIN"),
    ] = None,
    log_level: LogLevel = "warning",
    log_json: LogJson = False,
    json: options.Json = False,
    overrides: options.Set = None,
) -> None:
    """Serve agents to IDEs: documents 1, 2 and 5 over WebSocket, sessions and metrics over HTTP, on one port.

    Everything a client sees is in the store first. Ctrl-C ends running turns, tells every client and leaves.
    """
    if bus != "local:":
        raise ConfigError(f"--bus {bus}: no such bus", field="bus", hint="there is: local:")
    from toolwire.cli.gateway_process import run_gateway
    from toolwire.server.config import GatewayConfig
    from toolwire.store import default_url

    config = GatewayConfig(
        projects=projects_of(project or []),
        host=host,
        port=port,
        agent=agent,
        store=store or default_url(),
        controlled=controlled.expanduser().absolute() if controlled else None,
        token_file=token_file,
        jwks=jwks,
        jwt_audience=jwt_audience,
        jwt_issuer=jwt_issuer,
        tools_file=tools_file,
        approve=approve,
        cert=cert,
        key=key,
        allow_hosts=tuple(allow_host or ()),
        allow_origins=tuple(allow_origin or ()),
        settings=options.settings_of(overrides),
    )
    raise typer.Exit(run_gateway(config, level=log_level, log_json=log_json, json=json))


def projects_of(words: list[str]) -> dict[str, Path]:
    """`KEY=PATH` words, in order; a bare PATH is named after its folder."""
    found: dict[str, Path] = {}
    for word in words:
        key, equals, path = word.partition("=")
        root = Path(path if equals else word).expanduser()
        name = key if equals else options.project_key(root)
        if name in found:
            raise ConfigError(
                f"two projects are called {name}", field="project", hint="name them: --project KEY=PATH"
            )
        found[name] = root.absolute()
    return found


app = options.command(
    serve,
    examples="""\
  toolwire serve --project shop=~/work/shop --project lib=~/work/lib
  toolwire serve --agent script:demo.json --store memory:
  toolwire serve --host 0.0.0.0 --token-file tokens --cert cert.pem --key key.pem
  toolwire serve --set turn_timeout=600 --set language=en
""",
)
