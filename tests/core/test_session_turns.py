"""What an agent does in its turn, and what time and the network do to it."""

from __future__ import annotations

import pytest

from core.made import LIMITS, READ, WRITE, answered, ask, ends, kinds, requests, restored, session, settlements, state
from toolwire.core.commands import RunTool
from toolwire.core.events import AnyEvent, Said, Thought
from toolwire.core.session import Limits
from toolwire.errors import PeerError


def thought(events: list[AnyEvent]) -> Thought:
    (event,) = events
    assert isinstance(event, Thought)
    return event


# Text ----------------------------------------------------------------------------------------------------------


def test_pieces_are_numbered_and_passed_on_as_they_are() -> None:
    s = session()
    turn, _ = ask(s)
    said = [
        s.say(turn, text, 1, final=final) for text, final in (("a", False), (" ", False), ("b", True), ("c", True))
    ]
    assert [(piece.text, piece.index, piece.final) for piece in said] == [
        ("a", 0, False), (" ", 1, False), ("b", 2, True), ("c", 3, True),
    ]  # fmt: skip
    (end,) = ends(s.finish(turn, 2))
    assert (end.text, end.pieces) == ("a b\n\nc", 4)


def test_a_run_left_open_is_closed_by_an_empty_final_piece_before_calls_and_before_the_end() -> None:
    s = session()
    turn, _ = ask(s)
    s.say(turn, "let me look", 1)
    ids, events = s.call(turn, [READ], 2)
    assert kinds(events) == ["Said", "CallRequested"]
    assert isinstance(events[0], Said)
    assert (events[0].text, events[0].final, events[0].index) == ("", True, 1)
    answered(s, ids[0])
    s.say(turn, "done", 3)
    assert kinds(s.finish(turn, 4)) == ["Said", "TurnEnded"]


def test_a_run_that_was_closed_is_not_closed_again() -> None:
    s = session()
    turn, _ = ask(s)
    s.say(turn, "all", 1, final=True)
    assert kinds(s.call(turn, [READ], 2)[1]) == ["CallRequested"]
    assert kinds(s.stop(3)) == ["CallSettled", "TurnEnded", "Stopped"]


def test_empty_runs_leave_no_blank_lines() -> None:
    s = session()
    turn, _ = ask(s)
    for text in ("", "a", "", "b"):
        s.say(turn, text, 1, final=True)
    assert ends(s.finish(turn, 2))[0].text == "a\n\nb"


# Progress ------------------------------------------------------------------------------------------------------


def test_percent_never_falls_and_stays_within_0_and_100() -> None:
    s = session()
    turn, _ = ask(s)
    told = [thought(s.think(turn, "…", 1, percent=percent)).percent for percent in (-5, 30, 20, None, 40, 250, 99)]
    assert told == [0, 30, 30, None, 40, 100, 100]


def test_the_stage_stays_until_it_is_changed_and_a_write_is_execution() -> None:
    s = session()
    turn, _ = ask(s)
    assert thought(s.think(turn, "…", 1)).stage == "analyzing"
    assert thought(s.think(turn, "…", 1, stage="planning")).stage == "planning"
    ids, _ = s.call(turn, [READ], 1)
    answered(s, ids[0])
    assert thought(s.think(turn, "…", 1)).stage == "planning"
    ids, _ = s.call(turn, [WRITE], 1)
    answered(s, ids[0])
    assert thought(s.think(turn, "…", 1)).stage == "executing"
    assert ends(s.finish(turn, 2))[0].stages == ("analyzing", "planning", "executing")


def test_a_round_ends_when_all_calls_of_it_are_answered() -> None:
    s = session()
    turn, _ = ask(s)
    assert thought(s.think(turn, "…", 1)).round == 1
    ids, _ = s.call(turn, [READ, READ], 1)
    answered(s, ids[0])
    assert thought(s.think(turn, "…", 1)).round == 1
    answered(s, ids[1])
    assert thought(s.think(turn, "…", 1)).round == 2


def test_a_degraded_agent_is_told_with_every_thought_and_at_the_end() -> None:
    s = session()
    turn, _ = ask(s)
    assert kinds(s.choose(turn, "local", 1, degraded=True, reason="no model")) == ["AgentChosen"]
    assert thought(s.think(turn, "…", 1)).degraded
    assert ends(s.finish(turn, 2))[0].degraded


def test_the_end_sums_the_turn_up() -> None:
    s = session()
    turn, _ = ask(s, "why?", 10)
    ids, _ = s.call(turn, [READ, READ], 11)
    answered(s, ids[0])
    s.expire(2000)
    (end,) = ends(s.fail(turn, "broken", 2010, code="ANALYSIS_FAILED"))
    assert (end.outcome, end.code, end.message, end.prompt) == ("failed", "ANALYSIS_FAILED", "broken", "why?")
    assert (end.calls, end.failed_calls, end.rounds, end.ms) == (2, 1, 2, 2000)


# Calls ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["ask", "plan"])
def test_modes_that_only_read_refuse_writes_at_once_and_let_reads_wait(mode: str) -> None:
    s = session()
    turn, _ = ask(s, mode=mode)
    ids, events = s.call(turn, [WRITE, READ], 1)
    assert len(requests(events)) == 2
    (refused,) = settlements(events)
    assert (refused.call_id, refused.outcome) == (ids[0], "failed")
    assert mode in refused.error
    assert answered(s, ids[0]) is None
    assert answered(s, ids[1]) is not None


