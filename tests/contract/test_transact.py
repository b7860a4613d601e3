"""Transactions of the store's own tables, for every store: all or nothing, and events go in with them."""

from __future__ import annotations

import sqlite3

import pytest

from toolwire.core.events import AnyEvent, PeerReported
from toolwire.errors import StoreError
from toolwire.store import Store
from toolwire.store.group_commit import Append


def add(name: str, then: Exception | None = None) -> object:
    def work(tables: sqlite3.Connection) -> int:
        tables.execute("INSERT INTO things VALUES (?)", (name,))
        if then is not None:
            raise then
        return int(tables.execute("SELECT count(*) FROM things").fetchone()[0])

    return work


async def names(store: Store) -> list[str]:
    return await store.query(lambda tables: [name for (name,) in tables.execute("SELECT name FROM things")])


class Told:
    """What the callbacks of an append were told."""

    def __init__(self) -> None:
        self.committed: list[AnyEvent] = []
        self.failed: StoreError | None = None

    def append(self, session: int, seq: int) -> Append:
        def failed(_: list[AnyEvent], error: StoreError) -> None:
            self.failed = error

        return Append(session, [PeerReported(seq, 0, "x")], self.committed.extend, failed)


async def test_work_is_committed_and_its_result_given(store: Store) -> None:
    assert await store.transact(add("a")) == 1  # type: ignore[arg-type]
    assert await names(store) == ["a"]


async def test_work_that_raises_leaves_nothing_and_others_are_not_touched(store: Store) -> None:
    await store.transact(add("a"))  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="no"):
        await store.transact(add("b", RuntimeError("no")))  # type: ignore[arg-type]
    with pytest.raises(sqlite3.IntegrityError):
        await store.transact(add("a"))  # type: ignore[arg-type]
    assert await names(store) == ["a"]


async def test_events_go_in_with_the_work(store: Store) -> None:
    record = await store.open_session("t", "s", epoch="e", now=0)
    told = Told()
    await store.transact(add("a"), append=told.append(record.number, 1))  # type: ignore[arg-type]
    assert [event.seq for event in told.committed] == [1]
    assert len(await store.read(record.number)) == 1


async def test_work_that_raises_takes_its_events_with_it(store: Store) -> None:
    record = await store.open_session("t", "s", epoch="e", now=0)
    told = Told()
    with pytest.raises(RuntimeError):
        await store.transact(add("a", RuntimeError("no")), append=told.append(record.number, 1))  # type: ignore[arg-type]
    assert told.failed is not None
    assert await store.read(record.number) == []
    assert await names(store) == []
