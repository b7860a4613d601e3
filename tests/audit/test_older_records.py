"""Records older than seals stay readable, what is added is sealed, and verifying says what it can not prove."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from store.events_made import Listener, opened, said
from toolwire.audit.inverses import InverseCheck
from toolwire.audit.verify import Verification
from toolwire.core.events import encode_run
from toolwire.errors import StoreError
from toolwire.settings import Settings
from toolwire.store.migrations import MIGRATIONS
from toolwire.tools import inverses
from toolwire.tools.inverses import UndoLog
from toolwire.tools.workspace import Workspace


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    """As the first layout had it: a session with three events."""
    path, run = tmp_path / "store.db", encode_run(said(1, 3))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("CREATE TABLE meta (version INTEGER NOT NULL)")
        db.execute("INSERT INTO meta VALUES (1)")
        for statement in MIGRATIONS[0]:
            db.execute(statement)
        db.execute("INSERT INTO sessions (tenant, name, epoch, created, updated) VALUES ('', 's', 'e', 1, 1)")
        db.execute("INSERT INTO log VALUES (1, ?, ?)", (f"[[1,1,3,{len(run)}]]", run))
    return path


def test_an_older_store_is_not_verified_before_it_is_brought_up_to_date(old_store: Path) -> None:
    with pytest.raises(StoreError, match="layout version 1"):
        Verification().run(old_store, 0)


async def test_what_is_added_to_an_older_store_is_sealed(old_store: Path) -> None:
    async with opened(old_store, Settings()) as store:
        await Listener(store).stored(1, said(4, 2))
        assert len(await store.read(1)) == 5
    report = Verification().run(old_store, 0)
    assert report.whole, report.broken
    assert report.remarks == ["rows 1 to 1 of the log are older than seals: nothing proves them"]
    with closing(sqlite3.connect(old_store, isolation_level=None)) as db:
        db.execute("UPDATE meta SET unsealed = 2")
    assert not Verification().run(old_store, 0).whole


def test_an_older_record_of_writes_gets_its_seals(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    with Workspace(tmp_path / "project", tmp_path / "state") as workspace:
        record = workspace.state / "undo.sqlite"
        with closing(sqlite3.connect(record, isolation_level=None)) as db:
            for statement in inverses._SCHEMA.split(";"):
                db.execute(statement)
            db.execute(
                "INSERT INTO writes (call_id, path, hash_after, head, tail, middle, size)"
                " VALUES ('old', 'a', 'h', 0, 0, x'0102', 2)"
            )
            db.execute("PRAGMA user_version = 1")
        check = InverseCheck(record)
        assert list(check.findings()) == []
        assert check.old
        UndoLog(workspace).begin("new", "a", b"1", b"2")
        assert UndoLog(workspace).find("old") is not None
    check = InverseCheck(record)
    assert list(check.findings()) == []
    assert (check.writes, check.old) == (2, False)


def test_writes_that_are_forgotten_or_withdrawn_break_nothing(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    settings = Settings(undo_entries=3, audit_heads_bytes=300)
    with Workspace(tmp_path / "project", tmp_path / "state", settings) as workspace:
        log = UndoLog(workspace)
        for number in range(10):
            begun = log.begin(f"c{number}", "a", b"%d" % number, b"x")
            (log.withdraw if number % 4 == 0 else log.done)(begun)
        assert log.find("c8") is None
        record = workspace.state / "undo.sqlite"
    check = InverseCheck(record)
    assert [str(finding) for finding in check.findings()] == []
    assert check.writes == 3
    with closing(sqlite3.connect(record, isolation_level=None)) as db:
        db.execute("DELETE FROM writes WHERE id = (SELECT min(id) FROM writes)")
    assert list(InverseCheck(record).findings())
