"""A store that can't write says so, loses nothing it acknowledged, and works again when the cause is gone."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

from store.events_made import QUICK, Listener, added, asked, ended, new_session, opened, said
from support.patience import PATIENCE
from toolwire.core.events import Message
from toolwire.errors import StoreError
from toolwire.settings import Settings
from toolwire.store import migrations
from toolwire.store.group_commit import Mark
from toolwire.store.sqlite import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "toolwire.db"


def move(old: Path, new: Path) -> None:
    assert not new.exists() or new.stat().st_size < 100, "nobody made a new store in its place"
    old.rename(new)


def write(path: Path, text: str) -> None:
    assert not path.exists(), "nobody made a new store in its place"
    path.write_text(text)


def read(path: Path) -> str:
    return path.read_text()


async def test_a_lock_held_by_another_process_fails_the_append_and_its_end_heals_it(path: Path) -> None:
    async with opened(path) as store:
        listener = Listener(store)
        session = await new_session(store)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        error = await listener.refused(session, said(1))
        assert error.retryable
        assert "another process" in error.message
        with pytest.raises(StoreError, match="another process"):
            await new_session(store, "two")
        assert await store.read(session) == []
        other.execute("ROLLBACK")
        other.close()
        await listener.stored(session, said(1, 2))


async def test_a_short_lock_is_waited_for(path: Path) -> None:
    async with opened(path, Settings(store_busy_timeout=PATIENCE)) as store:
        listener = Listener(store)
        session = await new_session(store)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        listener.append(session, [asked(1), ended(2)])
        for _ in range(10):
            await asyncio.sleep(0)
        assert listener.told == []
        other.execute("COMMIT")
        other.close()
        await listener.settled()
        assert listener.errors == []


async def test_a_full_disk_fails_appends_in_order_and_room_heals_it(path: Path) -> None:
    async with opened(path) as store:
        listener = Listener(store)
        one, two = await new_session(store, "one"), await new_session(store, "two")
        await listener.stored(one, [asked(1), *said(2, 2)])
        pages = store._writer._connection.execute("PRAGMA page_count").fetchone()[0]
        store._writer._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        for seq in (4, 5, 6):
            listener.append(one, said(seq, 1, "x" * 20_000))
        listener.append(two, said(1, 1, "x" * 20_000))
        await listener.settled()
        assert [(session, events[0].seq) for session, events, error in listener.told if error] == [
            (one, 4),
            (one, 5),
            (one, 6),
            (two, 1),
        ]
        assert "disk is full" in listener.errors[0].message
        assert listener.errors[0].retryable
        assert (await store.open_session("", "one", epoch="e", now=1)).last == 3
        assert len(await store.read(one)) == 3
        store._writer._connection.execute("PRAGMA max_page_count = 100000")
        await listener.stored(one, [*said(4, 3, "x" * 20_000), ended(7)])
        assert len(await store.history("", "c", 10)) == 2


async def test_a_commit_that_fails_half_way_leaves_no_half(path: Path) -> None:
    """The log's row fits; what follows it in the same transaction does not."""
    async with opened(path) as store:
        listener = Listener(store)
        session = await new_session(store)
        store._writer._connection.execute(
            "CREATE TEMP TRIGGER no BEFORE INSERT ON messages BEGIN SELECT raise(ABORT, 'no room'); END"
        )
        await listener.refused(session, [asked(1), ended(2)])
        assert await store.read(session) == []
        assert (await store.sessions())[0].turns == 0
        store._writer._connection.execute("DROP TRIGGER no")
        await listener.stored(session, [asked(1), ended(2)])
        assert (await store.sessions())[0].turns == 1


async def test_a_number_that_was_given_in_vain_can_become_another_tenants(path: Path) -> None:
    async with opened(path) as store:
        listener = Listener(store)
        session = await new_session(store)
        store._writer._connection.execute(
            "CREATE TEMP TRIGGER no BEFORE INSERT ON log BEGIN SELECT raise(ABORT, 'no room'); END"
        )
        in_vain = asyncio.ensure_future(new_session(store, "x", "acme"))
        await asyncio.sleep(0)
        listener.append(session, said(1))
        with pytest.raises(StoreError):
            await in_vain
        store._writer._connection.execute("DROP TRIGGER no")
        number = await new_session(store, "y", "umbrella")
        assert number == session + 1
        await listener.stored(number, [added(1, "secret")])
        assert await store.history("acme", "c", 10) == []
        assert await store.history("umbrella", "c", 10) == [Message("system", "secret")]


