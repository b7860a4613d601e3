"""A process killed at any moment of a write leaves the old file or the new one, and the record tells which."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.patience import PATIENCE
from toolwire.settings import Settings
from toolwire.tools.undo import decide
from toolwire.tools.workspace import Workspace

_WRITER = """
import sys, time
from pathlib import Path
from toolwire.settings import Settings
from toolwire.tools import edit
from toolwire.tools.base import Context
from toolwire.tools.seen import Seen
from toolwire.tools.textfile import content_hash
from toolwire.tools.workspace import Workspace

settings = Settings()
workspace = Workspace(Path(sys.argv[1]), Path(sys.argv[2]), settings)
seen = Seen()
seen.note("count.txt", content_hash(workspace.read_bytes("count.txt")))
for number in range(100_000):
    context = Context(workspace, settings, seen, time.monotonic() + 60, call_id=f"c{number + 1}")
    print(number, flush=True)
    edit.run(context, edit.Input(path="count.txt", old_string=f"<{number}>", new_string=f"<{number + 1}>"))
"""


@pytest.mark.parametrize("after", [1, 3, 10])
def test_a_killed_write_can_be_decided(tmp_path: Path, after: int) -> None:
    root, state = tmp_path / "project", tmp_path / "state"
    root.mkdir()
    (root / "count.txt").write_text("x" * 5000 + "<0>\n")
    writer = subprocess.Popen([sys.executable, "-c", _WRITER, root, state], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    for _ in range(after):
        assert writer.stdout.readline(), "the writer ended by itself"
    writer.kill()
    started = after + len(writer.stdout.read().splitlines())
    writer.wait(timeout=PATIENCE)
    text = (root / "count.txt").read_text()
    assert text.startswith("x" * 5000 + "<")
    done = int(text[5001:-2])
    assert started - 1 <= done <= started
    with Workspace(root, state, Settings()) as workspace:
        assert [decide(workspace, f"c{number}") for number in range(1, started + 1)] == [
            "done" if number <= done else "not_done" for number in range(1, started + 1)
        ]
    assert [path.name for path in root.iterdir() if not path.name.startswith(".toolwire-")] == ["count.txt"]
