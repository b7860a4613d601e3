"""The command as a user runs it: in a process of its own, with a state folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.patience import PATIENCE
from toolwire.cli import main

SCRIPT: dict[str, Any] = {
    "turns": [
        {"match": "fail", "steps": [{"say": ["trying"]}, {"fail": "no luck"}]},
        {"match": "slow", "steps": [{"say": ["one ", "moment"]}, {"sleep_ms": 600_000}, {"say": ["too late"]}]},
        {
            "match": "write",
            "steps": [
                {"call": [{"tool": "Replace", "arguments": {"path": "new.txt", "content": "made by the agent\n"}}]},
                {"say": ["written"]},
            ],
        },
        {
            "steps": [
                {"say": ["Opening ", "main.py..."]},
                {"think": "reading", "stage": "analyzing", "percent": 30},
                {"call": [{"tool": "read_file", "arguments": {"path": "main.py"}}]},
                {"call": [{"tool": "read_file", "arguments": {"path": "nope.py"}}]},
                {"say": ["It says: ", "{{1.content}}"]},
            ]
        },
    ]
}
ANSWER = "Opening main.py...\n\nIt says: print('hi')\n"


def environment(state: Path) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TOOLWIRE_")}
    return plain | {
        "XDG_STATE_HOME": str(state),
        "HOME": str(state),
        "COLUMNS": "200",
        "NO_COLOR": "1",
        "LANG": "C.UTF-8",
    }


def toolwire(*words: str, state: Path, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "toolwire", *words],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        env=environment(state),
        cwd=cwd or state,
        check=False,
    )


@dataclass
class Command:
    """A command that goes on running; its stdout is read line by line."""

    process: subprocess.Popen[str]

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def event(self, kind: str) -> dict[str, Any]:
        """The next JSON line with that `event`."""
        while line := self.line():
            value: dict[str, Any] = json.loads(line)
            if value.get("event") == kind:
                return value
        raise AssertionError(f"no {kind}; stderr: {self.rest()[1]}")

    def rest(self) -> tuple[str, str]:
        return self.process.communicate(timeout=PATIENCE)

    def signal(self, number: int) -> None:
        self.process.send_signal(number)


@contextmanager
def started(*words: str, state: Path) -> Iterator[Command]:
    process = subprocess.Popen(
        [sys.executable, "-m", "toolwire", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment(state),
        cwd=state,
    )
    try:
        yield Command(process)
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


@dataclass
class Place:
    """A folder with a project, a script and a state folder."""

    folder: Path

    def __post_init__(self) -> None:
        self.project = self.folder / "shop"
        self.project.mkdir()
        (self.project / "main.py").write_text("print('hi')\n")
        self.script = self.folder / "script.json"
        self.script.write_text(json.dumps(SCRIPT))
        self.store = f"sqlite:///{self.folder}/toolwire.db"

    @contextmanager
    def gateway(self, *more: str, port: int = 0) -> Iterator[tuple[Command, str]]:
        """A real gateway; gives its process and its URL."""
        words = ("--project", f"shop={self.project}", "--agent", f"script:{self.script}", "--store", self.store)
        with started("serve", "--json", "--port", str(port), *words, *more, state=self.folder) as gateway:
            yield gateway, f"ws://127.0.0.1:{gateway.event('listening')['port']}"

    def run(self, *words: str, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return toolwire(*words, state=self.folder, stdin=stdin, cwd=cwd)


class Here:
    """Runs commands in this process, which is quicker than one of their own."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        self._capture.readouterr()
        code = main(words)
        shown = self._capture.readouterr()
        return subprocess.CompletedProcess(words, code, shown.out, shown.err)
