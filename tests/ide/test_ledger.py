from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from support.patience import PATIENCE
from toolwire.errors import StoreError
from toolwire.ide.call import UNDECIDED, Call, Outcome
from toolwire.ide.ledger import Ledger, open_ledger
from toolwire.settings import Settings

EDIT = Call("s", "Edit-1", "Edit", {"path": "a", "new_string": "x"})
READ = Call("s", "read_file-1", "read_file", {"path": "a"})
DONE = Outcome(True, {"content": "内容"}, ms=7)


def ledger(folder: Path, **more: float) -> Ledger:
    return Ledger(folder / "l.sqlite", days=more.get("days", 7), reads=int(more.get("reads", 100)))


def test_a_new_call_is_to_be_run_and_a_finished_one_is_answered_from_its_record(tmp_path: Path) -> None:
    with closing(ledger(tmp_path)) as kept:
        assert kept.begin(EDIT, reads=False) is None
        kept.finish(EDIT, DONE, reads=False)
        assert kept.begin(EDIT, reads=False) == Outcome(True, {"content": "内容"}, ms=7, replayed=True)


def test_its_records_and_its_id_outlive_the_process(tmp_path: Path) -> None:
    with closing(ledger(tmp_path)) as before:
        before.begin(EDIT, reads=False)
        before.finish(EDIT, Outcome(False, error="no"), reads=False)
    with closing(ledger(tmp_path)) as after:
        assert after.id == before.id
        assert after.begin(EDIT, reads=False) == Outcome(False, error="no", replayed=True)


def test_a_write_that_was_begun_and_never_finished_is_undecided(tmp_path: Path) -> None:
    with closing(ledger(tmp_path)) as before:
        before.begin(EDIT, reads=False)
    with closing(ledger(tmp_path)) as after:
        assert after.begin(EDIT, reads=False) is UNDECIDED


def test_a_read_that_was_begun_and_never_finished_is_simply_read_again(tmp_path: Path) -> None:
    with closing(ledger(tmp_path)) as before:
        before.begin(READ, reads=True)
    with closing(ledger(tmp_path)) as after:
        assert after.begin(READ, reads=True) is None


@pytest.mark.parametrize(
    "other",
    [
        Call("other session", "Edit-1", "Edit", EDIT.arguments),
        Call("s", "Edit-1", "Edit", {"path": "b", "new_string": "x"}),
        Call("s", "Edit-1", "Replace", EDIT.arguments),
    ],
)
def test_another_call_under_the_same_id_is_another_call(tmp_path: Path, other: Call) -> None:
    with closing(ledger(tmp_path)) as kept:
        kept.begin(EDIT, reads=False)
        kept.finish(EDIT, DONE, reads=False)
        assert kept.begin(other, reads=False) is None


def test_the_order_of_arguments_does_not_matter() -> None:
    assert Call("s", "1", "Edit", {"a": 1, "b": 2}).digest() == Call("s", "1", "Edit", {"b": 2, "a": 1}).digest()


def test_old_writes_are_forgotten_when_their_time_is_up(tmp_path: Path) -> None:
    now = 1_000_000.0
    path = tmp_path / "l.sqlite"
    with closing(Ledger(path, days=1, reads=10, clock=lambda: now)) as before:
        before.begin(EDIT, reads=False)
        before.finish(EDIT, DONE, reads=False)
    with closing(Ledger(path, days=1, reads=10, clock=lambda: now + 86_399)) as same_day:
        assert same_day.begin(EDIT, reads=False) is not None
    with closing(Ledger(path, days=1, reads=10, clock=lambda: now + 90_000)) as next_day:
        assert next_day.begin(EDIT, reads=False) is None


