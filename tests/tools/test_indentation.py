from __future__ import annotations

import pytest

from toolwire.tools.indentation import moved, unit


@pytest.mark.parametrize(
    ("lines", "step"),
    [
        (["a", "  b", "    c", "d"], "  "),
        (["        a", "            b"], "    "),
        (["a", "\tb", "\t\tc"], "\t"),
        (["a", "b", ""], None),
        ([" * a", " * b"], None),
    ],
)
def test_the_step_is_what_lines_are_most_often_set_in_by(lines: list[str], step: str | None) -> None:
    assert unit(lines) == step


def test_lines_keep_their_depth_relative_to_what_they_replace() -> None:
    assert moved(["x", "  y", "", "z"], ["a", "  b"], ["\ta", "\t\tb"], "\t") == ["\tx", "\t\ty", "", "\tz"]
