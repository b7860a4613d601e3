"""What only the SQLite store promises: a file that lasts, group commit, and honest failures."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from store.events_made import QUICK, Listener, added, asked, ended, new_session, opened, said
from toolwire.core.events import AnyEvent, Message
from toolwire.errors import StoreError
from toolwire.settings import Settings
from toolwire.store.sqlite import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "toolwire.db"


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


# The file ------------------------------------------------------------------------------------------------------


async def test_the_file_and_its_folder_are_for_the_owner_alone(path: Path) -> None:
    async with opened(path) as store:
        await Listener(store).stored(await new_session(store), said(1))
        assert path.parent.stat().st_mode & 0o777 == 0o700
        for file in path.parent.iterdir():
            assert file.stat().st_mode & 0o777 == 0o600, file


async def test_everything_is_there_after_closing_and_opening_again(path: Path) -> None:
    events: list[AnyEvent] = [asked(1, "the prompt"), *said(2, 5), ended(7), asked(8, turn="t2"), *said(9, 2)]
    async with opened(path) as store:
        record = await store.open_session("acme", "s", epoch="e1", now=1)
        await Listener(store).stored(record.number, events)
        lines = await store.sessions()
    async with opened(path) as store:
        again = await store.open_session("acme", "s", epoch="e2", now=2)
        assert (again.number, again.epoch, again.last, again.rest) == (record.number, "e1", 10, 7)
        assert await store.read(again.number) == events
        assert await store.history("acme", "c", 10) == [Message("user", "why?"), Message("assistant", "because")]
        assert await store.sessions() == lines
        assert await store.unfinished() == [again]
        await Listener(store).stored(again.number, said(11))


async def test_no_thread_is_left_after_closing_and_closing_twice_is_allowed(path: Path) -> None:
    before = set(threading.enumerate())
    store = SqliteStore(path, QUICK)
    await store.start()
    await store.read(await new_session(store))
    await store.close()
    await store.close()
    left = [thread for thread in set(threading.enumerate()) - before if thread.name.startswith("toolwire")]
    assert left == []


async def test_a_path_that_can_not_be_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="can't be opened"):
        await SqliteStore(tmp_path / "file" / "store.db", QUICK).start()
    with pytest.raises(StoreError, match="can't be opened"):
        await SqliteStore(tmp_path, QUICK).start()


async def test_names_with_odd_characters_are_only_names(tmp_path: Path) -> None:
    path = tmp_path / "a?b#c%20 d" / "сто re.db"
    async with opened(path) as store:
        await Listener(store).stored(await new_session(store), said(1))
        assert len(await store.read(1)) == 1
    assert path.exists()


# Group commit --------------------------------------------------------------------------------------------------


async def test_appends_of_one_moment_share_a_commit_and_so_do_those_of_tasks_just_woken(path: Path) -> None:
    async with opened(path) as store:
        listener = Listener(store)
        sessions = [await new_session(store, f"s{i}") for i in range(20)]

        async def agent(session: int) -> None:
            listener.append(session, said(1))
            await asyncio.sleep(0)
            listener.append(session, said(2))

        await asyncio.gather(*(agent(session) for session in sessions))
        await listener.settled()
        assert listener.errors == []
        assert rows(path, "SELECT count(*) FROM log") == [(1,)]


async def test_a_commit_holds_no_more_events_than_the_limit(path: Path) -> None:
    async with opened(path, Settings(store_commit_events=10)) as store:
        listener = Listener(store)
        session = await new_session(store)
        for first in range(1, 41, 4):
            listener.append(session, said(first, 4))
        listener.append(session, said(41, 25))
        await listener.settled()
        assert listener.errors == []
        assert len(rows(path, "SELECT id FROM log")) == 6
        assert [event.seq for event in await store.read(session)] == list(range(1, 66))


async def test_a_large_commit_is_kept_in_rows_of_bounded_size(path: Path) -> None:
    async with opened(path, Settings(store_row_bytes=2000)) as store:
        listener = Listener(store)
        one, two = await new_session(store, "one"), await new_session(store, "two")
        listener.append(one, said(1, 50))
        listener.append(two, said(1, 1, "x" * 5000))
        listener.append(one, said(51, 3))
        await listener.settled()
        assert listener.errors == []
        sizes = [size for (size,) in rows(path, "SELECT length(body) FROM log")]
        assert len(sizes) >= 4
        assert len([size for size in sizes if isinstance(size, int) and size > 2000]) == 1
        assert [event.seq for event in await store.read(one)] == list(range(1, 54))
        assert await store.read(two) == said(1, 1, "x" * 5000)


async def test_only_passing_events_go_without_a_sync(path: Path) -> None:
    async with opened(path) as store:
        listener = Listener(store)
        session = await new_session(store)

        async def synced_by(events: list[AnyEvent]) -> bool:
            await listener.stored(session, events)
            level: int = store._writer._connection.execute("PRAGMA synchronous").fetchone()[0]
            return level >= 2

        assert await synced_by([asked(1)])
        assert not await synced_by(said(2, 3))
        assert not await synced_by(said(5, 3))
        assert await synced_by([*said(8, 3), ended(11)])
        assert not await synced_by(said(12))


async def test_the_write_ahead_log_is_folded_in_and_cut_back(path: Path) -> None:
    async with opened(path, Settings(store_wal_pages=20, store_wal_bytes=100_000)) as store:
        listener = Listener(store)
        session = await new_session(store)
        for seq in range(1, 101):
            await listener.stored(session, said(seq, 1, "x" * 10_000))
        assert path.with_name("toolwire.db-wal").stat().st_size < 300_000


# Where events lie ----------------------------------------------------------------------------------------------


@hypothesis_settings(max_examples=30, deadline=None)
@given(
    steps=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.booleans()), min_size=1, max_size=40),
    index_rows=st.integers(1, 6),
    row_bytes=st.sampled_from((100, 400, 10_000)),
    reopen_at=st.integers(0, 40),
)
def test_every_event_is_found_whether_its_commit_is_indexed_or_not(
    steps: list[tuple[int, int, bool]],
    index_rows: int,
    row_bytes: int,
    reopen_at: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    settings = Settings(store_index_rows=index_rows, store_row_bytes=row_bytes)
    path = tmp_path_factory.mktemp("places") / "store.db"
    lasts = dict.fromkeys(range(1, 5), 0)

    async def append(store: SqliteStore, part: list[tuple[int, int, bool]]) -> None:
        listener = Listener(store)
        for name in "abcd":
            await new_session(store, name)
        for which, count, wait in part:
            listener.append(which + 1, said(lasts[which + 1] + 1, count))
            lasts[which + 1] += count
            if wait:
                await listener.settled()
        await listener.settled()
        assert listener.errors == []

    async def check(store: SqliteStore) -> None:
        for session, last in lasts.items():
            for after in {0, 1, last // 2, max(0, last - 1), last, last + 3}:
                found = await store.read(session, after=after)
                assert [event.seq for event in found] == list(range(after + 1, last + 1))
        assert {line.name: line.last for line in await store.sessions()} == dict(
            zip("abcd", lasts.values(), strict=True)
        )

    async def play() -> None:
        for part in (steps[:reopen_at], steps[reopen_at:]):
            async with opened(path, settings) as store:
                await append(store, part)
                await check(store)

    asyncio.run(play())


async def test_the_index_is_filled_as_commits_go_by(path: Path) -> None:
    async with opened(path, Settings(store_index_rows=4)) as store:
        listener = Listener(store)
        session = await new_session(store)
        for seq in range(1, 12):
            await listener.stored(session, said(seq))
        await new_session(store, "the writer has tidied up before it makes this one")
        assert rows(path, "SELECT indexed FROM meta") == [(8,)]
        assert rows(path, "SELECT id & 0xFFFFFFFF FROM places") == [(1,), (5,)]
    async with opened(path):
        assert rows(path, "SELECT indexed FROM meta") == [(11,)]


async def test_conversations_survive_many_rows_in_one_commit(path: Path) -> None:
    """More messages and changed sessions than any one statement takes."""
    async with opened(path) as store:
        listener = Listener(store)
        sessions = [await new_session(store, f"s{i}") for i in range(90)]
        for i, session in enumerate(sessions):
            listener.append(session, [asked(1, f"p{i}"), ended(2, f"a{i}"), added(3, f"m{i}")])
        await listener.settled()
        assert listener.errors == []
        assert [message.text for message in await store.history("", "c", 6)] == [
            "why?", "a88", "m88", "why?", "a89", "m89",
        ]  # fmt: skip
        lines = await store.sessions()
        assert {(line.turns, line.open, line.last) for line in lines} == {(1, 0, 3)}
        assert {line.last_prompt for line in lines} == {f"p{i}" for i in range(90)}
