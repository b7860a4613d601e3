"""`toolwire undo`: take back a write, if the file is still as it was left."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from toolwire.cli import options
from toolwire.cli.desk import desk
from toolwire.cli.screen import console, json_line
from toolwire.core.ids import NODE_BYTES, Ids
from toolwire.tools.base import as_fields
from toolwire.tools.undo import undo as take_back


def undo(
    call_id: Annotated[str, typer.Argument(help="The id of the call that wrote.", metavar="CALL_ID")],
    path: options.Project = Path(),
    json: options.Json = False,
    overrides: options.Set = None,
) -> None:
    """Take back what a tool wrote in the folder PATH. A file that has changed since is left as it is.

    An undo has a call id of its own and can be taken back too.
    """
    own_id = Ids(os.urandom(NODE_BYTES)).call("undo", int(time.time() * 1000))
    with desk(path, options.settings_of(overrides), call_id=own_id) as context:
        done = take_back(context, call_id)
    if json:
        json_line({"call_id": own_id, "undone": call_id, **as_fields(done)})
        return
    console().print(f"{done.path}: {'removed' if done.removed else 'as it was before'} ({call_id})")
    where = "" if path == Path() else f" --path {path}"
    console(notes=True).print(f"take it back with: toolwire undo {own_id}{where}", style="dim")


app = options.command(
    undo,
    examples="""\
  toolwire undo Edit-1a1e0c193cc-0001-3efb298e642a
  toolwire undo Edit-1a1e0c193cc-0001-3efb298e642a --path ~/work/shop
""",
)
