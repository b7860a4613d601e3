"""A process that reads source files for the index: paths in on stdin, entries out on stdout, ends when stdin does.

A plain child process rather than a pool's: it needs nothing of the program that started it, dies with it, and a
file that kills the parser kills one worker.
"""

from __future__ import annotations

import gc
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import msgspec

from toolwire.codemap.frames import Hello, Report, Task, receive, send
from toolwire.codemap.source import read_entry
from toolwire.settings import Settings
from toolwire.tools.workspace import Workspace

_NICE = 5
"""The index is built in the background: the user's own programs go first."""


def main() -> int:
    # Sheets have no cycles, so collecting only costs; a worker lives for one build.
    gc.disable()
    os.nice(_NICE)
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return serve(sys.stdin.buffer, output)


def serve(requests: BinaryIO, answers: BinaryIO) -> int:
    first = receive(requests)
    if first is None:
        return 0
    hello = msgspec.msgpack.decode(first, type=Hello)
    settings = replace(Settings(), codemap_file_bytes=hello.file_bytes, codemap_line_bytes=hello.line_bytes)
    with Workspace(Path(hello.root), settings=settings) as workspace:
        while (data := receive(requests)) is not None:
            task = msgspec.msgpack.decode(data, type=Task)
            send(answers, report(workspace, task.paths, settings))
    return 0


def report(workspace: Workspace, paths: list[str], settings: Settings) -> Report:
    entries, gone = [], []
    for path in paths:
        entry = read_entry(workspace, path, settings)
        if entry is None:
            gone.append(path)
        else:
            entries.append(entry)
    return Report(entries, gone)


if __name__ == "__main__":
    sys.exit(main())
