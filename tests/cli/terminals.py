"""A real terminal for a command to run in: a pseudo-terminal with an emulator behind it, which a test types on and
looks at."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain

import pyte

from cli.processes import Place, environment
from support.patience import PATIENCE

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\r")
ROWS = 24
SCROLLED = 2000
CTRL_C, CTRL_D, ENTER = "\x03", "\x04", "\r"
COLOUR = re.compile(r"\x1b\[[0-9;]*[1-9][0-9;]*m")
OURS = ("NO_COLOR", "COLUMNS", "FORCE_COLOR")


class _Screen(pyte.HistoryScreen):
    """Answers what a program asks its terminal."""

    def __init__(self, columns: int, reply: Callable[[bytes], object]) -> None:
        super().__init__(columns, ROWS, history=SCROLLED, ratio=0.01)
        self._reply = reply

    def write_process_input(self, data: str) -> None:
        self._reply(data.encode())


class Terminal:
    def __init__(self, process: subprocess.Popen[bytes], end: int, columns: int) -> None:
        self.process = process
        self._end = end
        self._screen = _Screen(columns, lambda data: os.write(end, data))
        self._stream = pyte.ByteStream(self._screen)
        self._unread = ""
        self.raw = ""
        """Everything that was written, escape sequences and all."""
        self._changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        rest = b""
        while piece := self._next():
            with self._changed:
                self._stream.feed(piece)
                rest += piece
                text = rest.decode("utf-8", "ignore")
                rest = rest[len(text.encode()) :]
                self.raw += text
                self._unread += CONTROL.sub("", text)
                self._changed.notify_all()

    def _next(self) -> bytes:
        try:
            return os.read(self._end, 65536)
        except OSError:
            return b""

    # What is typed -----------------------------------------------------------------------------------------

    def type(self, keys: str) -> None:
        os.write(self._end, keys.encode())

    def resize(self, columns: int) -> None:
        with self._changed:
            self._screen.resize(ROWS, columns)
        _set_size(self._end, columns)

    # What is seen ------------------------------------------------------------------------------------------

    def see(self, text: str) -> None:
        """Wait until it is written, and begin to look behind it from now on."""
        with self._changed:
            assert self._changed.wait_for(lambda: text in self._unread, PATIENCE), f"{text!r} in {self._unread}"
            self._unread = self._unread.partition(text)[2]

    def show(self, wanted: Callable[[list[str]], bool]) -> list[str]:
        """Wait until the lines on the screen, and those scrolled off it, are as wanted."""
        with self._changed:
            assert self._changed.wait_for(lambda: wanted(self.lines()), PATIENCE), "\n".join(self.lines())
            return self.lines()

    def lines(self) -> list[str]:
        """Without trailing blanks."""
        with self._changed:
            rows = chain(self._screen.history.top, (self._screen.buffer[row] for row in range(ROWS)))
            lines = ["".join(row[column].data for column in range(self._screen.columns)).rstrip() for row in rows]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def left(self) -> int:
        """Wait for the command to end; gives its exit code."""
        return self.process.wait(PATIENCE)


@contextmanager
def terminal(
    place: Place, *words: str, columns: int = 100, more: Mapping[str, str] | None = None
) -> Iterator[Terminal]:
    """Run a command on a terminal of its own."""
    plain = {name: value for name, value in environment(place.folder).items() if name not in OURS}
    end, inner = pty.openpty()
    _set_size(end, columns)
    process = subprocess.Popen(
        [sys.executable, "-m", "toolwire", *words],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env=plain | {"TERM": "xterm-256color"} | dict(more or {}),
        cwd=place.folder,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    os.close(inner)
    try:
        yield Terminal(process, end, columns)
    finally:
        process.kill()
        process.wait(PATIENCE)
        os.close(end)


def _take_terminal() -> None:
    """The command's stdin becomes its controlling terminal, so that Ctrl-C reaches it as a signal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _set_size(end: int, columns: int) -> None:
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
