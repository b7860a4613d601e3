"""What transactions that share a commit of the SQLite store have in common, also with another gateway's."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from crash import transacting
from crash.transacting import key_of, write
from store.events_made import new_session, opened
from support.patience import PATIENCE
from toolwire.audit.verify import Verification
from toolwire.core.events import PeerReported
from toolwire.settings import Settings
from toolwire.store.call_records import CallRecords
from toolwire.store.group_commit import Append


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def broken(path: Path) -> list[str]:
    return [str(finding) for finding in Verification().run(path, 0).broken]


def ask(path: Path, question: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(path) as db:
        return db.execute(question).fetchall()


async def test_transactions_of_one_moment_share_a_row_of_the_log_and_its_seal(path: Path) -> None:
    async with opened(path, Settings()) as store:
        await store.transact(transacting.make_table)
        records = CallRecords(store, Settings())
        await records.start()
        sessions = [await new_session(store, name) for name in "abc"]
        (before,) = await store.query(lambda tables: tables.execute("SELECT count(*) FROM log").fetchone())
        works = []
        for number in range(30):
            event = PeerReported(number // 3 + 1, 0, "x")
            append = Append(sessions[number % 3], [event], lambda _: None, lambda *_: None)
            works.append(store.transact(write(records, number), append=append, claims=key_of(number)))
        await asyncio.gather(*works)
        (after,) = await store.query(lambda tables: tables.execute("SELECT count(*) FROM log").fetchone())
        for session in sessions:
            assert [event.seq for event in await store.read(session)] == list(range(1, 11))
        await records.close()
    assert after - before == 1
    assert broken(path) == []
    assert Verification().run(path, 0).checked["notes"] == 30


async def test_two_gateways_that_claim_the_same_keys_at_once_make_each_effect_once(path: Path) -> None:
    count = 40
    async with AsyncExitStack() as stack:
        stores = [await stack.enter_async_context(opened(path, Settings())) for _ in range(2)]
        await stores[0].transact(transacting.make_table)
        all_records = [CallRecords(store, Settings()) for store in stores]
        for records in all_records:
            await records.start()
            stack.push_async_callback(records.close)
        works = [
            store.transact(write(records, number), claims=key_of(number))
            for number in range(count)
            for store, records in zip(stores, all_records, strict=True)
        ]
        async with asyncio.timeout(PATIENCE):
            verdicts = await asyncio.gather(*works)
    assert sorted(verdicts) == ["replay"] * count + ["run"] * count
    assert ask(path, "SELECT count(*), count(DISTINCT name) FROM things") == [(count, count)]
    assert broken(path) == []


async def test_a_note_that_another_program_has_added_does_not_stop_the_ledger(path: Path) -> None:
    async with opened(path, Settings()) as store:
        await store.transact(transacting.make_table)
        records = CallRecords(store, Settings())
        await records.start()
        await store.transact(write(records, 1))
        with sqlite3.connect(path) as db:
            db.execute("INSERT INTO notes SELECT id + 1, at, kind, 'forged', trace, digest, 0, chain FROM notes")
        assert await store.transact(write(records, 2)) == "run"
        await records.close()
    assert broken(path) != []


async def test_what_expires_out_of_order_goes_when_what_lies_before_it_does(path: Path) -> None:
    hour = 3_600_000
    async with opened(path, Settings()) as store:
        long, short = (CallRecords(store, Settings(idempotency_hours=hours)) for hours in (24, 1))
        await store.transact(transacting.make_table)
        await store.transact(write(long, 1))
        await store.transact(write(short, 2))
        await store.transact(write(long, 3, now=2 * hour))
        assert await store.transact(write(short, 2, now=2 * hour)) == "run", "it has expired, wherever it lies"
        await store.transact(write(long, 4, now=25 * hour))
        left = await store.query(lambda tables: tables.execute("SELECT key FROM call_records ORDER BY id").fetchall())
    assert left == [("k3",), ("k2",), ("k4",)]


@pytest.mark.parametrize("at", ["work", "commit", "told"])
async def test_a_commit_cut_by_kill_9_is_there_whole_or_not_at_all(path: Path, at: str) -> None:
    """Twenty writes share it; the process is killed inside one of them, before the commit, or right after it."""
    script = Path(transacting.__file__)
    process = await asyncio.create_subprocess_exec(sys.executable, str(script), str(path), at)
    assert await asyncio.wait_for(process.wait(), PATIENCE) == -9
    async with opened(path, Settings()) as store:
        records = CallRecords(store, Settings())
        await records.start()
        verdicts = await asyncio.gather(*(store.transact(write(records, n), claims=key_of(n)) for n in range(40)))
        await records.close()
    earlier, cut = verdicts[:20], verdicts[20:]
    assert set(earlier) == {"replay"}
    assert set(cut) == {"replay" if at == "told" else "run"}
    assert ask(path, "SELECT count(*), count(DISTINCT name) FROM things") == [(40, 40)]
    assert broken(path) == []
