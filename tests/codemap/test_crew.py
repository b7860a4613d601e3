"""Building over several processes: all files arrive, a dying worker costs one file, nothing is left running."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from codemap.conftest import Project
from support.patience import PATIENCE
from toolwire.codemap import crew
from toolwire.codemap.crew import Crew
from toolwire.codemap.frames import Report

HELLO = "def hello():\n    pass\n"


def run(project: Project, count: int, **settings: float) -> tuple[set[str], set[str]]:
    """Paths with symbols and paths without, as the crew delivers them."""
    files = {f"m{n:03}.py": HELLO for n in range(count)}
    workspace, _ = project(files, codemap_batch=4, **settings)
    full: set[str] = set()
    empty: set[str] = set()
    lock = threading.Lock()

    def deliver(report: Report) -> None:
        with lock:
            for entry in report.entries:
                (full if entry.keys.definitions else empty).add(entry.path)

    Crew(workspace, workspace.settings, deliver, threading.Event()).run(sorted(files))
    return full, empty


def test_every_file_is_delivered_once(project: Project) -> None:
    full, empty = run(project, 50)
    assert len(full) == 50
    assert not empty


def test_a_file_that_kills_the_parser_is_left_out_and_the_others_are_not(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deadly = (
        "import sys, os\n"
        "import toolwire.codemap.worker as worker\n"
        "real = worker.read_entry\n"
        "def read_entry(workspace, path, settings):\n"
        "    if path == 'm005.py':\n"
        "        os.abort()\n"
        "    return real(workspace, path, settings)\n"
        "worker.read_entry = read_entry\n"
        "sys.exit(worker.main())\n"
    )
    program = tmp_path / "deadly.py"
    program.write_text(deadly)
    monkeypatch.setattr(crew, "COMMAND", (sys.executable, str(program)))
    full, empty = run(project, 12)
    assert empty == {"m005.py"}
    assert len(full) == 11


def test_a_worker_that_hangs_is_given_up(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "COMMAND", (sys.executable, "-c", "import threading; threading.Event().wait(600)"))
    full, empty = run(project, 2, codemap_batch_timeout=0.2)
    assert not full
    assert len(empty) == 2


def test_closing_in_the_middle_of_a_build_ends_its_workers(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    running = threading.Event()
    original = Crew._start

    def noted(self: Crew) -> subprocess.Popen[bytes]:
        started.append(original(self))
        running.set()
        return started[-1]

    monkeypatch.setattr(Crew, "_start", noted)
    _, codemap = project({f"m{n}.py": HELLO * 50 for n in range(400)}, codemap_parallel=1, codemap_batch=1)
    codemap.start()
    assert running.wait(PATIENCE)
    codemap.close()
    assert started
    assert all(process.poll() is not None for process in started)


def test_a_worker_ends_when_the_program_that_started_it_is_killed(tmp_path: Path) -> None:
    parent = (
        "import subprocess, sys\n"
        "from toolwire.codemap.crew import COMMAND\n"
        "worker = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "print(worker.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        descriptor = os.pidfd_open(worker) if hasattr(os, "pidfd_open") else None
        process.kill()
        process.wait(PATIENCE)
    if descriptor is not None:
        import select

        assert select.select([descriptor], [], [], PATIENCE)[0], "the worker lives on"
        os.close(descriptor)
