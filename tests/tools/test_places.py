from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import npm_diff
from toolwire.tools.patch import NO_NEWLINE, Hunk, apply
from toolwire.tools.places import Places

PIECES = st.text(alphabet="ab\n\r", min_size=1, max_size=4)


def _edited(old: str, *edits: tuple[str, str]) -> Places:
    places = Places(old)
    for wanted, new in edits:
        places.replace(places.find(wanted), new)
    return places


def test_the_places_of_document_4s_multi_edit_come_out_exactly() -> None:
    old = "import os\n\n\n\ndef process():\n    pass\n"
    places = _edited(old, ("import os", "import os\nimport sys"), ("def process():", "def process_data():"))
    assert places.hunks() == [
        Hunk(old_start=1, old_lines=1, new_start=1, new_lines=2, lines=(" import os", "+import sys")),
        Hunk(old_start=5, old_lines=1, new_start=6, new_lines=1, lines=("-def process():", "+def process_data():")),
    ]


@pytest.mark.parametrize(
    ("old", "wanted", "new", "lines"),
    [
        ("a\nb\nc\n", "b", "B", ["-b", "+B"]),
        ("a\nb\nc\n", "b\n", "", ["-b"]),
        ("a\nb\nc\n", "b\n", "B", ["-b", "-c", "+Bc"]),
        ("a\nb\nc\n", "\nb", "", [" a", "-b"]),
        ("a\nb\nc\n", "a\nb\n", "a\nX\nb\n", [" a", "+X", " b"]),
        ("a\nb", "\nb", "", ["-a", "-b", NO_NEWLINE, "+a", NO_NEWLINE]),
        ("a\nb\n", "b\n", "b", ["-b", "+b", NO_NEWLINE]),
        ("x\nx\n", "x", "y", ["-x", "-x", "+y", "+y"]),
        ("x x\n", "x", "y", ["-x x", "+y y"]),
        ("a", "a", "", ["-a", NO_NEWLINE]),
    ],
)
def test_a_hunk_covers_the_touched_lines_and_no_others(old: str, wanted: str, new: str, lines: list[str]) -> None:
    places = _edited(old, (wanted, new))
    (hunk,) = places.hunks()
    assert list(hunk.lines) == lines
    assert apply(old, [hunk]) == places.text


def test_places_apart_stay_apart_and_adjoining_ones_become_one() -> None:
    apart = _edited("x\na\nx\n", ("x", "y")).hunks()
    assert [(hunk.old_start, hunk.lines) for hunk in apart] == [(1, ("-x", "+y")), (3, ("-x", "+y"))]
    (one,) = _edited("x\nz\n", ("x", "y"), ("z", "w")).hunks()
    assert one.lines == ("-x", "-z", "+y", "+w")


def test_an_edit_of_an_edit_is_one_place() -> None:
    places = _edited("a\nb\nc\nd\n", ("b", "B1\nB2\nB3"), ("B2", "X"), ("B3\nc", "C"))
    (hunk,) = places.hunks()
    assert hunk.lines == ("-b", "-c", "+B1", "+X", "+C")


def test_a_change_taken_back_leaves_no_hunk() -> None:
    assert _edited("a\nb\n", ("b", "c"), ("c", "b")).hunks() == []


@given(
    st.text(alphabet="ab\n\r", max_size=40),
    st.lists(st.tuples(PIECES, st.text(alphabet="ab\n\r", max_size=4)), max_size=6),
)
@settings(max_examples=600, deadline=None)
def test_old_text_and_patch_give_the_new_text(old: str, edits: list[tuple[str, str]]) -> None:
    places, plain = Places(old), old
    for wanted, new in edits:
        places.replace(places.find(wanted), new)
        plain = plain.replace(wanted, new)
    assert places.text == plain
    hunks = places.hunks()
    assert apply(old, hunks) == plain
    for before, after in pairwise(hunks):
        assert before.old_start + before.old_lines < after.old_start


def test_npm_diff_applies_the_patches_of_generated_edits() -> None:
    chance = random.Random(11)
    cases: list[Places] = []
    for _ in range(3000):
        lines = [chance.choice(["foo(bar)", "bar", "", "  return x", f"v{chance.randrange(50)}"]) for _ in range(30)]
        places = Places("\n".join(lines) + chance.choice(["", "\n"]))
        for _ in range(chance.randrange(1, 5)):
            start = chance.randrange(len(places.text))
            wanted = places.text[start : start + chance.randrange(1, 30)]
            spans = places.find(wanted)
            new = chance.choice(["", "X", "new\nlines\n", "\n", wanted.upper(), wanted + "\nmore"])
            places.replace(spans if chance.random() < 0.4 else spans[:1], new)
        cases.append(places)
    answers = npm_diff.ask([(places.old, places.hunks(), None) for places in cases])
    for places, answer in zip(cases, answers, strict=True):
        assert answer.applied == places.text
