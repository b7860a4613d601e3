"""Nothing outside the root is ever opened: strings, links, names and races that try to (spec README, "Paths")."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.patience import PATIENCE
from support.room import CANARY, Room
from toolwire.errors import ToolError
from toolwire.tools import paths
from toolwire.tools.registry import as_markdown, as_object

CALLS = 20_000
SEARCHES = 90


@pytest.fixture(params=["kernel", "walk"])
def room(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Room]:
    room = Room(tmp_path, kernel=request.param == "kernel")
    yield room
    assert room.outside_is_untouched()
    room.workspace.close()


TRAVERSALS = [
    "../outside/secret.txt",
    "a/../../outside/secret.txt",
    "./../outside/secret.txt",
    "..",
    "../",
    "a/b/../../../outside/secret.txt",
    "/../outside/secret.txt",
    "..%2foutside%2fsecret.txt",
    quote("../outside/secret.txt", safe=""),
    quote(quote("../outside/secret.txt", safe=""), safe=""),
    "%c0%ae%c0%ae/outside/secret.txt",
    "..\\outside\\secret.txt",
    "．．/outside/secret.txt",
    "\u2025/outside/secret.txt",
    "..;/outside/secret.txt",
    "....//outside/secret.txt",
    ".../outside/secret.txt",
    "file://../outside/secret.txt",
    "~/../outside/secret.txt",
    "/proc/self/root/etc/passwd",
    "/etc/passwd",
    "C:\\Windows\\win.ini",
]


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_spelling_of_a_path_leads_outside(room: Room, path: str) -> None:
    for tool, arguments in (
        ("read_file", {"path": path}),
        ("grep_file", {"path": path, "pattern": "."}),
        ("list_dir", {"path": path}),
    ):
        outcome = room.call(tool, arguments)
        assert not outcome.success
        assert CANARY not in as_markdown(outcome)
    with pytest.raises(ToolError):
        room.workspace.write_bytes(path, b"x")


def test_an_absolute_path_of_a_sibling_with_the_same_prefix_is_read_from_the_root(room: Room) -> None:
    assert room.refused("read_file", path=str(room.sibling / "secret.txt")).kind == "file_not_found"
    assert room.workspace.normalise(f"{room.root}/a.txt") == "a.txt"
    assert room.workspace.normalise(f"{room.root}-evil/a.txt") == f"{str(room.root)[1:]}-evil/a.txt"


def test_an_absolute_path_that_climbs_out_of_the_root_is_refused(room: Room) -> None:
    assert room.refused("read_file", path=f"{room.root}/../outside/secret.txt").kind == "outside_workspace"


LINKS = {
    "absolute": "{outside}/secret.txt",
    "relative": "../outside/secret.txt",
    "dangling": "nowhere",
    "dangling-outside": "{outside}/missing",
    "loop": "loop",
    "magic": "/proc/self/root/etc/passwd",
    "descriptor": "/dev/fd/0",
}


@pytest.mark.parametrize("name", LINKS)
def test_a_link_that_leaves_the_root_is_refused_by_every_tool(room: Room, name: str) -> None:
    (room.root / name).symlink_to(LINKS[name].format(outside=room.outside))
    expected = {"outside_workspace", "link_refused", "file_not_found"}
    assert room.refused("read_file", path=name).kind in expected
    assert room.refused("grep_file", path=name, pattern=".").kind in expected
    with pytest.raises(ToolError):
        room.workspace.write_bytes(name, b"x")
    with pytest.raises(ToolError):
        room.workspace.write_bytes(name, b"x", create=True)
    assert (room.root / name).is_symlink()


def test_a_folder_link_that_leaves_the_root_is_not_entered(room: Room) -> None:
    (room.root / "out").symlink_to(room.outside)
    for tool, arguments in (
        ("read_file", {"path": "out/secret.txt"}),
        ("grep_file", {"path": "out", "pattern": "CANARY"}),
        ("grep_file", {"path": "out/secret.txt", "pattern": "CANARY"}),
        ("list_dir", {"path": "out"}),
    ):
        assert room.refused(tool, **arguments).kind in {"outside_workspace", "link_refused"}
    assert room.done("grep_file", pattern="CANARY").matches == []
    assert [item.kind for item in room.done("list_dir", depth=3).entries] == ["link"]
    for create in (True, False):
        with pytest.raises(ToolError):
            room.workspace.write_bytes("out/new.txt", b"x", create=create)
    with pytest.raises(ToolError):
        room.workspace.write_bytes("out/deep/new.txt", b"x", create=True)
    with pytest.raises(ToolError):
        room.workspace.remove("out/secret.txt")


def test_links_that_stay_inside_are_followed_for_reading_by_the_kernel_and_refused_by_the_walk(
    tmp_path: Path,
) -> None:
    kernel, walk = Room(_made(tmp_path / "k")), Room(_made(tmp_path / "w"), kernel=False)
    for room in (kernel, walk):
        room.put("real/a.txt", "inside\n")
        (room.root / "link").symlink_to("real")
    assert kernel.done("read_file", path="link/a.txt").content == "inside\n"
    assert [hit.path for hit in kernel.done("grep_file", path="link", pattern="inside").matches] == ["link/a.txt"]
    assert walk.refused("read_file", path="link/a.txt").kind == "link_refused"


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


HARD_NAMES = ["a\0b", "\ud800", "x" * 256, "é" * 128, "d/" * 2100 + "x", "\udcff/x"]


@pytest.mark.parametrize("path", HARD_NAMES, ids=["nul", "surrogate", "256", "256-utf8", "path-max", "undecodable"])
def test_names_no_file_can_have_are_refused_before_anything_is_opened(room: Room, path: str) -> None:
    assert room.refused("read_file", path=path).kind == "bad_path"
    assert room.refused("grep_file", path=path, pattern="x").kind == "bad_path"
    with pytest.raises(ToolError):
        room.workspace.write_bytes(path, b"x", create=True)
    assert as_object(room.call("read_file", path=path))["error"].encode()


@pytest.mark.parametrize(
    "name", ["dots...", "CON", "nul.txt", "x" * 255, " space ", "-e", "--pre=id", "a\nb", "*", "~"]
)
def test_odd_names_are_just_names(room: Room, name: str) -> None:
    room.workspace.write_bytes(name, b"needle\n", create=True)
    assert (room.root / name).read_bytes() == b"needle\n"
    assert room.done("read_file", path=name).content == "needle\n"
    assert [hit.path for hit in room.done("grep_file", path=name, pattern="needle").matches] == [name]
    assert [hit.path for hit in room.done("grep_file", pattern="needle").matches] == [name]


def test_a_fifo_or_a_folder_is_not_read_as_a_file(room: Room) -> None:
    os.mkfifo(room.root / "pipe")
    (room.root / "folder").mkdir()
    assert room.refused("read_file", path="pipe").kind == "not_a_file"
    assert room.refused("read_file", path="folder").kind == "not_a_file"
    assert not room.call("grep_file", path="pipe", pattern="x").success
    assert room.done("grep_file", pattern="x").matches == []


PARTS = st.sampled_from(["..", ".", "", "a", "b", "ws", "ws-evil", "\\", "...", "outside", "é"])


@settings(deadline=None)
@given(st.lists(PARTS, max_size=8), st.booleans(), st.booleans())
def test_a_clean_path_never_climbs_and_is_clean_already(parts: list[str], rooted: bool, absolute: bool) -> None:
    path = ("/tmp/ws/" if rooted else "/" if absolute else "") + "/".join(parts)
    clean, refused = _cleaned(path, "/tmp/ws")
    if refused:
        assert refused == "outside_workspace"
        assert ".." in parts
        return
    assert clean == "." or all(part not in ("", ".", "..") for part in clean.split("/"))
    assert paths.clean(clean, ["/tmp/ws"]) == clean


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_cleaned_or_refused_by_name(path: str) -> None:
    clean, refused = _cleaned(path)
    assert refused in {"", "bad_path", "outside_workspace"}
    assert not clean.startswith("/")
    assert os.path.normpath(clean) == clean


def _cleaned(path: str, *roots: str) -> tuple[str, str]:
    """The clean path and no refusal, or the root and the refusal's kind."""
    try:
        return paths.clean(path, roots), ""
    except ToolError as error:
        return ".", error.kind


