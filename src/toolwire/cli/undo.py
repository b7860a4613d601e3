"""`toolwire undo`: take back a write, if the file is still as it was left."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toolwire.cli import options
from toolwire.cli.desk import desk
from toolwire.cli.screen import console, json_line
from toolwire.tools.undo import undo as take_back


def undo(
    call_id: Annotated[str, typer.Argument(help="The id of the call that wrote.", metavar="CALL_ID")],
    path: options.Project = Path(),
    json: options.Json = False,
    overrides: options.Set = None,
) -> None:
    """Take back what a tool wrote in the folder PATH. A file that has changed since is left as it is."""
    with desk(path, options.settings_of(overrides), call_id=f"undo-{call_id}") as context:
        done = take_back(context, call_id)
    if json:
        json_line(done.model_dump(mode="json", by_alias=True, exclude_none=True))
    else:
        console().print(f"{done.path}: {'removed' if done.removed else 'as it was before'} ({call_id})")


app = options.command(
    undo,
    examples="""\
  toolwire undo Edit-1a1e0c193cc-0001-3efb298e642a
  toolwire undo Edit-1a1e0c193cc-0001-3efb298e642a --path ~/work/shop
""",
)
