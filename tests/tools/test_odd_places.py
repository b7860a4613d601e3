"""What is no plain file, names that are no Unicode, folders that can't be written: a sentence, never a defect."""

from __future__ import annotations

import logging
import os
import socket
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from tools.desk import Desk
from toolwire.settings import Settings
from toolwire.tools.workspace import Workspace


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture(params=["fifo", "socket"])
def odd(request: pytest.FixtureRequest, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> str:
    """Something in the project that is neither a file nor a folder."""
    if request.param == "fifo":
        os.mkfifo(desk.root / "odd")
    else:
        monkeypatch.chdir(desk.root)  # the address of a socket must be short
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("odd")
    return "odd"


def test_what_is_no_file_is_called_so_by_every_tool(desk: Desk, odd: str) -> None:
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("read_file", {}),
        ("grep_file", {"pattern": "x"}),
        ("Replace", {"content": "x"}),
        ("Edit", {"old_string": "a", "new_string": "b"}),
        ("Edit", {"old_string": "", "new_string": "b"}),
        ("MultiEdit", {"edits": [{"old_string": "", "new_string": "b"}]}),
        ("apply_change", {"searchContent": "", "replaceContent": "b"}),
        ("apply_change", {"searchContent": "a", "replaceContent": "b"}),
    )
    for tool, arguments in calls:
        error = desk.refused(tool, path=odd, **arguments)
        kind = error.facts["cause"].kind if error.kind == "edit_failed" and "cause" in error.facts else error.kind
        assert kind == "not_a_file", (tool, arguments, error.kind)
    assert [entry.kind for entry in desk.done("list_dir").entries] == ["other"]


def test_a_link_to_nowhere_is_not_written_and_called_a_link(desk: Desk) -> None:
    (desk.root / "dangling").symlink_to("nowhere")
    assert desk.refused("Replace", path="dangling", content="x").kind == "link_refused"
    assert [place.name for place in desk.root.iterdir()] == ["dangling"]


def test_matches_in_a_file_whose_name_is_no_unicode_are_found(desk: Desk) -> None:
    desk.put("a.txt", "needle\n")
    (desk.root / os.fsdecode(b"b\xff.txt")).write_text("needle\n")
    found = desk.done("grep_file", pattern="needle")
    assert [hit.path for hit in found.matches] == ["a.txt", "b\ufffd.txt"]
    assert desk.done("search_code", query="needle").files == 2


def test_a_name_that_is_no_unicode_is_asked_for_as_it_was_shown(desk: Desk) -> None:
    place = desk.root / os.fsdecode(b"d\xfe") / os.fsdecode(b"b\xff.txt")
    place.parent.mkdir()
    place.write_text("needle\n")
    (shown,) = (entry.path for entry in desk.done("list_dir", depth=2).entries if entry.kind == "file")
    assert shown == "d\ufffd/b\ufffd.txt"
    assert desk.done("read_file", path=shown).content == "needle\n"
    desk.done("Edit", path=shown, old_string="needle", new_string="thread")
    assert place.read_text() == "thread\n"
    assert list(place.parent.iterdir()) == [place]


def test_of_two_names_shown_alike_neither_is_guessed(desk: Desk) -> None:
    for name in (b"b\xff.txt", b"b\xfe.txt"):
        (desk.root / os.fsdecode(name)).write_text("x\n")
    assert desk.refused("read_file", path="b\ufffd.txt").kind == "file_not_found"


def test_a_name_is_found_in_either_unicode_form_and_gets_no_twin(desk: Desk) -> None:
    decomposed = unicodedata.normalize("NFD", "dé/é.txt")
    place = desk.put(decomposed, "old\n", read=False)
    desk.done("read_file", path="dé/é.txt")
    desk.done("Edit", path="dé/é.txt", old_string="old", new_string="new")
    assert place.read_text() == "new\n"
    assert desk.refused("apply_change", path="dé/é.txt", replaceContent="x").kind == "file_exists"
    assert list(place.parent.iterdir()) == [place]
    desk.put("dé/é.txt", "composed\n", read=False)
    assert desk.done("read_file", path="dé/é.txt").content == "composed\n"
    assert desk.done("read_file", path=decomposed).content == "new\n"


@pytest.fixture
def homeless(tmp_path: Path) -> Desk:
    """A desk whose state folder can't be made."""
    desk = Desk(tmp_path)
    (tmp_path / "blocked").write_text("")
    desk.workspace = Workspace(desk.root, tmp_path / "blocked/state", Settings())
    return desk


def test_without_a_state_folder_everything_can_be_read(homeless: Desk, caplog: pytest.LogCaptureFixture) -> None:
    homeless.put("a.py", "class Foo:\n    def bar(self): pass\n")
    with caplog.at_level(logging.WARNING):
        assert homeless.done("read_file", path="a.py").total_lines == 2
        assert homeless.done("grep_file", pattern="Foo").count == 1
        assert homeless.done("read_class", className="Foo").classes[0].name == "Foo"
    assert "temporary" in caplog.text
    homeless.workspace.close()


def test_without_a_state_folder_nothing_is_written_and_the_reason_is_told(homeless: Desk) -> None:
    path = homeless.put("a.py", "x = 1\n")
    error = homeless.refused("Edit", path="a.py", old_string="1", new_string="2")
    assert error.kind == "not_recorded"
    assert "blocked/state" in str(error.facts["reason"])
    assert path.read_text() == "x = 1\n"
