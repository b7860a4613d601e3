"""What peers ask of a session: prompts, answers, stop, reset, and what else they send."""

from __future__ import annotations

import pytest

from core.made import READ, WRITE, answered, ask, ends, kinds, requests, session, settlements
from toolwire.core.commands import AddMessage, Answer, Report, RunTool
from toolwire.core.events import CallSettled, MessageAdded, PeerReported, SessionReset, TurnAsked
from toolwire.errors import QueueFull, TurnOver


def test_a_prompt_starts_at_once_when_nothing_runs() -> None:
    s = session()
    turn, events = ask(s, "why?", 5, request="r9", mode="plan", project="p", agent="local")
    assert kinds(events) == ["TurnAsked", "TurnStarted"]
    asked = events[0]
    assert isinstance(asked, TurnAsked)
    assert (asked.request, asked.prompt, asked.conversation) == ("r9", "why?", "c")
    assert (asked.mode, asked.project, asked.agent) == ("plan", "p", "local")
    assert [event.seq for event in events] == [1, 2]
    assert s.running is not None
    assert s.running.id == turn


def test_a_prompt_without_names_of_its_own_gets_the_turns_and_the_sessions() -> None:
    turn, events = ask(session())
    asked = events[0]
    assert isinstance(asked, TurnAsked)
    assert (asked.request, asked.conversation) == (turn, "c")


def test_a_prompt_may_continue_another_conversation() -> None:
    s = session()
    turn, _ = ask(s, conversation="other")
    assert ends(s.finish(turn, 1))[0].conversation == "other"


def test_prompts_asked_while_a_turn_runs_wait_in_order() -> None:
    s = session()
    first, _ = ask(s)
    second, events = ask(s)
    third, _ = ask(s)
    assert kinds(events) == ["TurnAsked"]
    events = s.finish(first, 1)
    assert kinds(events) == ["TurnEnded", "TurnStarted"]
    assert s.running is not None
    assert s.running.id == second
    s.fail(second, "no", 2)
    assert s.running.id == third


def test_the_queue_is_bounded_and_a_refused_prompt_changes_nothing() -> None:
    s = session()
    for _ in range(4):
        ask(s)
    seq = s.seq
    with pytest.raises(QueueFull):
        ask(s)
    assert (s.seq, len(s.queue)) == (seq, 3)


def test_an_overriding_prompt_ends_what_runs_and_what_waits_then_starts() -> None:
    s = session()
    first, _ = ask(s)
    second, _ = ask(s)
    s.call(first, [READ], 1)
    third, events = ask(s, "new", 7, busy="override")
    assert kinds(events) == ["CallSettled", "TurnEnded", "TurnEnded", "TurnAsked", "TurnStarted"]
    assert [(e.turn, e.outcome, e.code, e.rounds > 0) for e in ends(events)] == [
        (first, "overridden", "REQUEST_OVERRIDDEN", True),
        (second, "overridden", "REQUEST_OVERRIDDEN", False),
    ]
    assert s.running is not None
    assert s.running.id == third


def test_overriding_nothing_is_an_ordinary_prompt_even_when_the_queue_was_full() -> None:
    s = session()
    assert kinds(ask(s, busy="override")[1]) == ["TurnAsked", "TurnStarted"]
    for _ in range(3):
        ask(s)
    ask(s, busy="override")
    assert len(s.queue) == 0


def test_a_turn_that_was_overridden_can_do_nothing_more() -> None:
    s = session()
    first, _ = ask(s)
    ask(s, busy="override")
    for late in (
        lambda: s.say(first, "late", 1),
        lambda: s.think(first, "late", 1),
        lambda: s.call(first, [READ], 1),
        lambda: s.choose(first, "local", 1),
        lambda: s.finish(first, 1),
        lambda: s.fail(first, "late", 1),
    ):
        with pytest.raises(TurnOver):
            late()


# Answers -------------------------------------------------------------------------------------------------------


def test_each_call_gets_its_own_answer_in_any_order() -> None:
    s = session()
    turn, _ = ask(s)
    ids, events = s.call(turn, [READ, READ, READ], 1)
    assert [call.call_id for call in requests(events)] == ids
    for i in (2, 0, 1):
        settled = answered(s, ids[i], {"n": i}, now=4)
        assert settled is not None
        assert (settled.call_id, settled.outcome, settled.result, settled.ms) == (ids[i], "ok", {"n": i}, 3)
    assert len(s.calls) == 0


