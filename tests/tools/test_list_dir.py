"""`list_dir`: folders first, sizes, levels, limits; links shown and never followed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.room import Room
from toolwire.settings import Settings
from toolwire.tools.registry import as_markdown


@pytest.fixture
def room(tmp_path: Path) -> Room:
    room = Room(tmp_path)
    room.put("b.txt", "12345")
    room.put("a.py", "x" * 2_000)
    room.put("src/deep/er/x.py", "")
    room.put(".hidden", "")
    (room.root / "link").symlink_to("src")
    return room


def test_folders_come_first_then_the_rest_by_name(room: Room) -> None:
    found = room.done("list_dir")
    assert [(item.name, item.kind, item.size) for item in found.entries] == [
        ("src", "folder", None),
        (".hidden", "file", 0),
        ("a.py", "file", 2_000),
        ("b.txt", "file", 5),
        ("link", "link", None),
    ]
    assert (found.count, found.total, found.truncated) == (5, 5, False)


def test_levels_are_gone_down_in_place(room: Room) -> None:
    room.put("node_modules/x/y.js", "")
    found = room.done("list_dir", depth=3)
    assert [item.path for item in found.entries][:5] == ["node_modules", "src", "src/deep", "src/deep/er", ".hidden"]
    assert [item.path for item in room.done("list_dir", path="/src/deep", depth=2).entries] == [
        "src/deep/er",
        "src/deep/er/x.py",
    ]


def test_a_limit_cuts_and_says_so(tmp_path: Path) -> None:
    room = Room(tmp_path, settings=Settings(list_limit=3))
    for number in range(5):
        room.put(f"f{number}", "")
    found = room.done("list_dir", limit=100)
    assert ([item.name for item in found.entries], found.total, found.truncated) == (["f0", "f1", "f2"], 5, True)
    assert "只显示 3 项；用 offset=3 继续" in as_markdown(room.call("list_dir"))
    rest = room.done("list_dir", offset=found.next_offset)
    assert ([item.name for item in rest.entries], rest.truncated, rest.next_offset) == (["f3", "f4"], False, None)
    assert not room.done("list_dir", path=".", limit=1).entries[1:]
    room.put("folder/x", "")
    assert room.done("list_dir", depth=2).truncated


def test_what_is_no_folder_is_refused(room: Room) -> None:
    assert room.refused("list_dir", path="a.py").kind == "not_a_folder"
    assert room.refused("list_dir", path="nope").kind == "folder_not_found"
    assert room.refused("list_dir", depth=0).kind == "bad_arguments"


def test_a_name_that_is_not_unicode_is_shown_and_files_left_by_a_crash_are_not(room: Room) -> None:
    (room.root / os.fsdecode(b"bad\xff")).write_bytes(b"")
    room.put(".toolwire-0123.tmp", "")
    names = [item.name for item in room.done("list_dir").entries]
    assert "bad\ufffd" in names
    assert ".toolwire-0123.tmp" not in names


def test_markdown_is_a_list_with_sizes(room: Room) -> None:
    assert as_markdown(room.call("list_dir", depth=2)) == (
        "## 目录内容: /\n\n**路径**: `.`\n**条目数量**: 6\n\n"
        "- `src/`\n  - `deep/`\n- `.hidden` (0 B)\n- `a.py` (2.0 KB)\n- `b.txt` (5 B)\n- `link@`"
    )
    (room.root / "empty").mkdir()
    assert "(empty folder)" in as_markdown(room.call("list_dir", path="empty"), "en")
