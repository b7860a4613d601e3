"""Ids sort by time within a process, and no two are ever the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.ids import Ids

NODE = b"\0\1\2\3\4\5"
NOW = 1_700_000_000_000


@given(st.lists(st.integers(0, 2**43), min_size=1, max_size=200))
def test_ids_sort_in_the_order_they_were_made_whatever_the_clock_does(clock: list[int]) -> None:
    ids = Ids(NODE)
    made = [ids.next(now) for now in clock]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_ids_go_on_sorting_when_one_millisecond_needs_more_than_the_counter_holds() -> None:
    ids = Ids(NODE)
    made = [ids.next(NOW) for _ in range(0x10000 + 3)]
    made.append(ids.next(NOW + 1))
    made.append(ids.next(NOW + 2))
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert len({len(each) for each in made}) == 1


def test_two_processes_at_the_same_time_make_different_ids() -> None:
    assert Ids(NODE).next(NOW) != Ids(NODE[::-1]).next(NOW)


def test_a_call_is_named_after_its_tool() -> None:
    ids = Ids(NODE)
    assert ids.call("grep_file", NOW).startswith("grep_file-")
    assert ids.call("grep_file", NOW) != ids.call("grep_file", NOW)


@pytest.mark.parametrize("node", [b"", b"12345", b"1234567"])
def test_a_node_of_the_wrong_length_is_refused(node: bytes) -> None:
    with pytest.raises(ValueError, match="6 random bytes"):
        Ids(node)
