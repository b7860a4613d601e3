"""`toolwire replay`: a session's log played again in the terminal."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from toolwire.cli import options
from toolwire.cli.answer_view import view
from toolwire.cli.records import Place, Url, records
from toolwire.cli.screen import json_line
from toolwire.cli.story import Story
from toolwire.core.events import AnyEvent

LONGEST_PAUSE = 2.0
"""Seconds; nobody wants to wait again while somebody was at lunch."""


def replay(
    session: Annotated[str, typer.Argument(help="The session's name.", metavar="ID")],
    speed: Annotated[float, typer.Option("--speed", min=0, help="2: twice as fast; 0: without pauses.")] = 1.0,
    store: options.Store = "",
    url: Url = "",
    token_file: options.TokenFile = None,
    ca: options.Ca = None,
    json: options.Json = False,
) -> None:
    """Play a session again: the same pieces, calls and results, in the same rhythm.

    With --json the events come out as they are in the log, one a line, without pauses.
    """
    story = Story(view(together=True))
    before: AnyEvent | None = None
    with records(Place(store, url, token_file, ca)) as kept:
        for event in kept.events(session):
            if json:
                json_line(event)
                continue
            if before is not None and speed > 0:
                time.sleep(pause(event.at - before.at, speed))
            story.tell(event)
            before = event


def pause(gap_ms: int, speed: float) -> float:
    """Seconds to wait between two events."""
    return min(max(gap_ms, 0) / 1000, LONGEST_PAUSE) / speed


app = options.command(
    replay,
    examples="""\
  toolwire replay chat-20260105-150000-a1b2c3
  toolwire replay chat-20260105-150000-a1b2c3 --speed 4
  toolwire replay chat-20260105-150000-a1b2c3 --json | jq -c 'select(.kind == "call_requested")'
""",
)
