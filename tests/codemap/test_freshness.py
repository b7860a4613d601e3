"""The index follows the files: our own edits, edits by others, new, removed, ignored and unreadable files."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from codemap.conftest import Project
from support.patience import PATIENCE
from toolwire.codemap import keeper
from toolwire.codemap.codemap import Codemap
from toolwire.codemap.keeper import Progress
from toolwire.codemap.listing import source_files
from toolwire.codemap.watch import Watch
from toolwire.codemap.worker import report as read_files

HELLO = "def hello():\n    pass\n"
CALLER = "from hello import hello\n\n\ndef caller():\n    hello()\n"


def callers(codemap: Codemap, name: str) -> list[str]:
    (target,) = codemap.functions(name)
    return [edge.caller.title for edge in codemap.edges(target, "callers")]


def eventually(check: Callable[[], bool]) -> bool:
    """Asks again until it is so, for a bounded time."""
    until = time.monotonic() + PATIENCE
    pause = threading.Event()
    while time.monotonic() < until:
        if check():
            return True
        pause.wait(0.02)
    return False


def test_a_question_right_after_our_own_edit_sees_it(project: Project) -> None:
    workspace, codemap = project({"hello.py": HELLO, "main.py": CALLER})
    assert callers(codemap, "hello") == ["caller"]
    for number in range(5):
        text = CALLER + f"\n\ndef more_{number}():\n    hello()\n"
        workspace.write_bytes("main.py", text.encode())
        assert callers(codemap, "hello") == ["caller", f"more_{number}"]


def test_a_file_we_create_and_one_we_remove_are_seen_at_once(project: Project) -> None:
    workspace, codemap = project({"hello.py": HELLO})
    assert callers(codemap, "hello") == []
    workspace.write_bytes("new/other.py", CALLER.encode(), create=True)
    assert callers(codemap, "hello") == ["caller"]
    workspace.remove("new/other.py")
    assert callers(codemap, "hello") == []


def test_an_edit_by_another_program_is_seen_in_the_files_behind_the_answer(project: Project) -> None:
    workspace, codemap = project({"hello.py": HELLO, "main.py": CALLER})
    assert callers(codemap, "hello") == ["caller"]
    (workspace.root / "main.py").write_text(CALLER.replace("caller", "renamed_caller"))
    assert callers(codemap, "hello") == ["renamed_caller"]


def test_a_file_written_by_another_program_is_found_by_watching(project: Project) -> None:
    workspace, codemap = project({"hello.py": HELLO})
    assert callers(codemap, "hello") == []
    (workspace.root / "later.py").write_text(CALLER)
    assert eventually(lambda: callers(codemap, "hello") == ["caller"])
    (workspace.root / "later.py").unlink()
    assert eventually(lambda: callers(codemap, "hello") == [])


def test_where_files_cant_be_watched_a_question_looks_at_them_all(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watch, "start", lambda self: None)
    workspace, codemap = project({"hello.py": HELLO}, codemap_sweep=0.001)
    assert callers(codemap, "hello") == []
    (workspace.root / "later.py").write_text(CALLER)
    assert callers(codemap, "hello") == ["caller"]


def test_ignored_files_are_not_indexed(project: Project) -> None:
    files = {".gitignore": "build/\n*_gen.py\n", "a.py": HELLO, "build/b.py": HELLO, "c_gen.py": HELLO}
    _, codemap = project(files)
    assert codemap.wait(PATIENCE)
    assert codemap.paths() == ["a.py"]


def test_files_that_are_huge_binary_or_generated_are_left_without_symbols(project: Project) -> None:
    files: dict[str, str | bytes] = {
        "good.py": HELLO,
        "huge.py": HELLO + "# filler\n" * 1000,
        "binary.py": HELLO.encode() + b"\0\x01\x02",
        "packed.js": "function hello(){};" * 200,
    }
    _, codemap = project(files, codemap_file_bytes=5000, codemap_line_bytes=500)
    assert [found.path for found in codemap.functions("hello")] == ["good.py"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gb18030"])
def test_other_encodings_are_read(project: Project, encoding: str) -> None:
    text = "# 说明\n" + HELLO
    _, codemap = project({"a.py": text.encode(encoding)})
    (found,) = codemap.functions("hello")
    assert (found.line, found.end_line) == (2, 3)


def test_a_file_with_syntax_errors_gives_what_can_be_understood(project: Project) -> None:
    _, codemap = project({"a.py": HELLO + "\n\ndef broken(:\n    hello(\n\n\n" + "def after():\n    hello()\n"})
    assert "after" in {found.name for found in codemap.outline("a.py")}


def test_an_index_in_the_making_answers_with_what_it_has_and_says_so(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    listed = source_files

    def slow(*arguments: object) -> list[str]:
        assert go_on.wait(PATIENCE)
        return listed(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(keeper, "source_files", slow)
    _, codemap = project({"hello.py": HELLO, "main.py": CALLER, "far.py": "x = 1\n"}, codemap_wait=0.01)
    try:
        assert callers(codemap, "hello") == ["caller"]
        assert codemap.progress().state == "building"
        assert "far.py" not in codemap.paths()
    finally:
        go_on.set()
    assert codemap.wait(PATIENCE)
    assert codemap.progress() == Progress("ready", 3, 3)


def test_progress_counts_up_to_the_number_of_files(project: Project, tmp_path: Path) -> None:
    workspace, _ = project({f"m{n}.py": HELLO for n in range(100)})
    seen: list[Progress] = []
    with Codemap(workspace, workspace.settings, seen.append) as codemap:
        assert codemap.wait(PATIENCE)
    counts = [one.done for one in seen]
    assert counts == sorted(counts)
    assert seen[-1] == Progress("ready", 100, 100)
    assert len(seen) > 3


def test_the_index_is_kept_between_runs_and_only_changes_are_read_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, codemap = project({"hello.py": HELLO, "main.py": CALLER})
    assert codemap.wait(PATIENCE)
    codemap.close()
    (workspace.root / "main.py").write_text(CALLER + "\n\nhello()\n")
    read: list[str] = []
    original = read_files

    def noted(workspace: object, paths: list[str], settings: object) -> object:
        read.extend(paths)
        return original(workspace, paths, settings)  # type: ignore[arg-type]

    monkeypatch.setattr(keeper, "read_files", noted)
    with Codemap(workspace, workspace.settings) as again:
        assert again.wait(PATIENCE)
        assert callers(again, "hello") == ["caller", "main.py"]
    assert read == ["main.py"]


@pytest.mark.parametrize("damage", [b"", b"not a database at all, but long enough to look at" * 100])
def test_a_damaged_index_is_built_again(project: Project, tmp_path: Path, damage: bytes) -> None:
    workspace, codemap = project({"hello.py": HELLO})
    assert codemap.wait(PATIENCE)
    codemap.close()
    (index,) = [file for file in (tmp_path / "state").iterdir() if file.suffix == ".sqlite3"]
    index.write_bytes(damage)
    with Codemap(workspace, workspace.settings) as again:
        assert again.wait(PATIENCE)
        assert [found.path for found in again.functions("hello")] == ["hello.py"]


def test_an_index_of_another_version_is_built_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, codemap = project({"hello.py": HELLO})
    assert codemap.wait(PATIENCE)
    codemap.close()
    monkeypatch.setattr("toolwire.codemap.shelf.version", lambda schema: 7)
    with Codemap(workspace, workspace.settings) as again:
        assert again.wait(PATIENCE)
        assert [found.path for found in again.functions("hello")] == ["hello.py"]
