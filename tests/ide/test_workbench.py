from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

import pytest

from ide.running_ide import Bench
from toolwire.errors import StoreError
from toolwire.ide.call import Call, Form, Outcome
from toolwire.ide.ledger import Ledger
from toolwire.ide.workbench import Workbench
from toolwire.settings import Settings
from toolwire.tools.inverses import UndoLog
from toolwire.tools.registry import Registry, default_registry
from toolwire.tools.textfile import content_hash
from toolwire.tools.workspace import Workspace

MAKE = Call("s", "Replace-1", "Replace", {"path": "new.txt", "content": "made\n"})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@contextmanager
def parts(root: Path) -> Iterator[tuple[Workspace, Ledger]]:
    with (
        Workspace(root, root.parent / "state") as workspace,
        closing(Ledger(workspace.state / "l.sqlite", days=7, reads=10)) as ledger,
    ):
        yield workspace, ledger


@asynccontextmanager
async def bench(
    root: Path, *, form: Form = "object", registry: Registry | None = None
) -> AsyncIterator[tuple[Workbench, Workspace, Ledger]]:
    with parts(root) as (workspace, ledger):
        made = Workbench(workspace, registry or default_registry(), ledger, Settings(), form=form, session="s")
        yield made, workspace, ledger
        await made.close()


async def test_a_write_begun_before_a_crash_that_left_no_trace_is_run(root: Path) -> None:
    with parts(root) as (_, ledger):
        ledger.begin(MAKE, reads=False)
    async with bench(root) as (workbench, _, _):
        outcome = await workbench.run(MAKE)
        assert outcome.ok
        assert not outcome.replayed
        assert (root / "new.txt").read_text() == "made\n"
        assert (await workbench.run(MAKE)).replayed


async def test_a_write_that_happened_before_a_crash_is_not_run_again(root: Path) -> None:
    with parts(root) as (workspace, ledger):
        ledger.begin(MAKE, reads=False)
        UndoLog(workspace).begin(MAKE.call_id, "new.txt", None, b"made\n")
        workspace.write_bytes("new.txt", b"made\n", create=True)
    before = (root / "new.txt").stat().st_mtime_ns
    async with bench(root) as (workbench, _, _):
        outcome = await workbench.run(MAKE)
        assert outcome.ok
        assert outcome.replayed
        assert outcome.result["recovered"] is True
        assert (root / "new.txt").stat().st_mtime_ns == before
        assert (await workbench.run(MAKE)).result == outcome.result


async def test_a_write_nobody_can_decide_about_is_told_as_such_and_not_run(root: Path) -> None:
    with parts(root) as (workspace, ledger):
        ledger.begin(MAKE, reads=False)
        UndoLog(workspace).begin(MAKE.call_id, "new.txt", None, b"made\n")
    (root / "new.txt").write_text("somebody else's\n")
    async with bench(root) as (workbench, _, _):
        outcome = await workbench.run(MAKE)
        assert not outcome.ok
        assert outcome.indeterminate
        assert "may or may not" in outcome.error
    assert (root / "new.txt").read_text() == "somebody else's\n"


async def test_a_write_outside_the_workspace_leaves_nothing_to_decide_by(root: Path) -> None:
    tools = Bench()
    tools.gate.set()
    mark = Call("s", "mark-1", "mark", {"note": "x"})
    with parts(root) as (_, ledger):
        ledger.begin(mark, reads=False)
    async with bench(root, registry=tools.registry()) as (workbench, _, _):
        assert "may or may not" in (await workbench.run(mark)).error
    assert tools.runs == []


