"""Idempotency records, for every store: one call runs under a key, everybody else gets its answer."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.idempotency import Kept
from toolwire.errors import StoreError
from toolwire.settings import Settings
from toolwire.store import Store
from toolwire.store.call_records import CallRecords, Claim, RecordKey, response_digest, subject_of

KEY = RecordKey("tenant", "caller", "flash.draft.write", "k1")
DAY = 24 * 3_600_000


async def claim(
    store: Store, records: CallRecords, key: RecordKey = KEY, *, digest: str = "d", now: int = 0, call: str = "c1"
) -> Claim:
    return await store.transact(
        lambda tables: records.claim(tables, key, digest, trace=f"trace of {call}", call_id=call, now=now)
    )


async def finish(store: Store, records: CallRecords, response: str = '{"ok":true}') -> None:
    await store.transact(lambda tables: records.finish(tables, KEY, response, 1))
    records.tell(KEY)


async def orphaned(store: Store) -> None:
    """A record whose process is gone."""
    gone = CallRecords(store, Settings())
    await gone.start()
    assert (await claim(store, gone)).verdict == "run"
    await gone.close()


async def test_the_first_call_runs_and_the_second_gets_its_response(store: Store, records: CallRecords) -> None:
    assert (await claim(store, records)).verdict == "run"
    await finish(store, records)
    again = await claim(store, records, call="c2")
    assert again.verdict == "replay"
    assert again.first is not None
    assert (again.first.response, again.first.trace, again.first.call_id) == ('{"ok":true}', "trace of c1", "c1")


async def test_other_arguments_under_the_same_key_are_a_conflict(store: Store, records: CallRecords) -> None:
    await claim(store, records)
    assert (await claim(store, records, digest="other")).verdict == "conflict"
    await finish(store, records)
    assert (await claim(store, records, digest="other")).verdict == "conflict"


@pytest.mark.parametrize("field", RecordKey._fields)
async def test_a_key_belongs_to_tenant_caller_and_tool(store: Store, records: CallRecords, field: str) -> None:
    await claim(store, records)
    assert (await claim(store, records, KEY._replace(**{field: "other"}))).verdict == "run"


async def test_a_call_that_runs_is_waited_for(store: Store, records: CallRecords) -> None:
    await claim(store, records)
    assert (await claim(store, records, call="c2")).verdict == "wait"
    waiting = [asyncio.create_task(records.ended(KEY, 10)) for _ in range(3)]
    await asyncio.sleep(0)
    await finish(store, records)
    await asyncio.gather(*waiting)
    assert (await claim(store, records, call="c2")).verdict == "replay"


async def test_waiting_ends_in_time(store: Store, records: CallRecords) -> None:
    await claim(store, records)
    with pytest.raises(TimeoutError):
        await records.ended(KEY, 0.03)


async def test_a_call_that_ends_elsewhere_is_noticed_without_being_told(store: Store, records: CallRecords) -> None:
    other = CallRecords(store, Settings())
    await other.start()
    await claim(store, other)
    waiting = asyncio.create_task(records.ended(KEY, 10))
    await asyncio.sleep(0)
    await store.transact(lambda tables: other.finish(tables, KEY, "{}", 1))
    await waiting
    await other.close()


async def test_what_never_began_leaves_nothing(store: Store, records: CallRecords) -> None:
    await claim(store, records)
    await store.transact(lambda tables: records.abandon(tables, KEY))
    assert (await claim(store, records, digest="other")).verdict == "run"


async def test_a_call_whose_process_is_gone_is_undecided_for_one_and_waited_for_by_others(
    store: Store, records: CallRecords
) -> None:
    await orphaned(store)
    decided = await claim(store, records, call="c2")
    assert decided.verdict == "undecided"
    assert decided.first is not None
    assert decided.first.call_id == "c1"
    assert (await claim(store, records, call="c3")).verdict == "wait"
    await store.transact(lambda tables: records.restart(tables, KEY, call_id="c2"))
    await finish(store, records)
    again = await claim(store, records, call="c4")
    assert (again.verdict, again.first and again.first.call_id) == ("replay", "c2")


async def test_only_the_owner_ends_a_call(store: Store, records: CallRecords) -> None:
    await orphaned(store)
    with pytest.raises(StoreError, match="not ours"):
        await finish(store, records)
    await claim(store, records)
    await finish(store, records)
    with pytest.raises(StoreError, match="not ours"):
        await finish(store, records, "another")


async def test_a_record_and_its_effect_are_one_transaction(store: Store, records: CallRecords) -> None:
    def work(tables: sqlite3.Connection) -> None:
        assert records.claim(tables, KEY, "d", trace="t", call_id="c1", now=0).verdict == "run"
        records.finish(tables, KEY, "{}", 0)
        raise RuntimeError("the effect failed")

    with pytest.raises(RuntimeError):
        await store.transact(work)
    assert (await claim(store, records)).verdict == "run"


@given(st.lists(st.text(), min_size=9, max_size=9), st.integers(0, 2**60))
def test_the_ledger_names_and_digests_a_record_as_a_json_array_in_ascii(texts: list[str], expires: int) -> None:
    key, kept = RecordKey(*texts[:4]), Kept(texts[4], texts[5], texts[6], texts[7], expires, texts[8])
    whole = json.dumps([*key, *texts[4:8], expires, texts[8]], ensure_ascii=True, separators=(",", ":"))
    assert json.loads(subject_of(key)) == list(key)
    assert subject_of(key) == json.dumps(key, ensure_ascii=True, separators=(",", ":"))
    assert response_digest(key, kept) == hashlib.sha256(whole.encode()).hexdigest()


async def test_a_key_is_forgotten_after_a_day_but_not_while_its_call_runs(store: Store, records: CallRecords) -> None:
    await claim(store, records)
    assert (await claim(store, records, now=DAY)).verdict == "wait"
    await finish(store, records)
    assert (await claim(store, records, now=DAY - 1)).verdict == "replay"
    assert (await claim(store, records, KEY._replace(key="k2"), now=2 * DAY)).verdict == "run"
    left = await store.query(lambda tables: tables.execute("SELECT key FROM call_records").fetchall())
    assert left == [("k2",)]
