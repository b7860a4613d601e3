from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.desk import Desk
from toolwire.errors import StoreError, ToolError
from toolwire.settings import Settings
from toolwire.tools.inverses import Splice, UndoLog
from toolwire.tools.textfile import content_hash
from toolwire.tools.undo import decide, undo
from toolwire.tools.workspace import Workspace


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def _refusal(desk: Desk, call_id: str) -> ToolError:
    with pytest.raises(ToolError) as refused:
        undo(desk.context(), call_id)
    return refused.value


def test_a_write_is_undone_to_the_very_bytes(desk: Desk) -> None:
    data = "a = 'я'\r\nb = 2\r\n".encode("utf-16")
    path = desk.put("a.py", data)
    path.chmod(0o750)
    desk.done("Edit", "c1", path="a.py", old_string="b = 2", new_string="b = 3")
    result = undo(desk.context(), "c1")
    assert path.read_bytes() == data
    assert path.stat().st_mode & 0o777 == 0o750
    assert result.hash_after == content_hash(data)
    assert result.patch[0].lines[-2:] == ("-b = 3\r", "+b = 2\r")


def test_undoing_the_making_of_a_file_removes_it(desk: Desk) -> None:
    desk.done("Replace", "c1", path="new/a.py", content="x\n")
    assert undo(desk.context(), "c1").removed
    assert not (desk.root / "new/a.py").exists()


def test_a_file_changed_since_is_left_alone_and_that_is_said(desk: Desk) -> None:
    path = desk.put("a.py", "a b c\n")
    desk.done("Edit", "c1", path="a.py", old_string="b", new_string="d")
    path.write_text("mine\n")
    error = _refusal(desk, "c1")
    assert (error.kind, error.facts["actual"]) == ("undo_stale", content_hash(b"mine\n"))
    assert path.read_text() == "mine\n"
    path.unlink()
    assert _refusal(desk, "c1").kind == "undo_stale"


def test_undo_happens_once(desk: Desk) -> None:
    desk.put("a.py", "b\n")
    desk.done("Edit", "c1", path="a.py", old_string="b", new_string="c")
    undo(desk.context(), "c1")
    assert _refusal(desk, "c1").kind == "undo_nothing"
    assert _refusal(desk, "never").kind == "undo_unknown"


def test_writes_are_undone_one_after_the_other_backwards(desk: Desk) -> None:
    path = desk.put("a.py", "1\n")
    desk.done("Edit", "c1", path="a.py", old_string="1", new_string="2")
    desk.done("Edit", "c2", path="a.py", old_string="2", new_string="3")
    assert _refusal(desk, "c1").kind == "undo_stale"
    undo(desk.context(), "c2")
    undo(desk.context(), "c1")
    assert path.read_text() == "1\n"


def test_an_undo_can_be_undone_and_then_the_write_again(desk: Desk) -> None:
    path = desk.put("a.py", "1\n")
    desk.done("Edit", "c1", path="a.py", old_string="1", new_string="2")
    undo(desk.context("u1"), "c1")
    result = undo(desk.context("u2"), "u1")
    assert (path.read_text(), result.hash_after) == ("2\n", content_hash(b"2\n"))
    assert _refusal(desk, "u1").kind == "undo_nothing"
    undo(desk.context("u3"), "u2")
    assert path.read_text() == "1\n"
    undo(desk.context("u4"), "u3")
    undo(desk.context("u5"), "c1")
    assert path.read_text() == "1\n"


def test_the_undone_making_of_a_file_can_be_undone(desk: Desk) -> None:
    desk.done("Replace", "c1", path="new/a.py", content="x\n")
    undo(desk.context("u1"), "c1")
    assert decide(desk.workspace, "u1") == "done"
    made = undo(desk.context("u2"), "u1")
    assert (made.created, made.hash_before, made.hash_after) == (True, None, content_hash(b"x\n"))
    assert (desk.root / "new/a.py").read_text() == "x\n"
    undo(desk.context("u3"), "u2")
    assert not (desk.root / "new/a.py").exists()


def test_the_undo_of_a_removal_leaves_alone_what_was_put_there_since(desk: Desk) -> None:
    desk.done("Replace", "c1", path="a.py", content="x\n")
    undo(desk.context("u1"), "c1")
    (desk.root / "a.py").write_text("mine\n")
    assert _refusal(desk, "u1").kind == "undo_stale"
    assert (desk.root / "a.py").read_text() == "mine\n"


def test_nothing_is_undone_if_the_undo_can_not_be_recorded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    path = desk.put("a.py", "1\n")
    desk.done("Edit", "c1", path="a.py", old_string="1", new_string="2")

    def full(*_: object) -> int:
        raise StoreError("database or disk is full")

    monkeypatch.setattr(UndoLog, "begin", full)
    assert _refusal(desk, "c1").kind == "not_recorded"
    assert path.read_text() == "2\n"