async def test_without_its_ledger_nothing_is_written_but_reading_goes_on(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    (root / "a.txt").write_text("here\n")
    async with bench(root) as (workbench, _, ledger):
        monkeypatch.setattr(ledger, "begin", full)
        monkeypatch.setattr(ledger, "finish", full)
        refused = await workbench.run(MAKE)
        assert (refused.ok, refused.error) == (False, "Replace was not run: the disk is full")
        assert not (root / "new.txt").exists()
        assert (await workbench.run(Call("s", "r", "read_file", {"path": "a.txt"}))).result["content"] == "here\n"


async def test_a_write_that_could_not_be_recorded_afterwards_still_tells_its_outcome(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise StoreError("the disk is full")

    async with bench(root) as (workbench, _, ledger):
        monkeypatch.setattr(ledger, "finish", full)
        assert (await workbench.run(MAKE)).ok


async def test_whatever_goes_wrong_the_call_is_answered(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a defect")

    async with bench(root) as (workbench, _, ledger):
        monkeypatch.setattr(ledger, "begin", broken)
        assert await workbench.run(MAKE) == Outcome(False, error="Internal error in Replace: RuntimeError")


async def test_bad_arguments_are_a_failure_in_the_language_of_the_document(root: Path) -> None:
    call = Call("s", "r", "read_file", {"path": 7})
    async with bench(root, form="markdown") as (workbench, _, _):
        assert (await workbench.run(call)).error.startswith("参数无效")
    async with bench(root) as (workbench, _, _):
        assert (await workbench.run(Call("s", "r2", "read_file", {"path": 7}))).error.startswith("Bad arguments")


async def test_the_tools_of_one_session_remember_what_was_read(root: Path) -> None:
    (root / "a.txt").write_text("one\n")
    edit = {"path": "a.txt", "old_string": "one", "new_string": "two"}
    async with bench(root) as (workbench, _, _):
        assert not (await workbench.run(Call("s", "e1", "Edit", edit))).ok
        assert (await workbench.run(Call("s", "r1", "read_file", {"path": "a.txt"}))).ok
        assert (await workbench.run(Call("s", "e2", "Edit", edit))).ok
    assert (root / "a.txt").read_text() == "two\n"


async def test_what_the_session_has_read_is_remembered_after_a_crash(root: Path) -> None:
    (root / "a.txt").write_text("one\n")
    (root / "b.txt").write_text("one\n")
    async with bench(root) as (workbench, _, _):
        for name in ("a.txt", "b.txt"):
            assert (await workbench.run(Call("s", name, "read_file", {"path": name}))).ok
    (root / "b.txt").write_text("changed since\n")
    async with bench(root) as (workbench, _, _):
        edits = [{"path": name, "old_string": "one", "new_string": "two"} for name in ("a.txt", "b.txt")]
        done = [await workbench.run(Call("s", f"e{n}", "Edit", edit)) for n, edit in enumerate(edits)]
        assert [outcome.ok for outcome in done] == [True, False]
        # Its own write counts as read, also in the next process.
    async with bench(root) as (workbench, _, _):
        back = {"path": "a.txt", "old_string": "two", "new_string": "three"}
        assert (await workbench.run(Call("s", "e9", "Edit", back))).ok


@pytest.mark.parametrize("form", ["object", "markdown"])
async def test_a_write_found_to_have_happened_tells_patch_and_hashes(root: Path, form: Form) -> None:
    call = Call("s", "Edit-1", "Edit", {"path": "a.txt", "old_string": "one", "new_string": "two"})
    (root / "a.txt").write_text("one\n")
    with parts(root) as (workspace, ledger):
        ledger.begin(call, reads=False)
        UndoLog(workspace).begin(call.call_id, "a.txt", b"one\n", b"two\n")
        workspace.write_bytes("a.txt", b"two\n")
    async with bench(root, form=form) as (workbench, _, _):
        outcome = await workbench.run(call)
    fields = outcome.result if form == "object" else outcome.details
    assert outcome.replayed
    assert fields is not None
    assert (fields["path"], fields["hash_after"]) == ("a.txt", content_hash(b"two\n"))
    assert fields["hash_before"] == content_hash(b"one\n")
    assert fields["patch"][0]["lines"] == ["-one", "+two"]
    assert "+two" in (fields["content"] if form == "object" else outcome.result)


async def test_a_write_told_in_words_has_its_typed_fields_beside_them_and_a_read_has_not(root: Path) -> None:
    async with bench(root, form="markdown") as (workbench, _, _):
        made = await workbench.run(MAKE)
        assert made.details is not None
        assert made.details["content"] == "made\n"
        assert made.details["hash_after"] == content_hash(b"made\n")
        assert (await workbench.run(Call("s", "r", "read_file", {"path": "new.txt"}))).details is None
