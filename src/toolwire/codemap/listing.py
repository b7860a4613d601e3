"""Which files of a project the index is about: rg's own listing, so that ignore rules hold as they do for grep."""

from __future__ import annotations

import os
import threading
import time

from toolwire.codemap.languages import language_of
from toolwire.errors import ToolError
from toolwire.settings import Settings
from toolwire.tools.base import Context
from toolwire.tools.rg import Run
from toolwire.tools.seen import Seen
from toolwire.tools.workspace import Workspace

_RULES = ("--no-require-git", "--no-ignore-parent", "--no-ignore-global", "--no-ignore-exclude")
"""The project's own ignore rules and nobody else's: nothing above the project is looked at."""


def source_files(workspace: Workspace, settings: Settings, stop: threading.Event) -> list[str]:
    """Paths of the source files in a language we read, none that is ignored, at most `codemap_files`."""
    context = _context(workspace, settings, stop)
    return [path for path in _run(context, ["--files", "--null"]) if language_of(path)][: settings.codemap_files]


def files_with(workspace: Workspace, settings: Settings, word: str, stop: threading.Event) -> list[str]:
    """Source files in which the word occurs."""
    if not word.strip() or "\n" in word or "\0" in word:
        return []
    context = _context(workspace, settings, stop)
    arguments = ["--files-with-matches", "--null", "--fixed-strings", "--word-regexp", "--regexp", word]
    return [path for path in _run(context, arguments) if language_of(path)]


def files_mentioning(context: Context, text: str) -> list[str]:
    """Files of any kind in which the text occurs, whatever its case."""
    return _run(context, ["--files-with-matches", "--null", "--fixed-strings", "--ignore-case", "--regexp", text])


def _context(workspace: Workspace, settings: Settings, stop: threading.Event) -> Context:
    deadline = time.monotonic() + settings.codemap_batch_timeout
    return Context(workspace, settings, Seen(), deadline, stop=stop)


def _run(context: Context, arguments: list[str]) -> list[str]:
    folder = context.workspace.open_folder(".")
    try:
        with Run(context, [*arguments, *_RULES, "./"], folder=folder) as run:
            data = b"".join(run)
    except ToolError as error:
        if error.kind == "stopped":
            return []
        raise
    finally:
        os.close(folder)
    # Names that are no Unicode as they are shown; two that are shown alike can't be told apart, and can't be opened.
    return sorted({name.removeprefix(b"./").decode("utf-8", "replace") for name in data.split(b"\0") if name})