def test_a_turn_in_agent_mode_may_write() -> None:
    s = session()
    turn, _ = ask(s)
    assert settlements(s.call(turn, [WRITE], 1)[1]) == []


def test_calls_run_where_the_turns_tools_run_unless_they_say_otherwise() -> None:
    s = session()
    turn, _ = ask(s, placement="server", project="p")
    events = s.call(turn, [READ, READ.__class__("x", {}, placement="client")], 1)[1]
    assert [(call.placement, call.project) for call in requests(events)] == [("server", "p"), ("client", "p")]


def test_too_many_calls_at_once_are_refused_whole() -> None:
    s = session()
    turn, _ = ask(s)
    s.call(turn, [READ] * 8, 1)
    seq = s.seq
    with pytest.raises(PeerError, match="more than 8"):
        s.call(turn, [READ], 1)
    assert s.seq == seq


def test_a_lost_call_is_indeterminate_and_the_turn_goes_on() -> None:
    s = session()
    turn, _ = ask(s)
    ids, _ = s.call(turn, [WRITE, WRITE], 1)
    (lost,) = settlements(s.lose([ids[1], "never"], 2))
    assert (lost.call_id, lost.outcome) == (ids[1], "indeterminate")
    assert answered(s, ids[1]) is None
    assert answered(s, ids[0]) is not None
    assert s.running is not None


# Time ----------------------------------------------------------------------------------------------------------


def test_a_call_nobody_answers_times_out_and_its_answer_comes_too_late() -> None:
    s = session()
    turn, _ = ask(s)
    early, _ = s.call(turn, [READ], 0)
    late, _ = s.call(turn, [READ], 500)
    assert s.expire(999) == []
    (expired,) = settlements(s.expire(1000))
    assert (expired.call_id, expired.outcome, expired.ms) == (early[0], "timed_out", 1000)
    assert answered(s, early[0]) is None
    assert answered(s, late[0]) is not None


def test_a_turn_with_a_limit_times_out_from_its_start_and_the_next_one_begins() -> None:
    s = session()
    first, _ = ask(s, now=0, limit_ms=100)
    second, _ = ask(s, now=50, limit_ms=100)
    assert s.expire(99) == []
    events = s.expire(100)
    assert kinds(events) == ["TurnEnded", "TurnStarted"]
    assert (ends(events)[0].turn, ends(events)[0].outcome, ends(events)[0].code) == (
        first, "timed_out", "ANALYSIS_TIMEOUT",
    )  # fmt: skip
    assert s.expire(199) == []
    assert ends(s.expire(200))[0].turn == second


def test_a_turn_without_a_limit_runs_as_long_as_it_likes() -> None:
    s = session()
    ask(s)
    assert s.expire(10**12) == []


def test_a_clock_that_steps_back_gives_no_negative_times() -> None:
    s = session()
    turn, _ = ask(s, now=1000)
    ids, _ = s.call(turn, [READ], 1000)
    settled = answered(s, ids[0], now=10)
    assert settled is not None
    assert settled.ms == 0
    assert ends(s.finish(turn, 5))[0].ms == 0


# Restarts ------------------------------------------------------------------------------------------------------


def test_after_a_restart_the_running_turn_ends_and_what_waits_starts_when_a_peer_is_back() -> None:
    s = session()
    log: list[AnyEvent] = []
    first, events = ask(s)
    log += events
    second, events = ask(s)
    log += events
    log += s.call(first, [READ, WRITE], 1)[1]
    log.append(s.run_tool(RunTool("theirs", "Edit", {}), 1, project="", reads=False, asked_by="c"))
    back = restored(log)
    assert state(back) == state(s)
    events = back.interrupt(9)
    assert [(call.tool, call.outcome) for call in settlements(events)] == [
        ("read_file", "cancelled"), ("Edit", "indeterminate"), ("Edit", "indeterminate"),
    ]  # fmt: skip
    assert [(end.turn, end.outcome, end.code) for end in ends(events)] == [(first, "failed", "INTERRUPTED")]
    assert back.running is None
    assert back.expire(10**9) == []
    assert kinds(ask(back)[1]) == ["TurnAsked"]
    events = back.release(10)
    assert kinds(events) == ["TurnStarted"]
    assert back.running is not None
    assert back.running.id == second


def test_going_on_from_a_point_of_rest_needs_nothing_before_it() -> None:
    s = session()
    turn, log = ask(s)
    log += s.finish(turn, 1)
    rest = s.seq
    log += ask(s)[1]
    assert state(restored(log[rest:])) == state(s)


def test_an_event_out_of_order_is_refused() -> None:
    s = session()
    _, events = ask(s)
    fresh = session()
    with pytest.raises(ValueError, match="does not follow"):
        fresh.apply(events[1])
    fresh.apply(events[0])
    with pytest.raises(ValueError, match="does not follow"):
        fresh.apply(events[0])


def test_limits_come_from_whoever_makes_the_session() -> None:
    s = session(Limits(queue=1, calls=1, tool_timeout_ms=10))
    turn, _ = ask(s)
    s.call(turn, [READ], 0)
    assert len(settlements(s.expire(10))) == 1
    assert LIMITS.queue == 3
