"""Writes that a restart has cut: who can still say what became of them, and how long that is waited for."""

from __future__ import annotations

import pytest

from core.made import READ, WRITE, answered, ask, ends, kinds, restored, session, settlements, state
from toolwire.core.commands import RunTool
from toolwire.core.events import AnyEvent, CallBound, CallRequested
from toolwire.core.lasting import LastingSession
from toolwire.core.session import Limits
from toolwire.core.turn import CallSpec

LIMITS = Limits(queue=3, calls=8, tool_timeout_ms=1000, ledger_patience_ms=500)


def cut(ledger: str | None, *specs: CallSpec, limit_ms: int = 0) -> tuple[LastingSession, list[str], list[AnyEvent]]:
    """A session with a turn and its calls, as read back after a crash at 100; and what the restart did."""
    before = session(LIMITS)
    before.ledger = ledger
    turn, log = ask(before, limit_ms=limit_ms)
    ids, events = before.call(turn, specs, 1)
    back = restored(log + events, LIMITS)
    assert state(back) == state(before)
    return back, ids, back.interrupt(100)


def test_a_write_that_a_ledger_knows_about_stays_open_and_its_turn_ends_with_it() -> None:
    back, (read, write), events = cut("L", READ, WRITE)
    assert [(call.call_id, call.outcome) for call in settlements(events)] == [(read, "cancelled")]
    assert ends(events) == []
    assert [call.call_id for call in back.calls] == [write]
    assert back.end_cut(101) == []
    settled = answered(back, write, now=110)
    assert settled is not None
    assert (settled.outcome, settled.ms) == ("ok", 109)
    (ended,) = ends(back.end_cut(111))
    assert (ended.outcome, ended.code, ended.calls) == ("failed", "INTERRUPTED", 2)
    assert back.at_rest


def test_a_write_of_a_client_without_a_ledger_is_indeterminate_at_once() -> None:
    back, _, events = cut("", WRITE)
    assert [call.outcome for call in settlements(events)] == ["indeterminate"]
    assert [end.code for end in ends(events)] == ["INTERRUPTED"]
    assert back.at_rest


def test_a_write_nobody_was_asked_for_waits_for_whoever_comes() -> None:
    back, (write,), events = cut(None, WRITE)
    assert events == []
    bound = back.bind(write, "L", 101)
    assert isinstance(bound, CallBound)
    (call,) = back.calls
    assert (call.ledger, call.seq) == ("L", bound.seq)
    assert answered(back, write) is not None


@pytest.mark.parametrize(("ledger", "outcome"), [("L", "indeterminate"), (None, "timed_out")])
def test_a_client_that_does_not_come_back_is_not_waited_for_without_end(ledger: str | None, outcome: str) -> None:
    back, _, _ = cut(ledger, WRITE)
    assert back.expire(599) == []
    assert back.expire(1000) == []  # its own time is not up either
    events = back.expire(1001)
    assert [call.outcome for call in settlements(events)] == [outcome]
    assert [end.code for end in ends(events)] == ["INTERRUPTED"]


def test_patience_begins_with_the_restart_however_long_the_gateway_was_away() -> None:
    before = session(LIMITS)
    before.ledger = "L"
    turn, log = ask(before)
    log += before.call(turn, [WRITE], 1)[1]
    back = restored(log, LIMITS)
    back.interrupt(50_000)
    assert back.expire(50_499) == []
    assert len(settlements(back.expire(50_500))) == 1


def test_the_time_limit_of_a_cut_turn_does_not_lose_its_write() -> None:
    back, (write,), _ = cut("L", WRITE, limit_ms=150)
    assert back.expire(500) == []
    assert answered(back, write, now=501) is not None
    assert [end.code for end in ends(back.end_cut(502))] == ["INTERRUPTED"]


def test_what_waits_behind_a_cut_turn_starts_when_it_has_ended_and_a_peer_is_there() -> None:
    back, (write,), _ = cut("L", WRITE)
    asked, _ = ask(back)
    assert back.release(101) == []
    answered(back, write)
    assert kinds(back.end_cut(102)) == ["TurnEnded", "TurnStarted"]
    assert back.running is not None
    assert back.running.id == asked


def test_stop_ends_a_cut_turn_and_says_that_its_write_is_undecided() -> None:
    back, _, _ = cut("L", WRITE)
    events = back.stop(101)
    assert [call.outcome for call in settlements(events)] == ["indeterminate"]
    assert back.at_rest
    assert back.end_cut(102) == []


def test_a_second_restart_keeps_what_the_first_one_kept() -> None:
    before = session(LIMITS)
    before.ledger = "L"
    turn, log = ask(before)
    log += before.call(turn, [READ, WRITE], 1)[1]
    once = restored(log, LIMITS)
    log += once.interrupt(100)
    twice = restored(log, LIMITS)
    assert twice.interrupt(200) == []
    assert len(twice.calls) == 1


def test_a_call_of_a_program_is_kept_the_same_way() -> None:
    back = session(LIMITS)
    back.ledger = "L"
    call = back.run_tool(
        RunTool("", "Edit", {}), 1, project="", reads=False, asked_by="program:x", placement="client"
    )
    assert call.ledger == "L"
    assert back.interrupt(100) == []
    assert answered(back, call.call_id) is not None


@pytest.mark.parametrize(
    ("placement", "spec", "ledger"), [("client", READ, ""), ("server", WRITE, ""), ("client", WRITE, "L")]
)
def test_only_a_clients_write_names_a_ledger(placement: str, spec: CallSpec, ledger: str) -> None:
    s = session(LIMITS)
    s.ledger = "L"
    turn, _ = ask(s, placement=placement)
    (call,) = s.call(turn, [spec], 1)[1]
    assert isinstance(call, CallRequested)
    assert call.ledger == ledger
