"""Heads: they show what was cut off, and a crash between a commit and its head does not look like tampering."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import pytest

import crash.appending
from audit.recorded import Recorded, flipped
from store.events_made import Listener, ended, opened, said, url_of
from support.patience import PATIENCE
from toolwire.audit.verify import Verification
from toolwire.seal.heads import Head, Heads, parse_heads, read_heads
from toolwire.settings import Settings
from toolwire.store import Store
from toolwire.store.ledger import Note
from toolwire.store.notes import add_note
from toolwire.store.witness import Witness

SEAL = bytes(range(32))


def broken(path: Path) -> list[str]:
    return [str(finding) for finding in Verification().run(path, 0).broken]


def remarks(path: Path) -> list[str]:
    return Verification().run(path, 0).remarks


async def write(store: Store, name: str, count: int, *, last: bool = True) -> None:
    """Events of a turn; with `last` its end, which is synced."""
    record = await store.open_session("", name, epoch="e", now=1)
    listener = Listener(store)
    for number in range(count):
        listener.append(record.number, said(record.last + 1 + number))
        await store.drained()
    if last:
        listener.append(record.number, [ended(record.last + 1 + count)])
        await store.drained()


def test_a_changed_head_is_detected_whichever_byte_it_is(recorded: Recorded) -> None:
    content = recorded.heads.read_bytes()
    for at in range(0, len(content), 7):
        recorded.heads.write_bytes(flipped(content, at))
        assert recorded.found(), at
    recorded.heads.write_bytes(content)
    assert not recorded.found()


@pytest.mark.parametrize("missing", ["store.db-audit-heads", "state"])
def test_missing_heads_are_detected(recorded: Recorded, missing: str) -> None:
    file = recorded.folder / missing if missing != "state" else recorded.inverses.with_name("undo.sqlite-audit-heads")
    file.unlink()
    assert "missing" in recorded.first_broken()


def test_heads_that_lag_are_told_and_break_nothing(recorded: Recorded) -> None:
    lines = recorded.heads.read_bytes().splitlines(keepends=True)
    recorded.heads.write_bytes(b"".join(lines[:-2]))
    report = recorded.verify()
    assert report["whole"]
    assert "the last head is of row" in report["remarks"][0]


async def test_a_record_that_was_cut_stays_broken_whatever_is_added(recorded: Recorded) -> None:
    before = recorded.ask("SELECT max(id) FROM log")[0][0]
    recorded.change(f"DELETE FROM log WHERE id > {before - 3}")
    async with opened(recorded.store, Settings(audit_heads_bytes=100)) as store:
        for _ in range(3):
            await write(store, "gamma", 3)
    assert any("is not the one that line" in finding or "cut" in finding for finding in recorded.found())


async def test_heads_that_vanish_while_nobody_looks_are_remembered(recorded: Recorded) -> None:
    recorded.heads.unlink()
    async with opened(recorded.store, Settings()) as store:
        await write(store, "gamma", 1)
    assert "was missing when the log was at row" in recorded.first_broken()


async def test_a_crash_before_a_head_is_written_does_not_look_like_tampering(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    with monkeypatch.context() as patch:
        patch.setattr(Witness, "committed", lambda *_: None)
        async with opened(path, Settings()) as store:
            await write(store, "a", 3)
    assert broken(path) == []
    assert remarks(path) != []
    async with opened(path, Settings()) as store:
        await write(store, "a", 3)
    assert broken(path) == []
    assert remarks(path) == []


async def test_a_head_is_never_of_what_is_not_synced(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    heads = tmp_path / "store.db-audit-heads"
    async with opened(path, Settings()) as store:
        await write(store, "a", 3, last=False)
        await store.transact(lambda _: None)
        assert _numbers(heads) == []
        await write(store, "a", 0)
        await store.transact(lambda _: None)  # the writer takes this on when it is done with the one before
        assert _numbers(heads) == [4]
        await write(store, "a", 2, last=False)
    assert _numbers(heads) == [4, 6]


def _numbers(path: Path) -> list[int]:
    read = read_heads(path)
    assert read is not None
    return [head.number for head in read.heads]


def _killed_after(url: str, lines: int) -> None:
    script = Path(crash.appending.__file__)
    with subprocess.Popen([sys.executable, script, url, "e"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            for _ in range(lines):
                assert process.stdout.readline()
        finally:
            process.kill()


@pytest.mark.parametrize("lines", [1, 30, 800])
def test_a_store_whose_process_was_killed_is_whole(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "store.db"
    for _ in range(2):
        _killed_after(url_of(path), lines)
        assert broken(path) == []


async def test_two_writers_of_one_file_keep_one_chain_and_lose_no_head(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    settings = Settings(audit_heads_bytes=400, store_index_rows=7)
    async with AsyncExitStack() as stack:
        stores = [await stack.enter_async_context(opened(path, settings)) for _ in range(2)]

        async def work(store: Store, name: str) -> None:
            for number in range(15):
                await write(store, f"{name}{number % 3}", 2)
                note = Note(number, "response", f"{name}{number}", "t", "d", 0)
                await store.transact(lambda tables, note=note: add_note(tables, note))  # type: ignore[misc]

        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(work(stores[0], "a"), work(stores[1], "b"))
    assert broken(path) == []
    assert remarks(path) == []
    assert Verification().run(path, 0).checked["notes"] == 30


async def test_a_store_can_be_verified_while_it_is_written_to(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with opened(path, Settings(audit_heads_bytes=500, store_index_rows=5)) as store:
        await write(store, "a", 1)
        writing = asyncio.create_task(write_on(store, 60))
        reports = 0
        while not writing.done():
            assert await asyncio.to_thread(broken, path) == []
            reports += 1
        await writing
    assert reports > 1


async def write_on(store: Store, turns: int) -> None:
    for _ in range(turns):
        await write(store, "a", 2)


def test_two_processes_on_one_file_keep_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    script = Path(crash.appending.__file__)
    start = [sys.executable, str(script), url_of(path)]
    with (
        subprocess.Popen([*start, "e"], stdout=subprocess.PIPE) as one,
        subprocess.Popen([*start, "f"], stdout=subprocess.PIPE) as other,
    ):
        for process in (one, other):
            assert process.stdout is not None
            try:
                for _ in range(40):
                    assert process.stdout.readline()
            finally:
                process.kill()
    assert broken(path) == []


async def test_a_transaction_that_is_undone_leaves_the_chain_whole(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with opened(path, Settings()) as store:
        await write(store, "a", 1)

        def fail(tables: Any) -> None:
            add_note(tables, Note(1, "response", "s", "t", "d", 0))
            raise RuntimeError("no")

        good = store.transact(lambda tables: add_note(tables, Note(1, "response", "good", "t", "d", 0)))
        results = await asyncio.gather(store.transact(fail), good, return_exceptions=True)
        assert isinstance(results[0], RuntimeError)
        await write(store, "a", 1)
    assert broken(path) == []
    assert Verification().run(path, 0).checked["notes"] == 1


def test_shortening_keeps_the_last_head_and_everything_that_does_not_fit(tmp_path: Path) -> None:
    heads = Heads(tmp_path / "heads")
    heads.open(0)
    for number in range(1, 9):
        heads.add(number, SEAL)
    heads.compact(lambda found: [head.number != 3 for head in found])
    heads.add(9, SEAL)
    assert _numbers(tmp_path / "heads") == [3, 8, 9]
    heads.close()


def test_a_head_goes_to_the_file_that_is_there(tmp_path: Path) -> None:
    """One process shortens the file while another has it open."""
    one, other = Heads(tmp_path / "heads"), Heads(tmp_path / "heads")
    with closing(one), closing(other):
        one.open(0)
        other.open(0)
        for number in range(1, 5):
            one.add(number, SEAL)
        one.compact(lambda found: [True] * len(found))
        other.add(5, SEAL)
        one.add(6, SEAL)
        assert _numbers(tmp_path / "heads") == [4, 5, 6]


def test_a_line_that_was_torn_is_made_up_for() -> None:
    content = b"toolwire heads 1\n1 " + SEAL.hex().encode() + b"\n2 0001 torn\n2 " + SEAL.hex().encode() + b"\n"
    assert parse_heads(content) == ([Head(2, 1, SEAL), Head(4, 2, SEAL)], [], [])


async def test_key_and_heads_can_be_kept_in_a_folder_of_their_own(tmp_path: Path) -> None:
    path, settings = tmp_path / "store.db", Settings(audit_folder=str(tmp_path / "apart"))
    async with opened(path, settings) as store:
        await write(store, "a", 1)
    assert [file.name[-4:] for file in sorted((tmp_path / "apart").iterdir())] == ["eads", "-key"]
    assert not (tmp_path / "store.db-audit-key").exists()
    assert Verification(settings).run(path, 0).whole
    assert not Verification().run(path, 0).whole