async def test_a_damaged_log_is_an_error_not_a_gap(path: Path) -> None:
    async with opened(path) as store:
        listener = Listener(store)
        session = await new_session(store)
        for seq in range(1, 4):
            await listener.stored(session, said(seq))
    other = sqlite3.connect(path)
    other.execute("UPDATE log SET body = substr(body, 1, 20) WHERE id = 2")
    other.commit()
    async with opened(path) as store:
        with pytest.raises(StoreError, match="damaged"):
            await store.read(session)
        assert len(await store.read(session, after=2)) == 1
        other.execute("DELETE FROM log WHERE id = 2")
        other.commit()
        with pytest.raises(StoreError, match="row 2 of the log is missing"):
            await store.read(session)
    other.close()


async def test_stores_started_at_the_same_moment_on_a_new_file_all_start(tmp_path: Path) -> None:
    for round_ in range(5):
        path = tmp_path / str(round_) / "toolwire.db"
        stores = [SqliteStore(path, Settings()) for _ in range(4)]
        await asyncio.gather(*(store.start() for store in stores))
        numbers = await asyncio.gather(*(new_session(store) for store in stores))
        assert set(numbers) == {1}
        await asyncio.gather(*(store.close() for store in stores))


async def test_a_removed_file_fails_appends_until_it_is_back(path: Path) -> None:
    async with opened(path) as store:
        listener = Listener(store)
        session = await new_session(store)
        elsewhere = path.with_name("elsewhere")
        move(path, elsewhere)
        assert "is gone" in (await listener.refused(session, said(1))).message
        write(path, "somebody else's")
        assert "replaced" in (await listener.refused(session, said(1))).message
        move(elsewhere, path)
        await listener.stored(session, said(1))


async def test_closing_while_another_process_holds_the_lock_is_bounded_and_tells(path: Path) -> None:
    store = SqliteStore(path, Settings(store_busy_timeout=0.2, store_close_timeout=5.0))
    await store.start()
    listener = Listener(store)
    session = await new_session(store)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for seq in range(1, 4):
        listener.append(session, said(seq))
    await asyncio.wait_for(store.close(), PATIENCE)
    other.close()
    assert len(listener.errors) == 3
    assert store.backlog == 0


async def test_what_is_told_while_closing_is_told_in_order(path: Path) -> None:
    """The first commit is under way and will succeed; the time to close runs out before the rest is begun."""
    store = SqliteStore(path, Settings(store_busy_timeout=PATIENCE, store_close_timeout=1.0, store_commit_events=1))
    await store.start()
    listener = Listener(store)
    session = await new_session(store)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for seq in range(1, 4):
        listener.append(session, said(seq))
    asyncio.get_running_loop().call_later(1.05, other.execute, "ROLLBACK")
    await store.close()
    other.close()
    assert [(events[0].seq, error is None) for _, events, error in listener.told] == [
        (1, True),
        (2, False),
        (3, False),
    ]


async def test_a_store_that_can_not_drain_in_time_fails_what_is_left(path: Path) -> None:
    store = SqliteStore(path, Settings(store_busy_timeout=0.3, store_close_timeout=0.1, store_commit_events=1))
    await store.start()
    listener = Listener(store)
    session = await new_session(store)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for seq in range(1, 4):
        listener.append(session, said(seq))
    with pytest.raises(StoreError, match="did not close"):
        await asyncio.wait_for(store.close(), PATIENCE)
    assert [error.message for error in listener.errors] == ["the store is closed"] * 2
    other.close()
    await asyncio.wait_for(listener.heard(3), PATIENCE)


# Two processes on one file -------------------------------------------------------------------------------------


async def test_two_gateways_on_one_file_see_each_others_events(path: Path) -> None:
    async with opened(path, Settings()) as here, opened(path, Settings()) as there:
        session = await new_session(here)
        assert await new_session(there) == session
        await Listener(here).stored(session, [asked(1), ended(2)])
        assert len(await there.read(session)) == 2
        assert (await there.open_session("", "s", epoch="e", now=1)).last == 2
        await Listener(there).stored(session, [added(3, "there")])
        assert [event.seq for event in await here.read(session)] == [1, 2, 3]
        assert (await here.history("", "c", 10))[-1] == Message("system", "there")


@pytest.mark.parametrize("theirs", [1, 2, 3])
@pytest.mark.parametrize("ours", [1, 2, 3])
async def test_two_gateways_going_on_from_the_same_event_do_not_both_succeed(
    path: Path, ours: int, theirs: int
) -> None:
    async with opened(path, Settings()) as here, opened(path, Settings()) as there:
        session = await new_session(here)
        bystander = await new_session(here, "bystander")
        winner, loser = Listener(there), Listener(here)
        await loser.stored(session, said(1, 2))
        await new_session(there)
        await winner.stored(session, said(3, theirs, "there"))
        loser.append(session, said(3, ours, "here"))
        loser.append(bystander, said(1))
        await loser.settled()
        assert [error.code for error in loser.errors] == ["STORE_CONFLICT"]
        assert await here.read(session, after=2) == said(3, theirs, "there")
        assert len(await here.read(bystander)) == 1
        record = await here.open_session("", "s", epoch="e", now=1)
        assert record.last == 2 + theirs
        await loser.stored(session, said(record.last + 1))


