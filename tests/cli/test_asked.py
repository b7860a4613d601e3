"""What a person is asked to allow, in lines: nothing of it may be missing or hidden."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.cli.asked import asked_lines, visible

TEXTS = st.text(max_size=40)
NAMES = st.sampled_from(
    ["path", "file_path", "content", "old_string", "new_string", "searchContent", "replaceContent", "edits", "other"]
)
EDITS = st.lists(st.fixed_dictionaries({"old_string": TEXTS, "new_string": TEXTS}), max_size=3)
ARGUMENTS = st.dictionaries(NAMES, TEXTS | st.none() | st.integers() | st.booleans() | EDITS, max_size=6)


def plain(arguments: dict[str, Any]) -> list[str]:
    return [line.plain for line in asked_lines(arguments)]


@given(ARGUMENTS)
def test_every_text_of_the_arguments_is_shown(arguments: dict[str, Any]) -> None:
    shown = "\n".join(plain(arguments))
    for text in texts_in(arguments):
        inside_json = visible(json.dumps(text, ensure_ascii=False))
        assert inside_json in shown or all(line in shown for line in visible(text).split("\n"))


def texts_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in texts_in(part)]


@given(st.text())
def test_nothing_in_a_shown_text_is_unseen(text: str) -> None:
    assert all(sign in "\n\t" or unicodedata.category(sign)[0] != "C" for sign in visible(text))


def test_an_edit_is_a_diff() -> None:
    lines = plain({"file_path": "a.py", "old_string": "a\nb\nc", "new_string": "a\nx\nc", "replace_all": True})
    assert lines == ["  a.py", "    a", "  - b", "  + x", "    c", "  replace_all: true"]


def test_several_edits_follow_one_another_with_all_they_say() -> None:
    edits = [{"old_string": "a", "new_string": "b", "replace_all": True}, {"old_string": "", "new_string": "c"}]
    lines = plain({"path": "a.py", "edits": edits})
    assert lines == ["  a.py", "  - a", "  + b", "  replace_all: true", "  + c"]


@pytest.mark.parametrize(
    ("content", "shown"), [("a\nb\n", ["  + a", "  + b"]), ("a", ["  + a", "  \\ No newline at end of file"])]
)
def test_a_whole_text_says_whether_its_last_line_ends(content: str, shown: list[str]) -> None:
    assert plain({"path": "a.py", "content": content}) == ["  a.py", *shown]


def test_other_arguments_are_named_one_by_one() -> None:
    assert plain({"to": "live", "count": 3, "note": "a\nb"}) == ["  to: live", "  count: 3", "  note: a", "    b"]
    assert plain({}) == ["  no arguments"]
