"""The chat on a real terminal (a pseudo-terminal), keys and all."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cli.processes import Place, environment
from support.patience import PATIENCE

ON_A_TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Terminal:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._text = ""
        self._changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        while piece := self.process.stdout.read1(65536):  # type: ignore[attr-defined]
            with self._changed:
                self._text += CONTROL.sub("", piece.decode("utf-8", "replace"))
                self._changed.notify_all()

    def type(self, keys: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(keys.encode())
        self.process.stdin.flush()

    def see(self, text: str) -> None:
        """Wait for it, and begin to look behind it from now on."""
        with self._changed:
            assert self._changed.wait_for(lambda: text in self._text, PATIENCE), self._text
            self._text = self._text.partition(text)[2]


@contextmanager
def terminal(place: Place, *words: str) -> Iterator[Terminal]:
    process = subprocess.Popen(
        [sys.executable, "-c", ON_A_TERMINAL, sys.executable, "-m", "toolwire", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(place.folder) | {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"},
    )
    try:
        yield Terminal(process)
    finally:
        process.kill()
        process.wait(PATIENCE)


def test_ask_watch_stop_and_leave(shared: tuple[Place, str]) -> None:
    place, url = shared
    with terminal(place, "chat", "--url", url) as screen:
        screen.see("›")
        screen.type("open it\r")
        screen.see("Opening main.py...")
        screen.see('→ read_file path="main.py"')
        screen.see("✓ read_file")
        screen.see("It says: print('hi')")
        screen.see("›")
        screen.type("slow\r")
        screen.see("one moment")
        screen.type("\x03")
        screen.see("stopping; Ctrl-C again leaves")
        screen.see("■ stopped")
        screen.see("›")
        screen.type("/quit\r")
        assert screen.process.wait(PATIENCE) == 0


def test_a_second_ctrl_c_leaves(shared: tuple[Place, str]) -> None:
    place, url = shared
    with terminal(place, "chat", "--url", url) as screen:
        screen.see("›")
        screen.type("\x03")
        screen.see("Ctrl-C again")
        screen.see("›")
        screen.type("\x03")
        assert screen.process.wait(PATIENCE) == 0
