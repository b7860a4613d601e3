from __future__ import annotations

import random
from itertools import pairwise, zip_longest

from hypothesis import given, settings
from hypothesis import strategies as st

from toolwire.tools.diff import Block, blocks

SIDES = st.lists(st.sampled_from("abcdefgh"), max_size=40)
FEW = st.lists(st.sampled_from("ab"), max_size=12)


def _rebuilt(old: list[str], new: list[str], found: list[Block]) -> list[str]:
    result: list[str] = []
    done = 0
    for block in found:
        assert block.old_start >= done
        result += old[done : block.old_start]
        assert len(result) == block.new_start
        result += new[block.new_start : block.new_end]
        done = block.old_end
    return result + old[done:]


def _size(found: list[Block]) -> int:
    return sum(b.old_end - b.old_start + b.new_end - b.new_start for b in found)


@given(SIDES, SIDES)
@settings(max_examples=300, deadline=None)
def test_every_way_gives_a_right_answer_and_the_exact_ones_the_same_size(old: list[str], new: list[str]) -> None:
    walked = blocks(old, new, distance=100)
    tabled = blocks(old, new, distance=1)
    cut = blocks(old, new, distance=1, cells=9)
    for found in (walked, tabled, cut):
        assert _rebuilt(old, new, found) == new
    assert _size(walked) == _size(tabled) <= _size(cut)


@given(SIDES, SIDES)
@settings(max_examples=200, deadline=None)
def test_blocks_are_apart_and_never_begin_or_end_alike(old: list[str], new: list[str]) -> None:
    found = blocks(old, new)
    for before, after in pairwise(found):
        assert before.old_end < after.old_start
        assert before.new_end < after.new_start


@given(FEW, FEW, st.sampled_from([1, 100]))
@settings(max_examples=300, deadline=None)
def test_insertions_and_deletions_are_as_far_down_as_they_go(old: list[str], new: list[str], distance: int) -> None:
    found = blocks(old, new, distance=distance)
    for block, after in zip_longest(found, found[1:]):
        room = (after.old_start if after else len(old)) - block.old_end
        if room > 0 and block.old_start == block.old_end:
            assert new[block.new_start] != new[block.new_end]
        if room > 0 and block.new_start == block.new_end:
            assert old[block.old_start] != old[block.old_end]


def test_unique_lines_anchor_a_comparison_too_large_for_the_table() -> None:
    old = [f"line {number}" for number in range(2000)]
    new = [*old[:500], "x", *old[500:1200], "y", "z", *old[1300:], "end"]
    found = blocks(old, new, distance=5, cells=1000)
    assert _rebuilt(old, new, found) == new
    assert _size(found) == 1 + 2 + 100 + 1


def test_huge_texts_without_anchors_are_still_compared_in_bounded_time() -> None:
    chance = random.Random(7)
    old = [chance.choice("abc") for _ in range(60_000)]
    new = [chance.choice("abc") for _ in range(60_000)]
    found = blocks(old, new, cells=1_000_000)
    assert _rebuilt(old, new, found) == new


def test_a_few_edits_of_a_huge_text_are_found_exactly() -> None:
    old = [str(number % 7919) for number in range(300_000)]
    new = [*old[:10], "first", *old[10:150_000], *old[150_003:], "last"]
    assert _size(blocks(old, new)) == 5