async def test_a_gateway_that_indexes_the_others_events_still_does_not_write_over_them(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(path, Settings()) as here, opened(path, Settings()) as there:
        session = await new_session(here)
        await Listener(here).stored(session, said(1))
        await new_session(there)
        await Listener(there).stored(session, said(2, 1, "there"))
        indexed = threading.Event()

        def index() -> None:
            here._writer._index()
            indexed.set()

        # In the writer's own thread, which may still be tidying up: its connection is nobody else's.
        monkeypatch.setattr(here._commits, "_tidy", index)
        here._commits.put(Mark(asyncio.get_running_loop().create_future()))
        assert await asyncio.to_thread(indexed.wait, PATIENCE)
        assert (await Listener(here).refused(session, said(2, 1, "here"))).code == "STORE_CONFLICT"
        assert await here.read(session, after=1) == said(2, 1, "there")


async def test_reading_on_does_not_look_at_what_was_read_long_ago(path: Path) -> None:
    async with opened(path, Settings(store_index_rows=2)) as store:
        listener = Listener(store)
        session = await new_session(store)
        for seq in range(1, 10):
            await listener.stored(session, said(seq))
    other = sqlite3.connect(path)
    other.execute("UPDATE places SET runs = 'nonsense' WHERE id & 0xFFFFFFFF IN (1, 3, 5)")
    other.commit()
    other.close()
    async with opened(path) as store:
        assert [event.seq for event in await store.read(session, after=6)] == [7, 8, 9]


async def test_two_gateways_writing_different_sessions_get_along(path: Path) -> None:
    settings = Settings(store_index_rows=5)
    async with opened(path, settings) as here, opened(path, settings) as there:
        stores = (here, there)
        listeners = [Listener(store) for store in stores]
        sessions = [await new_session(store, f"s{i}") for i, store in enumerate(stores)]
        for seq in range(1, 60):
            for listener, session in zip(listeners, sessions, strict=True):
                listener.append(session, said(seq))
            if seq % 3 == 0:
                await asyncio.gather(*(listener.settled() for listener in listeners))
        await asyncio.gather(*(listener.settled() for listener in listeners))
        assert [error for listener in listeners for error in listener.errors] == []
        for store in stores:
            for session in sessions:
                assert [event.seq for event in await store.read(session)] == list(range(1, 60))


# Layouts -------------------------------------------------------------------------------------------------------


async def test_a_file_newer_than_this_program_is_refused_and_left_alone(path: Path) -> None:
    async with opened(path):
        pass
    connection = sqlite3.connect(path)
    connection.execute("UPDATE meta SET version = 99")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="version 99"):
        await SqliteStore(path, QUICK).start()


async def test_another_programs_database_is_refused_and_left_alone(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE recipes (name)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        await SqliteStore(path, QUICK).start()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("recipes",)]
    connection.close()


async def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    write(path, "dear diary, " * 100)
    with pytest.raises(StoreError, match="not an SQLite database"):
        await SqliteStore(path, QUICK).start()
    assert read(path) == "dear diary, " * 100


async def test_an_older_file_is_brought_up_to_date_with_everything_in_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(path) as store:
        await Listener(store).stored(await new_session(store), said(1, 3))
    steps = (*migrations.MIGRATIONS, ("CREATE TABLE later (x)", "INSERT INTO later VALUES (1)"))
    monkeypatch.setattr(migrations, "MIGRATIONS", steps)
    monkeypatch.setattr(migrations, "VERSION", len(steps))
    async with opened(path) as store:
        assert len(await store.read(1)) == 3
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT version, x FROM meta, later").fetchall() == [(len(steps), 1)]
    connection.close()


async def test_an_update_that_fails_leaves_the_file_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(path):
        pass
    version = migrations.VERSION
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, ("CREATE TABLE later (x)", "nonsense")))
        patch.setattr(migrations, "VERSION", version + 1)
        with pytest.raises(StoreError, match="syntax"):
            await SqliteStore(path, QUICK).start()
    async with opened(path) as store:
        await Listener(store).stored(await new_session(store), said(1))
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT version FROM meta").fetchall() == [(version,)]
    connection.close()
