"""Events: what begins and ends something, what is passing, and how they are stored."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.events import (
    PASSING,
    AnyEvent,
    CallRequested,
    CallSettled,
    Said,
    Stopped,
    TurnAsked,
    TurnEnded,
    decode_run,
    encode,
    encode_run,
    opens,
)

ASKED = TurnAsked(1, 1, "t", "r", "p", "c")
ENDED = TurnEnded(2, 1, "t", "r", "c", "completed", "p")


def test_turns_and_calls_outside_turns_open_and_end_something() -> None:
    assert opens(ASKED) == 1
    assert opens(ENDED) == -1
    assert opens(CallRequested(1, 1, "", "", "c", "t", {})) == 1
    assert opens(CallSettled(1, 1, "", "", "c", "t", "ok")) == -1
    assert opens(CallRequested(1, 1, "t", "r", "c", "t", {})) == 0
    assert opens(CallSettled(1, 1, "t", "r", "c", "t", "ok")) == 0
    assert opens(Said(1, 1, "t", "r", "x", 0)) == 0


def test_nothing_that_opens_or_ends_something_is_passing() -> None:
    for passing in PASSING:
        assert passing in get_args(AnyEvent)
    assert not set[type](PASSING) & {TurnAsked, TurnEnded, CallRequested, CallSettled}


def test_every_kind_of_event_has_a_tag_of_its_own() -> None:
    tags = [kind.__struct_config__.tag for kind in get_args(AnyEvent)]
    assert len(set(tags)) == len(tags)


def test_an_event_can_not_be_changed() -> None:
    with pytest.raises(AttributeError):
        ASKED.prompt = "other"  # type: ignore[misc]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=10,
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(st.lists(st.tuples(texts, json_values, st.booleans()), max_size=5))
def test_a_run_comes_back_equal(parts: list[tuple[str, object, bool]]) -> None:
    events: list[AnyEvent] = [Stopped(1, 1), ASKED, ENDED]
    for text, value, final in parts:
        events.append(Said(3, 2, "t", "r", text, 0, final))
        events.append(CallSettled(4, 2, "t", "r", text, "tool", "ok", value, text))
        events.append(TurnEnded(5, 2, "t", "r", "c", "failed", text, stages=("analyzing", "executing")))
    assert decode_run(encode_run(events)) == events


def test_a_single_event_is_stored_as_a_run_stores_it() -> None:
    assert encode_run([ASKED, ENDED]) == b"[" + encode(ASKED) + b"," + encode(ENDED) + b"]"


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[{}]", b'[{"kind":"nonsense","seq":1,"at":1}]', b'[{"kind":"stopped","seq":"1","at":1}]', b"[1"],
)
def test_a_damaged_run_is_an_error_not_a_guess(body: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_run(body)
