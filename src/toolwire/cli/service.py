"""`toolwire service`: document 4 on stdin and stdout."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from toolwire.cli import options
from toolwire.ide.service import read_lines, serve_lines
from toolwire.tools.registry import default_registry
from toolwire.tools.workspace import Workspace


def service(path: options.Project = Path(), overrides: options.Set = None) -> None:
    """Answer a request a line with a `backend_only` line each, in order, until stdin ends.

    A request: {"tool_name": "Edit", "tool_use_id": "toolu_1", "input": {…}}. Any tool can be asked. All requests are
    one session: a file must be read, or written, in it before it is changed. A line that is no request gets an answer
    too.
    """
    settings = options.settings_of(overrides)
    with Workspace(options.folder(path), settings=settings) as workspace, _only_answers() as answers:

        def write(line: bytes) -> None:
            answers.write(line)
            answers.flush()

        lines = read_lines(sys.stdin.buffer, settings.message_limit)
        serve_lines(lines, write, default_registry(), workspace, settings)


@contextlib.contextmanager
def _only_answers() -> Iterator[BinaryIO]:
    """Our stdout for the answers alone: whatever else writes to it, here or in a child, goes to stderr."""
    sys.stdout.flush()
    answers = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(answers, "wb") as stream:
            yield stream
    finally:
        sys.stdout.flush()


app = options.command(
    service,
    examples="""\
  echo '{"tool_name": "read_file", "tool_use_id": "1", "input": {"file_path": "a.py"}}' | toolwire service
  toolwire service --path ~/work/shop < requests.ndjson > answers.ndjson
""",
)