def test_only_so_many_reads_are_kept(tmp_path: Path) -> None:
    times = iter(range(1, 1000))
    path = tmp_path / "l.sqlite"
    calls = [Call("s", f"r{n}", "read_file", {}) for n in range(20)]
    with closing(Ledger(path, days=1, reads=5, clock=lambda: 1e6 + next(times))) as kept:
        for call in calls:
            kept.finish(call, DONE, reads=True)
    with closing(Ledger(path, days=1, reads=5, clock=lambda: 1e6 + next(times))) as kept:
        assert [kept.begin(call, reads=True) is not None for call in calls] == [False] * 15 + [True] * 5


def of(folder: Path, session: str = "s") -> closing[Ledger]:
    return closing(open_ledger(folder, session, Settings()))


def test_a_second_ide_of_a_session_gets_a_ledger_of_its_own(tmp_path: Path) -> None:
    with of(tmp_path) as first, of(tmp_path) as second:
        assert first.id != second.id
    with of(tmp_path) as again:
        assert again.id == first.id


def test_two_ides_on_a_folder_find_their_own_ledgers_in_whatever_order_they_come_back(tmp_path: Path) -> None:
    with of(tmp_path, "one") as one, of(tmp_path, "two") as two:
        pass
    with of(tmp_path, "two") as two_again, of(tmp_path, "one") as one_again:
        assert (one_again.id, two_again.id) == (one.id, two.id)


def test_ledgers_of_sessions_long_over_are_swept_away_unless_somebody_has_them_open(tmp_path: Path) -> None:
    with of(tmp_path, "over"), of(tmp_path, "recent"):
        pass
    with of(tmp_path, "open"):
        before = set(tmp_path.iterdir())
        for file in before:
            os.utime(file, (1, 1))
        with of(tmp_path, "recent"):
            left = {file.name for file in tmp_path.glob("*.sqlite")}
    assert len({file.name for file in before if file.suffix == ".sqlite"}) == 3
    assert len(left) == 2


def test_a_ledger_of_the_first_layout_is_read_on(tmp_path: Path) -> None:
    with closing(ledger(tmp_path)) as old:
        old.begin(EDIT, reads=False)
        old.finish(EDIT, DONE, reads=False)
    with closing(sqlite3.connect(tmp_path / "l.sqlite")) as file:
        file.execute("DROP TABLE seen")
        file.execute("UPDATE ledger SET outcome = ?", (b'{"ok":true,"result":"r","error":"","ms":7}',))
        file.execute("PRAGMA user_version = 1")
        file.commit()
    with closing(ledger(tmp_path)) as new:
        assert new.id == old.id
        assert new.begin(EDIT, reads=False) == Outcome(True, "r", ms=7, replayed=True)
        assert new.seen("s") == {}


def test_a_file_that_is_no_ledger_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "l.sqlite").write_bytes(b"this is a text file, and quite a long one at that" * 100)
    with pytest.raises(StoreError, match=r"l\.sqlite can't be used"):
        ledger(tmp_path)


def test_a_ledger_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    ledger(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "l.sqlite")) as file:
        file.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="newer"):
        ledger(tmp_path)


CRASH = """
import os, sys
from pathlib import Path
from toolwire.ide.call import Call, Outcome
from toolwire.ide.ledger import Ledger
kept = Ledger(Path(sys.argv[1]), days=7, reads=10)
done, begun = Call("s", "done", "Edit", {}), Call("s", "begun", "Edit", {})
kept.begin(done, reads=False)
kept.finish(done, Outcome(True, "ok"), reads=False)
kept.begin(begun, reads=False)
os.kill(os.getpid(), 9)
"""


def test_nothing_written_down_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    killed = subprocess.run([sys.executable, "-c", CRASH, str(path)], timeout=PATIENCE, check=False)
    assert killed.returncode == -9
    with closing(ledger(tmp_path)) as kept:
        assert kept.begin(Call("s", "done", "Edit", {}), reads=False) == Outcome(True, "ok", replayed=True)
        assert kept.begin(Call("s", "begun", "Edit", {}), reads=False) is UNDECIDED
        assert kept.begin(Call("s", "fresh", "Edit", {}), reads=False) is None
