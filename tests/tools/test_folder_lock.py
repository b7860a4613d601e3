"""Writes of several processes to one file: each either sees the other's, or is refused."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.patience import PATIENCE
from tools.desk import Desk
from toolwire.settings import Settings
from toolwire.tools.folder_lock import locked

COUNTING = """
import sys, time
from pathlib import Path
from toolwire.errors import ToolError
from toolwire.tools.textfile import content_hash
from toolwire.tools.workspace import Workspace

counted = 0
with Workspace(Path(sys.argv[1]), Path(sys.argv[2])) as workspace:
    print("ready", flush=True)
    sys.stdin.readline()
    while counted < 150:
        data = workspace.read_bytes("n")
        try:
            workspace.write_bytes("n", b"%d" % (int(data) + 1), expected=content_hash(data))
            counted += 1
        except ToolError as refused:
            assert refused.kind == "content_changed", refused
"""


def test_no_process_writes_over_what_another_has_just_written(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "n").write_text("0")
    counting = [sys.executable, "-c", COUNTING, str(project), str(tmp_path / "state")]
    processes = [
        subprocess.Popen(counting, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.communicate("go\n", timeout=PATIENCE)
    assert [process.returncode for process in processes] == [0] * 4
    assert (project / "n").read_text() == "600"


def test_a_folder_that_stays_locked_is_called_busy(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Settings(undo_timeout=0.05))
    desk.put("a", "b\n")
    folder = os.open(desk.root, os.O_RDONLY)
    try:
        with locked(folder, PATIENCE):
            assert desk.refused("Edit", path="a", old_string="b", new_string="c").kind == "path_busy"
        desk.done("Edit", path="a", old_string="b", new_string="c")
    finally:
        os.close(folder)


def test_what_can_not_be_locked_goes_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr("fcntl.flock", refused)
    with locked(0, 0.0):
        pass
