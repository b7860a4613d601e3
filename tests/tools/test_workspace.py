"""Writing through the workspace: whole or not at all, never over what was not meant, never where it must not."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from support.patience import PATIENCE
from support.room import Room
from toolwire.errors import ConfigError, ToolError
from toolwire.settings import Settings
from toolwire.tools import atomic, confine
from toolwire.tools.textfile import content_hash
from toolwire.tools.workspace import Workspace


@pytest.fixture(params=["kernel", "walk"])
def room(request: pytest.FixtureRequest, tmp_path: Path) -> Room:
    return Room(tmp_path, kernel=request.param == "kernel")


def kind_of_refusal(room: Room, path: str, data: bytes = b"x", *, create: bool = False, **more: str) -> str:
    with pytest.raises(ToolError) as refusal:
        room.workspace.write_bytes(path, data, create=create, **more)
    return refusal.value.kind


def leftovers(room: Room) -> list[str]:
    return [path.name for path in room.root.rglob("*") if path.name.startswith(atomic.TEMPORARY)]


def test_a_new_file_gets_its_folders_and_the_mode_of_the_umask(room: Room) -> None:
    room.workspace.write_bytes("a/b/c.txt", b"new", create=True)
    mask = os.umask(0)
    os.umask(mask)
    assert (room.root / "a/b/c.txt").read_bytes() == b"new"
    assert stat.S_IMODE((room.root / "a/b/c.txt").stat().st_mode) == 0o666 & ~mask
    assert leftovers(room) == []


def test_creating_never_overwrites_a_file_a_folder_or_a_link(room: Room) -> None:
    room.put("file", "old")
    (room.root / "folder").mkdir()
    (room.root / "dangling").symlink_to("missing")
    for name, kind in (("file", "file_exists"), ("folder", "file_exists"), ("dangling", "link_refused")):
        assert kind_of_refusal(room, name, create=True) == kind
    assert (room.root / "file").read_text() == "old"
    assert leftovers(room) == []


def test_of_many_that_create_one_file_at_once_exactly_one_does(room: Room) -> None:
    start, outcomes = threading.Barrier(8), []

    def create(number: int) -> None:
        start.wait(PATIENCE)
        try:
            room.workspace.write_bytes("deep/er/one", str(number).encode(), create=True)
            outcomes.append(number)
        except ToolError as error:
            outcomes.append(-1 if error.kind == "file_exists" else -2)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    winners = [number for number in outcomes if number >= 0]
    assert len(winners) == 1
    assert -2 not in outcomes
    assert (room.root / "deep/er/one").read_text() == str(winners[0])


def test_creating_works_where_the_file_system_has_no_hard_links(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    room.workspace.write_bytes("new", b"1", create=True)
    assert (room.root / "new").read_bytes() == b"1"
    assert kind_of_refusal(room, "new", b"2", create=True) == "file_exists"
    assert (room.root / "new").read_bytes() == b"1"
    assert leftovers(room) == []


def test_a_failed_creation_takes_its_new_folders_away_again(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    (room.root / "kept").mkdir()

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        assert kind_of_refusal(room, "kept/new/deeper/file", create=True) == "no_space"
    assert [path.name for path in room.root.rglob("*")] == ["kept"]


def test_mode_survives_a_write_but_set_user_id_does_not(room: Room) -> None:
    room.put("run.sh", "old").chmod(0o4751)
    room.workspace.write_bytes("run.sh", b"new")
    assert stat.S_IMODE((room.root / "run.sh").stat().st_mode) == 0o751


def test_a_write_names_the_content_it_expects(room: Room) -> None:
    room.put("f", "old")
    room.workspace.write_bytes("f", b"new", expected=content_hash(b"old"))
    with pytest.raises(ToolError) as refusal:
        room.workspace.write_bytes("f", b"newer", expected=content_hash(b"old"))
    assert refusal.value.kind == "content_changed"
    assert refusal.value.facts["actual"] == content_hash(b"new")
    assert (room.root / "f").read_bytes() == b"new"
    assert leftovers(room) == []


def test_of_many_writes_that_expect_the_same_content_one_wins(room: Room) -> None:
    room.put("f", "old")
    start, won = threading.Barrier(8), []

    def write(number: int) -> None:
        start.wait(PATIENCE)
        try:
            room.workspace.write_bytes("f", str(number).encode(), expected=content_hash(b"old"))
            won.append(number)
        except ToolError as error:
            assert error.kind == "content_changed"  # noqa: PT017

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(won) == 1
    assert (room.root / "f").read_text() == str(won[0])


def test_what_is_missing_read_only_a_folder_or_a_link_is_not_written_over(room: Room) -> None:
    (room.root / "folder").mkdir()
    room.put("locked", "old").chmod(0o444)
    room.put("real", "old")
    (room.root / "link").symlink_to("real")
    assert kind_of_refusal(room, "missing") == "file_not_found"
    assert kind_of_refusal(room, "folder") == "not_a_file"
    assert kind_of_refusal(room, ".") == "not_a_file"
    assert kind_of_refusal(room, "locked") == "permission_denied"
    assert kind_of_refusal(room, "link") == "link_refused"
    assert kind_of_refusal(room, "real/below", create=True) in {"file_not_found", "not_a_folder"}
    assert (room.root / "real").read_text() == "old"


def test_a_file_is_removed_only_if_it_is_what_is_expected(room: Room) -> None:
    room.put("f", "now")
    with pytest.raises(ToolError, match="content_changed"):
        room.workspace.remove("f", expected=content_hash(b"then"))
    room.workspace.remove("f", expected=content_hash(b"now"))
    assert not room.workspace.exists("f")
    with pytest.raises(ToolError, match="file_not_found"):
        room.workspace.remove("f")


PROTECTED = [
    ".git/config", ".git", "sub/.git/hooks/pre-commit", ".GIT/config", ".Git/x", ".git./config", ".git /config",
    ".g\u200cit/config", "git~1/config", ".hg/hgrc", ".svn/x", ".vscode/tasks.json", "app/.vscode/settings.json",
    ".claude/settings.json", ".cursor/mcp.json", ".cursorrules", ".mcp.json", ".envrc", ".idea/workspace.xml",
    "AGENTS.md", "docs/CLAUDE.md", "toolwire.toml", "x.code-workspace",
]  # fmt: skip


@pytest.mark.parametrize("path", PROTECTED)
def test_protected_paths_are_not_written_created_or_removed(room: Room, path: str) -> None:
    assert room.workspace.protected(path)
    assert kind_of_refusal(room, path, create=True) == "protected_path"
    assert list(room.root.iterdir()) == []
    room.put(path, "old")
    assert kind_of_refusal(room, path) == "protected_path"
    with pytest.raises(ToolError, match="protected_path"):
        room.workspace.remove(path)
    assert (room.root / path).read_text() == "old"
    assert room.done("read_file", path=path).content == "old"


@pytest.mark.parametrize(
    "path", [".gitignore", ".github/workflows/ci.yml", ".vscode/extensions.json", "git", "a.git"]
)
def test_their_neighbours_are_writable(room: Room, path: str) -> None:
    assert not room.workspace.protected(path)
    room.workspace.write_bytes(path, b"x", create=True)


def test_a_protected_folder_is_not_written_through_a_link(tmp_path: Path) -> None:
    room = Room(tmp_path)
    room.put(".git/config", "old")
    (room.root / "innocent").symlink_to(".git")
    assert room.workspace.protected("innocent/config")
    assert room.workspace.protected("innocent/not/there/yet")
    assert not room.workspace.protected("not/there/yet")
    assert kind_of_refusal(room, "innocent/config") == "protected_path"
    assert kind_of_refusal(room, "innocent/hooks/post-checkout", create=True) == "protected_path"
    assert sorted(path.name for path in (room.root / ".git").iterdir()) == ["config"]


def test_without_a_way_to_ask_for_the_real_place_links_are_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Room(tmp_path)
    room.put(".git/config", "old")
    (room.root / "innocent").symlink_to(".git")
    monkeypatch.setattr(confine, "location", lambda descriptor: None)
    assert kind_of_refusal(room, "innocent/config") == "link_refused"
    room.put("plain/f", "old")
    room.workspace.write_bytes("plain/f", b"new")


def test_what_is_protected_is_a_setting(tmp_path: Path) -> None:
    room = Room(tmp_path, settings=Settings.load({}, ["protected_paths=secrets, *.lock"]))
    assert kind_of_refusal(room, "secrets/x", create=True) == "protected_path"
    assert kind_of_refusal(room, "a/poetry.lock", create=True) == "protected_path"
    room.workspace.write_bytes(".envrc", b"x", create=True)


CRASH = """
import os, sys
from pathlib import Path
from toolwire.tools.workspace import Workspace
workspace = Workspace(Path(sys.argv[1]), Path(sys.argv[2]))
calls = 0
def dying(name, number):
    real = getattr(os, name)
    def call(*arguments, **more):
        global calls
        calls += 1
        if calls == number:
            os._exit(9)
        return real(*arguments, **more)
    setattr(os, name, call)
