"""The table of waiting calls."""

from __future__ import annotations

from toolwire.core.calls import Calls
from toolwire.core.events import CallRequested, Placement


def call(call_id: str, at: int = 0, placement: Placement = "client", turn: str = "t") -> CallRequested:
    return CallRequested(1, at, turn, turn, call_id, "grep_file", {}, placement)


def test_a_call_is_found_only_from_the_side_that_runs_it() -> None:
    calls = Calls()
    mine, theirs = call("a", placement="server"), call("b")
    calls.add(mine)
    calls.add(theirs)
    assert calls.get("a", "server") is mine
    assert calls.get("a", "client") is None
    assert calls.get("b", "client") is theirs
    assert calls.get("b", "server") is None
    assert (len(calls), list(calls), calls.of_client()) == (2, [theirs, mine], [theirs])


def test_a_removed_call_is_nobodys_and_removing_it_twice_is_harmless() -> None:
    calls = Calls()
    calls.add(call("a"))
    calls.add(call("b", placement="server"))
    for call_id in ("a", "b", "a", "never"):
        calls.remove(call_id)
    assert len(calls) == 0


def test_the_calls_of_a_turn_are_its_own() -> None:
    calls = Calls()
    for call_id, turn in (("a", "t1"), ("b", "t2"), ("c", "t1"), ("d", "")):
        calls.add(call(call_id, turn=turn))
    assert [each.call_id for each in calls.of_turn("t1")] == ["a", "c"]


def test_a_call_expires_when_its_time_is_full_and_a_servers_call_never_does() -> None:
    calls = Calls()
    calls.add(call("a", at=0))
    calls.add(call("b", at=5))
    calls.add(call("s", at=0, placement="server"))
    assert calls.expired(99, 100) == []
    assert [each.call_id for each in calls.expired(100, 100)] == ["a"]
    assert [each.call_id for each in calls.expired(105, 100)] == ["a", "b"]
