"""Resuming from a cursor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.recovery import Lost, Replay, cursor, resume


@given(st.integers(0, 10**9), st.integers(0, 1000))
def test_a_cursor_resumes_where_it_was_taken(seen: int, more: int) -> None:
    assert resume(cursor("abc1", seen), epoch="abc1", last=seen + more) == Replay(seen)


def test_zero_means_from_the_start() -> None:
    assert resume("0", epoch="abc", last=7) == Replay(0)
    assert resume("abc.0", epoch="abc", last=7) == Replay(0)


def test_a_cursor_of_another_epoch_is_lost_and_both_are_named() -> None:
    lost = resume("old.3", epoch="new", last=7)
    assert isinstance(lost, Lost)
    assert "old" in lost.reason
    assert "new" in lost.reason


def test_a_cursor_ahead_of_the_log_is_lost() -> None:
    assert isinstance(resume("abc.8", epoch="abc", last=7), Lost)
    assert resume("abc.7", epoch="abc", last=7) == Replay(7)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        "abc",
        "abc.",
        ".7",
        "abc.07",
        "abc.-1",
        "abc.1.2",
        " abc.1",
        "abc.1\n",
        "ABC.1",
        "abc.１",
        "abc." + "9" * 17,
    ],
)
def test_what_is_no_cursor_is_lost_and_told_so(text: str) -> None:
    lost = resume(text, epoch="abc", last=7)
    assert isinstance(lost, Lost)
    assert "not a cursor" in lost.reason


@given(st.text())
def test_garbage_never_raises(text: str) -> None:
    assert isinstance(resume(text, epoch="abc", last=7), Replay | Lost)