for name in ("open", "write", "fsync", "fchmod", "rename", "link", "unlink"):
    dying(name, int(sys.argv[3]))
if sys.argv[4] == "create":
    workspace.write_bytes("new/f", b"N" * 100_000, create=True)
else:
    workspace.write_bytes("f", b"N" * 100_000)
"""


@pytest.mark.parametrize("how", ["create", "replace"])
def test_a_crash_at_any_step_leaves_the_old_file_or_the_new_one(tmp_path: Path, how: str) -> None:
    room = Room(tmp_path)
    old, new = b"O" * 100_000, b"N" * 100_000
    for step in range(1, 30):
        room.put("f", old)
        command = [sys.executable, "-c", CRASH, str(room.root), str(tmp_path / "state"), str(step), how]
        ended = subprocess.run(command, check=False, timeout=PATIENCE)
        place = room.root / ("new/f" if how == "create" else "f")
        content = place.read_bytes() if place.exists() else None
        assert content in ((None, new) if how == "create" else (old, new))
        if ended.returncode == 0:
            assert content == new
            return
        place.unlink(missing_ok=True)
    pytest.fail("the write has more steps than expected")


def test_reading_stops_at_the_limit(room: Room) -> None:
    room.put("big", b"x" * 1000)
    assert len(room.workspace.read_bytes("big", 1000)) == 1000
    with pytest.raises(ToolError, match="file_too_large"):
        room.workspace.read_bytes("big", 999)


def test_absolute_paths_inside_the_root_and_names_from_the_root_mean_the_same(room: Room) -> None:
    for spelling in ("a/b", "/a/b", "./a//b/", f"{room.root}/a/b", "a/x/../b"):
        assert room.workspace.normalise(spelling) == "a/b"
    assert room.workspace.normalise("") == room.workspace.normalise("/") == room.workspace.normalise(".") == "."
    assert room.workspace.absolute("/a") == f"{room.root}/a"


def test_a_root_given_through_a_link_accepts_both_spellings(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    workspace = Workspace(tmp_path / "link", tmp_path / "state")
    assert workspace.normalise(f"{tmp_path}/link/a") == workspace.normalise(f"{tmp_path}/real/a") == "a"


def test_kind_tells_files_folders_and_nothing(room: Room) -> None:
    room.put("d/f", "")
    assert [room.workspace.kind(path) for path in ("d", "d/f", "d/f/x", "x")] == ["folder", "file", None, None]


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        Workspace(tmp_path / "missing")


def test_descriptors_are_given_back(room: Room) -> None:
    room.put("a/f", "x")

    def use() -> int:
        room.workspace.read_bytes("a/f")
        room.workspace.write_bytes("a/f", b"y")
        room.workspace.list("a")
        room.done("grep_file", pattern="y")
        for path in ("missing", "a", "../x"):
            with pytest.raises(ToolError):
                room.workspace.read_bytes(path)
        return len(list(Path("/dev/fd").iterdir()))

    # What earlier tests have left is closed at any time; a leak grows with every use.
    first = use()
    assert min(use() for _ in range(5)) <= first
