"""Transactions of one moment, for every store: they may share a commit, and each stands or falls alone."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from toolwire.core.events import AnyEvent, PeerReported
from toolwire.errors import StoreError
from toolwire.store import Store
from toolwire.store.base import Withdrawn
from toolwire.store.call_records import CallRecords, RecordKey
from toolwire.store.group_commit import Append
from toolwire.store.refusals import CONFLICT, NOT_STORABLE

Work = Callable[[sqlite3.Connection], Any]


def key(number: int | str) -> RecordKey:
    return RecordKey("tenant", "caller", "tool", f"k{number}")


def once(records: CallRecords, number: int | str, then: Exception | None = None, *, trace: str = "t") -> Work:
    """Claim a key, make an effect, finish: what a write under a key does in one transaction."""

    def work(tables: sqlite3.Connection) -> str:
        claim = records.claim(tables, key(number), "digest", trace=trace, call_id=f"c{number}", now=1)
        if claim.verdict == "run":
            tables.execute("INSERT INTO things VALUES (?)", (f"{number}",))
            records.finish(tables, key(number), '{"ok":true}', 1)
        if then is not None:
            raise then
        return claim.verdict

    return work


def reported(session: int, seq: int, text: str = "x") -> Append:
    return Append(session, [PeerReported(seq, 0, text)], lambda _: None, lambda *_: None)


async def names(store: Store) -> list[str]:
    return await store.query(lambda tables: [name for (name,) in tables.execute("SELECT name FROM things")])


async def kept(store: Store) -> list[str]:
    query = "SELECT key FROM call_records WHERE response IS NOT NULL ORDER BY key"
    return await store.query(lambda tables: [name for (name,) in tables.execute(query)])


async def noted(store: Store) -> int:
    return await store.query(lambda tables: int(tables.execute("SELECT count(*) FROM notes").fetchone()[0]))


async def test_one_that_fails_takes_nothing_of_the_others_with_it(store: Store, records: CallRecords) -> None:
    session = (await store.open_session("t", "s", epoch="e", now=0)).number
    works = [
        store.transact(once(records, 1), append=reported(session, 1), claims=key(1)),
        store.transact(once(records, 2, RuntimeError("no")), claims=key(2)),
        store.transact(once(records, 3), append=reported(session, 2), claims=key(3)),
    ]
    first, second, third = await asyncio.gather(*works, return_exceptions=True)
    assert (first, third) == ("run", "run")
    assert isinstance(second, RuntimeError)
    assert await names(store) == ["1", "3"]
    assert await kept(store) == ["k1", "k3"]
    assert await noted(store) == 2
    assert [event.seq for event in await store.read(session)] == [1, 2]
    assert await store.transact(once(records, 2)) == "run"


async def test_events_that_do_not_follow_undo_their_transaction_alone(store: Store, records: CallRecords) -> None:
    session = (await store.open_session("t", "s", epoch="e", now=0)).number
    works = [
        store.transact(once(records, 1), append=reported(session, 1)),
        store.transact(once(records, 2), append=reported(session, 7)),
        store.transact(once(records, 3), append=reported(session, 2)),
    ]
    first, second, third = await asyncio.gather(*works, return_exceptions=True)
    assert (first, third) == ("run", "run")
    assert isinstance(second, StoreError)
    assert second.code == CONFLICT
    assert len(await store.read(session)) == 2


async def test_a_key_claimed_in_the_same_moment_is_taken(store: Store, records: CallRecords) -> None:
    works = [store.transact(once(records, 1), claims=key(1)) for _ in range(5)]
    assert await asyncio.gather(*works) == ["run", *["replay"] * 4]
    assert await names(store) == ["1"]
    assert await noted(store) == 1


async def test_a_key_whose_claim_is_undone_in_the_same_moment_is_free(store: Store, records: CallRecords) -> None:
    works = [
        store.transact(once(records, 1, RuntimeError("no")), claims=key(1)),
        store.transact(once(records, 1), claims=key(1)),
    ]
    assert (await asyncio.gather(*works, return_exceptions=True))[1] == "run"
    assert await kept(store) == ["k1"]


@pytest.mark.parametrize("fails", [False, True])
async def test_what_is_changed_in_the_same_moment_is_seen_and_what_is_undone_is_not(
    store: Store, records: CallRecords, fails: bool
) -> None:
    def claim(tables: sqlite3.Connection) -> str:
        return records.claim(tables, key(1), "digest", trace="t", call_id="c", now=1).verdict

    def abandon(tables: sqlite3.Connection) -> None:
        records.abandon(tables, key(1))
        if fails:
            raise RuntimeError("no")

    assert await store.transact(claim) == "run"
    works: list[Any] = [store.transact(abandon), store.transact(claim, claims=key(1))]
    assert (await asyncio.gather(*works, return_exceptions=True))[1] == ("wait" if fails else "run")


async def test_what_is_withdrawn_leaves_its_events_and_what_is_done_instead(
    store: Store, records: CallRecords
) -> None:
    session = (await store.open_session("t", "s", epoch="e", now=0)).number

    def work(tables: sqlite3.Connection) -> str:
        once(records, 1)(tables)
        raise Withdrawn("refused", lambda tables: tables.execute("INSERT INTO things VALUES ('instead')").close())

    assert await store.transact(work, append=reported(session, 1)) == "refused"
    assert await names(store) == ["instead"]
    assert (await kept(store), await noted(store)) == ([], 0)
    assert len(await store.read(session)) == 1


async def test_a_text_that_can_not_be_stored_fails_whoever_brings_it(store: Store, records: CallRecords) -> None:
    lone = "\ud800"
    works = [
        store.transact(once(records, 1), claims=key(1)),
        store.transact(once(records, 2, trace=lone), claims=key(2)),
        store.transact(once(records, lone), claims=key(lone)),
        store.transact(once(records, 3), claims=key(3)),
    ]
    results = await asyncio.gather(*works, return_exceptions=True)
    assert [isinstance(result, UnicodeEncodeError) for result in results] == [False, True, True, False]
    assert await kept(store) == ["k1", "k3"]


async def test_an_event_that_can_not_be_stored_fails_what_follows_it_in_its_session_alone(
    store: Store, records: CallRecords
) -> None:
    first, second = [(await store.open_session("t", name, epoch="e", now=0)).number for name in "ab"]
    errors: list[str] = []

    def failed(_: list[AnyEvent], error: StoreError) -> None:
        errors.append(error.code)

    store.append(first, [PeerReported(1, 0, "\ud800")], lambda _: None, failed)
    works = [
        store.transact(once(records, 1), append=reported(first, 2)),
        store.transact(once(records, 2), append=reported(second, 1)),
    ]
    results = await asyncio.gather(*works, return_exceptions=True)
    assert errors == [NOT_STORABLE]
    assert isinstance(results[0], StoreError)
    assert results[1] == "run"
    assert await store.read(first) == []
