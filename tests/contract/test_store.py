"""One suite for every store: what `store/base.py` promises."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from store.events_made import Listener, added, asked, ended, new_session, own_call, own_call_settled, said, url_of
from support.patience import PATIENCE
from toolwire.core.events import AnyEvent, CallSettled, Message, SessionReset
from toolwire.errors import StoreError
from toolwire.settings import Settings
from toolwire.store import Store, open_store

KINDS = ("memory", "sqlite")


def make_store(kind: str, folder: Path) -> Store:
    return open_store("memory:" if kind == "memory" else url_of(folder / "store.db"), Settings(prompt_preview=12))


@pytest.fixture(params=KINDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    made = make_store(request.param, tmp_path)
    await made.start()
    yield made
    await made.close()


async def read_all(store: Store, session: int) -> list[int]:
    return [event.seq for event in await store.read(session, limit=10_000)]


# Sessions ------------------------------------------------------------------------------------------------------


async def test_a_session_is_made_once_and_found_again_with_its_first_epoch(store: Store) -> None:
    made = await store.open_session("acme", "s", epoch="e1", now=5)
    again = await store.open_session("acme", "s", epoch="e2", now=9)
    assert (made.epoch, made.last, made.rest) == ("e1", 0, 0)
    assert again == made
    assert await store.find_session("acme", "s") == made


async def test_looking_for_a_session_does_not_make_it(store: Store) -> None:
    assert await store.find_session("", "nobody") is None
    assert await store.sessions() == []


async def test_tenants_have_sessions_of_their_own_under_the_same_name(store: Store) -> None:
    one = await new_session(store, "s", "acme")
    two = await new_session(store, "s", "umbrella")
    assert one != two
    await Listener(store).stored(one, said(1))
    assert await store.read(two) == []
    assert [line.tenant for line in await store.sessions("acme")] == ["acme"]


async def test_many_sessions_opened_at_once_get_numbers_of_their_own(store: Store) -> None:
    numbers = await asyncio.gather(*(new_session(store, f"s{i % 50}") for i in range(100)))
    assert len(set(numbers)) == 50
    assert numbers[:50] == numbers[50:]


async def test_opening_a_session_waits_for_what_was_queued_before(store: Store) -> None:
    session = await new_session(store)
    Listener(store).append(session, [asked(1), *said(2, 3), ended(5)])
    record = await store.open_session("", "s", epoch="e2", now=9)
    assert (record.last, record.rest) == (5, 5)


async def test_a_name_that_no_store_can_hold_hurts_nobody_else(store: Store) -> None:
    listener = Listener(store)
    session = await new_session(store)
    listener.append(session, said(1))
    with pytest.raises(StoreError):
        await store.open_session("", "\ud800", epoch="e", now=1)
    await listener.settled()
    assert listener.errors == []


# Appending -----------------------------------------------------------------------------------------------------


async def test_append_returns_before_anything_is_committed_and_the_callback_follows(store: Store) -> None:
    session = await new_session(store)
    listener = Listener(store)
    events = said(1, 3)
    listener.append(session, events)
    assert listener.told == []
    assert store.backlog == 3
    await listener.settled()
    assert listener.told == [(session, events, None)]
    assert store.backlog == 0


async def test_callbacks_come_in_the_order_of_the_appends_of_all_sessions(store: Store) -> None:
    listener = Listener(store)
    sessions = [await new_session(store, name) for name in "abc"]
    order = []
    for round_ in range(20):
        for session in sessions:
            listener.append(session, said(1 + 2 * round_, 2))
            order.append((session, 1 + 2 * round_))
        if round_ % 7 == 0:
            await asyncio.sleep(0)
    await listener.settled()
    assert [(session, events[0].seq) for session, events, _ in listener.told] == order
    assert listener.errors == []


async def test_what_was_told_as_committed_can_be_read_at_once(store: Store) -> None:
    session = await new_session(store)
    read: list[asyncio.Task[list[AnyEvent]]] = []
    store.append(
        session,
        said(1, 5),
        lambda events: read.append(asyncio.ensure_future(store.read(session))),
        lambda events, error: None,
    )
    await store.drained()
    assert await read[0] == said(1, 5)


async def test_an_append_made_inside_a_callback_is_committed_too(store: Store) -> None:
    session = await new_session(store)
    listener = Listener(store)
    store.append(session, said(1), lambda events: listener.append(session, said(2)), lambda events, error: None)
    await store.drained()
    await listener.settled()
    assert await read_all(store, session) == [1, 2]


async def test_one_failing_callback_does_not_keep_the_others_from_being_told(store: Store) -> None:
    session = await new_session(store)
    complaints: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))

    def broken(events: list[AnyEvent]) -> None:
        raise RuntimeError("a listener's defect")

    listener = Listener(store)
    store.append(session, said(1), broken, lambda events, error: None)
    listener.append(session, said(2))
    await listener.settled()
    assert len(listener.told) == 1
    assert len(complaints) == 1


async def test_events_that_do_not_follow_the_last_one_are_refused_and_the_session_goes_on(store: Store) -> None:
    session = await new_session(store)
    listener = Listener(store)
    await listener.stored(session, said(1, 2))
    error = await listener.refused(session, said(4))
    assert error.code == "STORE_CONFLICT"
    await listener.refused(session, said(2))
    await listener.stored(session, said(3))
    assert await read_all(store, session) == [1, 2, 3]


async def test_after_a_failed_append_those_queued_behind_it_fail_and_other_sessions_do_not(store: Store) -> None:
    listener = Listener(store)
    one, two = await new_session(store, "one"), await new_session(store, "two")
    bad = CallSettled(2, 1, "t1", "r1", "c1", "grep_file", "ok", {"content": "\ud800"})
    listener.append(one, said(1))
    listener.append(one, [bad])
    listener.append(two, said(1))
    listener.append(one, said(3))
    await listener.settled()
    assert [error.code if error else None for _, _, error in listener.told] == [
        None,
        "STORE_UNSTORABLE",
        None,
        "STORE_CONFLICT",
    ]
    assert await read_all(store, one) == [1]
    assert (await store.open_session("", "one", epoch="e", now=1)).last == 1
    await listener.stored(one, said(2))


async def test_events_with_a_gap_between_them_are_refused(store: Store) -> None:
    session = await new_session(store)
    assert (await Listener(store).refused(session, [*said(1), *said(3)])).code == "STORE_CONFLICT"


async def test_appending_nothing_is_committed_in_its_turn(store: Store) -> None:
    session = await new_session(store)
    listener = Listener(store)
    listener.append(session, said(1))
    listener.append(session, [])
    listener.append(session, said(2))
    await listener.settled()
    assert [len(events) for _, events, error in listener.told if error is None] == [1, 0, 1]


async def test_appending_to_a_number_nobody_has_is_refused(store: Store) -> None:
    assert "77" in (await Listener(store).refused(77, said(1))).message


async def test_nothing_is_accepted_after_closing(store: Store) -> None:
    session = await new_session(store)
    listener = Listener(store)
    listener.append(session, said(1))
    await store.close()
    assert listener.errors == []
    listener.append(session, said(2))
    for _ in range(4):
        await asyncio.sleep(0)
    assert [error.message for error in listener.errors] == ["the store is closed"]
    with pytest.raises(StoreError):
        await store.read(session)
    with pytest.raises(StoreError):
        await new_session(store, "late")


async def test_draining_an_idle_store_returns(store: Store) -> None:
    await asyncio.wait_for(store.drained(), PATIENCE)


# Reading -------------------------------------------------------------------------------------------------------


async def test_reading_goes_on_after_any_number_up_to_a_limit(store: Store) -> None:
    session = await new_session(store)
    listener = Listener(store)
    for first, count in ((1, 3), (4, 1), (5, 6), (11, 2)):
        await listener.stored(session, said(first, count))
    for after in range(14):
        for limit in (1, 4, 100):
            events = await store.read(session, after=after, limit=limit)
            assert [event.seq for event in events] == list(range(after + 1, min(13, after + limit + 1)))


async def test_neighbouring_sessions_are_never_read_together(store: Store) -> None:
    listener = Listener(store)
    sessions = [await new_session(store, name) for name in "abc"]
    await listener.stored(sessions[0], said(1, 3, "a"))
    await listener.stored(sessions[2], said(1, 3, "c"))
    assert await store.read(sessions[1]) == []
    assert await store.read(sessions[0], after=3) == []
    assert await store.read(sessions[1], after=3) == []
    assert await store.read(sessions[2], after=2) == said(1, 3, "c")[2:]
    assert await store.read(99) == []


async def test_events_come_back_equal_whatever_text_they_hold(store: Store) -> None:
    session = await new_session(store)
    texts = ["", "\0", "中文 и русский 🙂", "\u2028\x1b[0m", "x" * 100_000]
    events: list[AnyEvent] = [event for i, text in enumerate(texts) for event in said(i + 1, 1, text)]
    events.append(CallSettled(6, 1, "", "", "c", "t", "ok", {"a": [1, 2.5, None, True, {"b": "\0"}]}))
    await Listener(store).stored(session, events)
    assert await store.read(session) == events


# What is derived from events -----------------------------------------------------------------------------------


async def test_history_holds_what_was_asked_and_answered_oldest_first(store: Store) -> None:
    session = await new_session(store, tenant="acme")
    await Listener(store).stored(session, [asked(1), *said(2, 2), ended(4), added(5, "note")])
    expected = [Message("user", "why?"), Message("assistant", "because"), Message("system", "note")]
    assert await store.history("acme", "c", 10) == expected
    assert await store.history("acme", "c", 2) == expected[1:]
    assert await store.history("acme", "c", 0) == []
    assert await store.history("", "c", 10) == []
    assert await store.history("acme", "other", 10) == []


async def test_history_includes_the_turn_whose_end_is_still_queued(store: Store) -> None:
    session = await new_session(store)
    Listener(store).append(session, [asked(1), ended(2), asked(3, turn="t2")])
    assert [message.role for message in await store.history("", "c", 10)] == ["user", "assistant"]


async def test_a_turn_that_never_ran_leaves_nothing_in_the_history(store: Store) -> None:
    session = await new_session(store)
    await Listener(store).stored(session, [asked(1), ended(2, "", rounds=0)])
    assert await store.history("", "c", 10) == []


async def test_history_begins_after_the_last_reset(store: Store) -> None:
    session = await new_session(store)
    listener = Listener(store)
    await listener.stored(session, [added(1, "old"), SessionReset(2, 1, "c"), added(3, "new"), added(4, "x", "d")])
    assert await store.history("", "c", 10) == [Message("system", "new")]
    assert await store.history("", "d", 10) == [Message("system", "x")]
    await listener.stored(session, [SessionReset(5, 1, "c")])
    assert await store.history("", "c", 10) == []


async def test_sessions_sharing_a_conversation_share_its_history(store: Store) -> None:
    listener = Listener(store)
    one, two = await new_session(store, "one"), await new_session(store, "two")
    await listener.stored(one, [added(1, "first")])
    await listener.stored(two, [added(1, "second")])
    assert [message.text for message in await store.history("", "c", 10)] == ["first", "second"]


async def test_a_summary_tells_turns_what_is_open_and_the_last_prompt_shortened(store: Store) -> None:
    session = await new_session(store, now=7)
    await Listener(store).stored(
        session, [asked(1, "first"), *said(2, 3), ended(5), asked(6, "a  long\nprompt, and more of it", "t2")]
    )
    (line,) = await store.sessions()
    assert (line.name, line.epoch, line.created, line.updated) == ("s", "e1", 7, 1006)
    assert (line.turns, line.open, line.last) == (2, 1, 6)
    assert line.last_prompt == "a long prom…"


async def test_sessions_are_listed_by_last_use(store: Store) -> None:
    listener = Listener(store)
    numbers = [await new_session(store, name, now=10) for name in "abc"]
    await listener.stored(numbers[1], [asked(1)])
    assert [line.name for line in await store.sessions(limit=2)] == ["b", "c"]


async def test_unfinished_sessions_are_those_in_which_something_is_open(store: Store) -> None:
    listener = Listener(store)
    running, done, own = [await new_session(store, name) for name in ("running", "done", "own")]
    await listener.stored(running, [asked(1), ended(2), asked(3), *said(4, 2)])
    await listener.stored(done, [asked(1), ended(2)])
    await listener.stored(own, [own_call(1)])
    assert [(r.name, r.last, r.rest) for r in await store.unfinished()] == [("running", 5, 2), ("own", 1, 0)]
    await listener.stored(own, [own_call_settled(2, of=1)])
    assert [record.name for record in await store.unfinished()] == ["running"]


async def test_going_on_needs_only_the_events_after_the_last_point_of_rest(store: Store) -> None:
    """Two turns overlap (the second waits), end in one commit, and a third begins in the same commit."""
    session = await new_session(store)
    listener = Listener(store)
    await listener.stored(session, [asked(1, turn="t1"), asked(2, turn="t2")])
    await listener.stored(session, [ended(3, turn="t1")])
    record = await store.find_session("", "s")
    assert record is not None
    assert (record.last, record.rest) == (3, 0)
    await listener.stored(session, [ended(4, turn="t2"), added(5, "x"), asked(6, turn="t3")])
    record = await store.find_session("", "s")
    assert record is not None
    assert (record.last, record.rest) == (6, 4)


@hypothesis_settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(1, 9), min_size=1, max_size=12), data=st.data(), kind=st.sampled_from(KINDS))
def test_the_same_events_cut_into_any_appends_and_commits_leave_the_same_record(
    cuts: list[int], data: st.DataObject, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    events = _lifelike(sum(cuts))
    pauses = data.draw(st.lists(st.integers(0, 3), min_size=len(cuts), max_size=len(cuts)))

    async def play() -> None:
        store = make_store(kind, tmp_path_factory.mktemp("any"))
        await store.start()
        try:
            session = await new_session(store)
            listener = Listener(store)
            done = 0
            for cut, pause in zip(cuts, pauses, strict=True):
                listener.append(session, events[done : done + cut])
                done += cut
                for _ in range(pause):
                    await asyncio.sleep(0)
            await listener.settled()
            assert listener.errors == []
            assert await store.read(session) == events
            (line,) = await store.sessions()
            record = await store.find_session("", "s")
            assert record is not None
            assert (line.last, record.last) == (len(events), len(events))
            assert (line.open, record.rest) == _openness(events)
        finally:
            await store.close()

    asyncio.run(play())


def _lifelike(count: int) -> list[AnyEvent]:
    events: list[AnyEvent] = []
    for seq in range(1, count + 1):
        match seq % 7:
            case 1:
                events.append(asked(seq, turn=f"t{seq}"))
            case 5:
                events.append(ended(seq, turn=f"t{seq - 4}"))
            case _:
                events += said(seq)
    return events


def _openness(events: list[AnyEvent]) -> tuple[int, int]:
    last = len(events)
    ends = [seq for seq in range(1, last + 1) if seq % 7 == 5]
    return (1 if last % 7 in (1, 2, 3, 4) else 0), (ends[-1] if ends else 0)