def test_a_failed_answer_carries_its_error() -> None:
    s = session()
    turn, _ = ask(s)
    (call,), _ = s.call(turn, [READ], 1)
    settled = s.answer(Answer(call, False, None, "no such file"), 2)
    assert settled is not None
    assert (settled.outcome, settled.error) == ("failed", "no such file")


def test_the_first_answer_stands_and_others_find_nobody() -> None:
    s = session()
    turn, _ = ask(s)
    (call,), _ = s.call(turn, [READ], 1)
    assert answered(s, call, "first") is not None
    seq = s.seq
    assert answered(s, call, "second") is None
    assert answered(s, "grep_file-never-asked") is None
    assert s.seq == seq


def test_an_answer_after_the_turn_has_ended_finds_nobody() -> None:
    s = session()
    turn, _ = ask(s)
    (call,), _ = s.call(turn, [READ], 1)
    s.stop(2)
    assert answered(s, call) is None


def test_a_client_can_not_answer_a_call_that_the_gateway_runs_nor_the_other_way_round() -> None:
    s = session()
    turn, _ = ask(s, placement="server")
    (server,), _ = s.call(turn, [READ], 1)
    (client,), _ = s.call(turn, [WRITE.__class__("x", {}, placement="client")], 1)
    assert answered(s, server) is None
    assert s.settle(client, True, "r", "", 2) is None
    assert s.settle(server, True, "r", "", 2) is not None
    assert answered(s, client) is not None


# Stop, reset, and the rest -------------------------------------------------------------------------------------


def test_stop_with_nothing_running_only_says_so() -> None:
    assert kinds(session().stop(1)) == ["Stopped"]


def test_stop_ends_what_runs_and_what_waits_and_then_says_so() -> None:
    s = session()
    first, _ = ask(s)
    ask(s)
    s.say(first, "half a", 1)
    events = s.stop(2)
    assert kinds(events) == ["Said", "TurnEnded", "TurnEnded", "Stopped"]
    assert [e.outcome for e in ends(events)] == ["cancelled", "cancelled"]
    assert ends(events)[0].text == "half a"
    assert s.at_rest


def test_reset_ends_what_runs_and_forgets_the_conversation() -> None:
    s = session()
    ask(s)
    events = s.reset(2)
    assert kinds(events) == ["TurnEnded", "SessionReset"]
    assert isinstance(events[-1], SessionReset)
    assert events[-1].conversation == "c"
    other = s.reset(3, "other")[-1]
    assert isinstance(other, SessionReset)
    assert other.conversation == "other"


def test_messages_and_reports_are_recorded_and_change_nothing_else() -> None:
    s = session()
    turn, _ = ask(s)
    (added,) = s.add_message(AddMessage("system", "be kind"), 1)
    (reported,) = s.report(Report("the plugin crashed"), 2)
    assert isinstance(added, MessageAdded)
    assert (added.role, added.text, added.conversation) == ("system", "be kind", "c")
    assert isinstance(reported, PeerReported)
    assert s.running is not None
    assert s.running.id == turn


def test_a_clients_own_call_belongs_to_no_turn_and_survives_a_stop() -> None:
    s = session()
    ask(s)
    call = s.run_tool(RunTool("theirs-1", "grep_file", {}), 1, project="p", reads=True, asked_by="conn")
    assert (call.turn, call.placement, call.asked_as, call.asked_by) == ("", "server", "theirs-1", "conn")
    s.stop(2)
    assert not s.at_rest
    settled = s.settle(call.call_id, True, "found", "", 3)
    assert isinstance(settled, CallSettled)
    assert (settled.asked_as, settled.asked_by, settled.result) == ("theirs-1", "conn", "found")
    assert s.at_rest


def test_a_clients_own_calls_are_bounded() -> None:
    s = session()
    for i in range(8):
        s.run_tool(RunTool(f"{i}", "grep_file", {}), 1, project="", reads=True, asked_by="")
    with pytest.raises(QueueFull):
        s.run_tool(RunTool("9", "grep_file", {}), 1, project="", reads=True, asked_by="")


def test_writes_in_flight_when_a_turn_ends_are_indeterminate_and_reads_cancelled() -> None:
    s = session()
    turn, _ = ask(s)
    s.call(turn, [READ, WRITE], 1)
    assert [(c.tool, c.outcome) for c in settlements(s.stop(2))] == [
        ("read_file", "cancelled"),
        ("Edit", "indeterminate"),
    ]
