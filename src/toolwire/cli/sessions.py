"""`toolwire sessions`: what happened, as a list, as a story, as a script."""

from __future__ import annotations

import json as jsonlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from toolwire.cli import options
from toolwire.cli.records import Place, Url, records
from toolwire.cli.screen import console, json_line, print_table, short, table
from toolwire.core.events import AnyEvent
from toolwire.errors import ConfigError

Limit = Annotated[int, typer.Option("--limit", min=1, max=1000, help="Most sessions listed.")]
Session = Annotated[str, typer.Argument(help="The session's name.", metavar="ID")]

app = options.bare_app()

EXAMPLES = """\
  toolwire sessions
  toolwire sessions --url ws://127.0.0.1:8080 --json
  toolwire sessions show chat-20260105-150000-a1b2c3
  toolwire sessions export chat-20260105-150000-a1b2c3 -o demo.json
  toolwire serve --agent script:demo.json        # answers as that session was answered
"""


@app.callback(invoke_without_command=True, epilog=options.block(EXAMPLES))
def sessions(
    context: typer.Context,
    store: options.Store = "",
    url: Url = "",
    token_file: options.TokenFile = None,
    ca: options.Ca = None,
    limit: Limit = 50,
    json: options.Json = False,
) -> None:
    """List what is recorded, the most recently used session first; show one, or export it as a script."""
    context.obj = Place(store, url, token_file, ca)
    if context.invoked_subcommand is not None:
        return
    with records(context.obj) as kept:
        found = kept.sessions(limit)
    if json:
        for line in found:
            json_line(line)
        return
    screen = console()
    if not found:
        screen.print("No sessions yet. Start one: toolwire chat")
        return
    listed = table("session", "used", "turns", "open", "last prompt")
    now = time.time() * 1000
    for line in found:
        listed.add_row(
            line.name, _ago(now - line.updated), str(line.turns), str(line.open or ""), short(line.last_prompt)
        )
    print_table(screen, listed, whole=4)


@app.command(epilog=options.block("  toolwire sessions show ID --store sqlite:////srv/toolwire.db"))
def show(
    context: typer.Context,
    session: Session,
    store: options.Store = "",
    url: Url = "",
    token_file: options.TokenFile = None,
    ca: options.Ca = None,
    json: options.Json = False,
) -> None:
    """Tell a session from its beginning: prompts, calls, results, answers."""
    from toolwire.cli.answer_view import view
    from toolwire.cli.story import Story

    tell: Callable[[AnyEvent], None] = json_line if json else Story(view(together=True)).tell
    with records(Place(store, url, token_file, ca).or_else(context.obj)) as kept:
        for event in kept.events(session):
            tell(event)


@app.command(
    epilog=options.block("  toolwire sessions export ID -o demo.json\n  toolwire up . --agent script:demo.json")
)
def export(
    context: typer.Context,
    session: Session,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; default: stdout.", metavar="FILE")
    ] = None,
    store: options.Store = "",
    url: Url = "",
    token_file: options.TokenFile = None,
    ca: options.Ca = None,
) -> None:
    """Write a script with which the scripted agent answers the same prompts in the same way, each once."""
    from toolwire.cli.script_of import script_of

    with records(Place(store, url, token_file, ca).or_else(context.obj)) as kept:
        script = script_of(kept.events(session))
    text = jsonlib.dumps(msgspec.to_builtins(script), ensure_ascii=False, indent=2) + "\n"
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"can't write {output}: {error.strerror}", field="output") from None
    console().print(f"{output}: {len(script['turns'])} turns; play it with --agent script:{output}")


def _ago(ms: float) -> str:
    """`5 min ago`"""
    seconds = max(0, int(ms / 1000))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"