def test_a_call_id_used_twice_can_be_undone_twice(desk: Desk) -> None:
    path = desk.put("a.py", "1\n")
    desk.done("Edit", "same", path="a.py", old_string="1", new_string="2")
    desk.done("Edit", "same", path="a.py", old_string="2", new_string="3")
    undo(desk.context(), "same")
    undo(desk.context(), "same")
    assert path.read_text() == "1\n"


def test_an_undone_file_counts_as_read(desk: Desk) -> None:
    desk.put("a.py", "b\n")
    desk.done("Edit", "c1", path="a.py", old_string="b", new_string="c")
    undo(desk.context(), "c1")
    desk.done("Edit", "c2", path="a.py", old_string="b", new_string="d")


def test_a_refused_write_leaves_no_record(desk: Desk) -> None:
    desk.put("a.py", "b\n", read=False)
    desk.refused("Replace", path="a.py", content="")
    desk.refused("Replace", path=".git/x", content="")
    assert UndoLog(desk.workspace).find("call-1") is None
    assert UndoLog(desk.workspace).find("call-2") is None


def test_a_write_that_lost_a_race_leaves_no_record(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    path = desk.put("a.py", "b\n")
    begin = UndoLog.begin

    def overtaken(log: UndoLog, *arguments: Any) -> int:
        path.write_text("theirs\n")
        return begin(log, *arguments)

    monkeypatch.setattr(UndoLog, "begin", overtaken)
    error = desk.refused("Edit", path="a.py", old_string="b", new_string="c")
    assert error.kind == "content_changed"
    assert path.read_text() == "theirs\n"
    assert decide(desk.workspace, "call-1") == "not_done"


def test_nothing_is_written_if_its_inverse_can_not_be_recorded(desk: Desk) -> None:
    path = desk.put("a.py", "b\n")
    (desk.workspace.state / "undo.sqlite").write_bytes(b"not a database at all" * 100)
    assert desk.refused("Edit", path="a.py", old_string="b", new_string="c").kind == "not_recorded"
    assert path.read_text() == "b\n"


class Crash(BaseException):
    pass


@pytest.mark.parametrize("effect", [False, True])
def test_after_a_crash_the_content_decides(desk: Desk, monkeypatch: pytest.MonkeyPatch, effect: bool) -> None:
    path = desk.put("a.py", "b\n")
    write = Workspace.write_bytes

    def crashing(workspace: Workspace, *arguments: object, **more: object) -> None:
        if effect:
            write(workspace, *arguments, **more)  # type: ignore[arg-type]
        raise Crash

    monkeypatch.setattr(Workspace, "write_bytes", crashing)
    with pytest.raises(Crash):
        desk.call("Edit", "c1", path="a.py", old_string="b", new_string="c")
    monkeypatch.undo()
    assert decide(desk.workspace, "c1") == ("done" if effect else "not_done")
    if effect:
        undo(desk.context(), "c1")
    else:
        assert _refusal(desk, "c1").kind == "undo_nothing"
    assert path.read_text() == "b\n"


def test_a_crash_and_a_foreign_change_can_not_be_decided(desk: Desk) -> None:
    path = desk.put("a.py", "b\n")
    UndoLog(desk.workspace).begin("c1", "a.py", b"b\n", b"c\n")
    path.write_text("else\n")
    assert decide(desk.workspace, "c1") == "undecidable"


def test_a_finished_write_stays_done_whatever_happens_to_the_file(desk: Desk) -> None:
    path = desk.put("a.py", "b\n")
    desk.done("Edit", "c1", path="a.py", old_string="b", new_string="c")
    path.write_text("else\n")
    assert decide(desk.workspace, "c1") == "done"
    assert decide(desk.workspace, "never begun") == "not_done"


def test_the_record_is_bounded_and_forgets_the_oldest(tmp_path: Path) -> None:
    desk = Desk(tmp_path, Settings(undo_entries=3, undo_bytes=1000))
    log = UndoLog(desk.workspace)
    for number in range(5):
        log.begin(f"c{number}", "a", b"old", b"new")
    assert [log.find(f"c{number}") is not None for number in range(5)] == [False, False, True, True, True]
    log.begin("big", "a", b"x" * 999, b"")
    assert log.find("c4") is None
    assert log.find("big") is not None


def test_a_damaged_inverse_is_never_written(desk: Desk) -> None:
    path = desk.put("a.py", "b\n")
    log = UndoLog(desk.workspace)
    log.begin("c1", "a.py", b"a\n", b"b\n")
    with log._transaction() as db:
        db.execute("UPDATE writes SET middle = x'00'")
    with pytest.raises(StoreError):
        undo(desk.context(), "c1")
    assert path.read_text() == "b\n"


@given(st.binary(max_size=60), st.binary(max_size=60), st.binary(max_size=30), st.binary(max_size=30))
def test_an_inverse_gives_the_old_bytes_back(head: bytes, tail: bytes, old: bytes, new: bytes) -> None:
    before, after = head + old + tail, head + new + tail
    inverse = Splice.between(before, after)
    assert inverse.apply(after) == before
    assert len(inverse.middle) <= len(old)
