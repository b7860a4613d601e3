"""Ignore rules as they read from further down the tree."""

from __future__ import annotations

import pytest

from toolwire.tools.ignore import rebase


@pytest.mark.parametrize(
    ("rule", "below", "seen"),
    [
        ("*.log", ["a"], ["*.log"]),
        ("build/", ["a", "b"], ["build/"]),
        ("!keep", ["a"], ["!keep"]),
        ("/a/x", ["a"], ["/x"]),
        ("a/x/", ["a"], ["/x/"]),
        ("!a/x", ["a"], ["!/x"]),
        ("/b/x", ["a"], []),
        ("/x", ["a"], []),
        ("/a", ["a"], []),
        ("a/b", ["a", "b"], []),
        ("/*/x", ["a"], ["/x"]),
        ("/?/[ab]/x", ["a", "b"], ["/x"]),
        ("**/x/y", ["a"], ["/**/x/y"]),
        ("**/a/y", ["a"], ["/**/a/y", "/y"]),
        ("a/**", ["a", "b"], ["/**"]),
        ("a/**/c", ["a", "b"], ["/**/c"]),
        (r"/x\[1\]/y", ["x[1]"], ["/y"]),
        (r"/\*/y", ["a"], []),
        ("# note", ["a"], []),
        ("", ["a"], []),
        ("   ", ["a"], []),
        ("x   ", ["a"], ["x"]),
        ("a/x", [], ["/a/x"]),
    ],
)
def test_a_rule_is_rewritten_for_the_folder_below(rule: str, below: list[str], seen: list[str]) -> None:
    assert rebase(rule, below) == seen