class Flipper:
    """A thread that exchanges `flip`, a folder, and `trap`, a link to the outside, as fast as it can."""

    def __init__(self, room: Room) -> None:
        self._root = room.root
        self._outside = room.outside
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.flips = 0

    def __enter__(self) -> Flipper:
        (self._root / "trap").symlink_to(self._outside)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(PATIENCE)

    def _run(self) -> None:
        while not self._stop.is_set():
            exchange(self._root / "flip", self._root / "trap")
            self.flips += 1


def exchange(one: Path, other: Path) -> None:
    """Both at once where the C library can; elsewhere step by step, whatever else is made there in between."""
    library = ctypes.CDLL(None)
    here = -100 if sys.platform == "linux" else -2
    swap = getattr(library, "renameat2", None) or getattr(library, "renameatx_np", None)
    assert swap is not None
    assert swap(here, os.fsencode(one), here, os.fsencode(other), 2) == 0


@pytest.mark.parametrize(("kernel", "calls"), [(True, CALLS), (False, CALLS // 5)], ids=["kernel", "walk"])
def test_a_component_that_flips_to_a_link_is_never_followed_out(tmp_path: Path, kernel: bool, calls: int) -> None:
    room = Room(tmp_path, kernel=kernel)
    room.put("flip/secret.txt", "inside")
    room.put("flip/target.txt", "start")
    room.put("flip/000/first", "")
    with Flipper(room) as flipper:
        contents: set[bytes | None] = set()
        for number in range(calls * 5):
            contents.add(_read_and_touch(room, number))
            # On a busy machine it may take longer until the race is met.
            if number >= calls // 2 and len(contents) > 1 and flipper.flips > 100:
                break
        for number in range(SEARCHES):
            where = (".", "flip", "flip/secret.txt")[number % 3]
            assert CANARY not in as_markdown(room.call("grep_file", path=where, pattern="CANARY|inside", regex=True))
    assert contents == {None, b"inside"}, "both states of the folder must have been met, and no third"
    assert room.outside_is_untouched()


def _read_and_touch(room: Room, number: int) -> bytes | None:
    """Two calls: a read, and a write or a listing."""
    with contextlib.suppress(ToolError):
        match number % 20:
            case 0:
                room.workspace.write_bytes("flip/target.txt", b"new")
            case 10:
                room.workspace.write_bytes(f"flip/new-{number}/x.txt", b"new", create=True)
            case 15:
                room.workspace.remove("flip/target.txt")
            case 16:
                room.workspace.write_bytes("flip/target.txt", b"again", create=True)
            case _:
                assert room.workspace.list("flip", 1).entries[0].name == "000"  # there is none outside
    try:
        return room.workspace.read_bytes("flip/secret.txt")
    except ToolError:
        return None
