"""The tables of states: every outcome can be reached, and nothing leaves an end."""

from __future__ import annotations

from typing import get_args

from toolwire.core.events import CallOutcome, Stage, TurnOutcome
from toolwire.core.states import CALL, END, STAGES, START


def test_a_turn_starts_only_from_the_queue() -> None:
    assert START == {"queued": "running"}


def test_every_end_of_a_turn_can_be_reached_and_none_is_left() -> None:
    assert set(END.values()) == set(get_args(TurnOutcome))
    assert {state for state, _ in END} == {"queued", "running"}


def test_a_turn_that_never_ran_neither_completes_nor_times_out() -> None:
    assert {outcome for (state, _), outcome in END.items() if state == "queued"} == {
        "cancelled",
        "overridden",
        "failed",
    }


def test_every_outcome_of_a_call_can_be_reached_and_only_a_waiting_one_gets_one() -> None:
    assert set(CALL.values()) == set(get_args(CallOutcome))
    assert {state for state, _ in CALL} == {"waiting"}


def test_the_stages_are_those_of_document_2_in_order() -> None:
    assert get_args(Stage) == STAGES
