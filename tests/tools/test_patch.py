from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import npm_diff
from toolwire.errors import ToolError
from toolwire.tools.patch import NO_NEWLINE, Hunk, apply, invert, unified

# Few distinct lines make diffs with many equally good answers; the odd ones look like parts of a patch.
LINES = st.sampled_from(["", "a", "b", "c", "\r", "a\r", "-a", "+b", " c", "\\", NO_NEWLINE, "é𝄞", "\u2028", "\x0c"])
TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + end, st.lists(LINES, max_size=25), st.sampled_from(["", "\n"])
)


def _changed(hunks: list[Hunk]) -> int:
    return sum(line[:1] in "+-" for hunk in hunks for line in hunk.lines)


def _generated(seed: int, count: int) -> list[tuple[str, str]]:
    """Pairs of texts, the second an edited copy of the first, small and middling, with and without final newline."""
    chance = random.Random(seed)
    pairs = []
    for _ in range(count):
        words = [
            f"w{chance.randrange(chance.choice([3, 30, 3000]))}" for _ in range(chance.choice([0, 1, 5, 40, 200]))
        ]
        old = [word + chance.choice(["", "", "\r", " x"]) for word in words]
        new = list(old)
        for _ in range(chance.choice([1, 3, 12])):
            start = chance.randrange(len(new) + 1)
            new[start : start + chance.randrange(4)] = [f"n{chance.randrange(9)}"] * chance.randrange(4)
        texts = ["\n".join(side) + chance.choice(["", "\n"]) for side in (old, new)]
        pairs.append((texts[0], texts[1]))
    return pairs


@given(TEXTS, TEXTS, st.integers(0, 4))
@settings(max_examples=400, deadline=None)
def test_applying_the_patch_to_the_old_text_gives_the_new_one(old: str, new: str, context: int) -> None:
    hunks = unified(old, new, context)
    assert apply(old, hunks) == new
    assert apply(new, invert(hunks)) == old
    assert invert(invert(hunks)) == hunks


def test_npm_diff_applies_our_patches_and_changes_no_fewer_lines_itself() -> None:
    pairs = _generated(seed=4, count=3000)
    ours = [unified(old, new) for old, new in pairs]
    answers = npm_diff.ask([(old, hunks, new) for (old, new), hunks in zip(pairs, ours, strict=True)])
    for (old, new), hunks, answer in zip(pairs, ours, answers, strict=True):
        assert answer.applied == new
        assert answer.own is not None
        assert _changed(hunks) <= _changed(answer.own)
        assert apply(old, answer.own) == new


ONE_ANSWER = [
    ("", "a"),
    ("", "a\n"),
    ("a\n", ""),
    ("a", ""),
    ("a\nb", "a\nb\n"),
    ("a\nb\n", "a\nb"),
    ("a\nb", "a\nc"),
    ("x\na\nb", "y\na\nb"),
    ("x\n1\n2\n3", "y\n1\n2\n3"),
    ("x\n1\n2\n3\n4", "y\n1\n2\n3\n4"),
    ("a\r\nb\r\n", "a\nb\n"),
    ("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\ny\n9\n"),
    ("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n"),
    ("1\n2\n3\n4\n", "1\n2\n3\n4\n5\n"),
    ("1\n2\n3\n4\n", "0\n1\n2\n3\n4\n"),
]
"""Texts with one smallest diff."""


def test_hunks_are_those_of_npm_diff_where_only_one_answer_is_smallest() -> None:
    answers = npm_diff.ask([(old, [], new) for old, new in ONE_ANSWER])
    for (old, new), answer in zip(ONE_ANSWER, answers, strict=True):
        assert unified(old, new) == answer.own


def test_an_empty_side_is_numbered_by_the_line_that_would_come_next() -> None:
    (hunk,) = unified("", "a\n")
    assert (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines) == (1, 0, 1, 1)
    (hunk,) = unified("a\nb\n", "a\nb\nc\n", context=0)
    assert (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines) == (3, 0, 3, 1)


def test_equal_texts_have_no_hunks() -> None:
    assert unified("a\n", "a\n") == []


def test_an_inserted_block_ends_with_its_own_last_line() -> None:
    (hunk,) = unified("f {\n}\n\ng {\n}\n", "f {\n}\n\nh {\n}\n\ng {\n}\n")
    assert [line for line in hunk.lines if line[0] != " "] == ["+h {", "+}", "+"]


HUNK = Hunk(old_start=2, old_lines=1, new_start=2, new_lines=1, lines=("-b", "+B"))


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("a\nx\nc\n", {}),
        ("a\n", {}),
        ("a\nb", {}),
        ("a\nb\n", {"new_start": 3}),
        ("a\nb\n", {"old_lines": 2}),
        ("a\nb\n", {"lines": ("-b", "*B")}),
        ("a\nb\n", {"lines": ("-b", "+B\nC")}),
        ("a\nb\nc\n", {"lines": ("-b", "+B", NO_NEWLINE)}),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(text: str, change: dict[str, object]) -> None:
    with pytest.raises(ToolError) as refused:
        apply(text, [HUNK.model_copy(update=change)])
    assert refused.value.kind == "patch_misfit"


def test_hunks_out_of_order_are_refused() -> None:
    later = Hunk(old_start=1, old_lines=1, new_start=1, new_lines=1, lines=("-a", "+A"))
    with pytest.raises(ToolError):
        apply("a\nb\n", [HUNK, later])


def test_a_hunk_is_written_in_the_names_of_document_4() -> None:
    assert set(HUNK.model_dump(by_alias=True)) == {"oldStart", "oldLines", "newStart", "newLines", "lines"}
