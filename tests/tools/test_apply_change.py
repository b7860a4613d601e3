from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.desk import Desk
from toolwire.settings import Settings
from toolwire.tools import registry
from toolwire.tools.patch import apply


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, Settings(formatters=()))


def test_an_exact_match_is_replaced_exactly(desk: Desk) -> None:
    path = desk.put("a.txt", "one\ntwo\nthree\n", read=False)
    output = desk.done("apply_change", relativePath="a.txt", searchContent="two", replaceContent="2")
    assert path.read_text() == "one\n2\nthree\n"
    assert (output.matched, output.line, output.formatted_by) == ("exact", 2, None)
    assert apply("one\ntwo\nthree\n", output.patch) == "one\n2\nthree\n"


@pytest.mark.parametrize("search", [None, ""])
def test_without_search_content_a_file_is_made_and_never_overwritten(desk: Desk, search: str | None) -> None:
    asked: dict[str, Any] = {"relativePath": "new/a.txt", "searchContent": search, "replaceContent": "x\n"}
    output = desk.done("apply_change", **asked)
    assert (output.created, output.patch) == (True, ())
    assert (desk.root / "new/a.txt").read_text() == "x\n"
    assert desk.refused("apply_change", **asked).kind == "file_exists"


CLASS = """class A:
    def f(self):
        if self.ready:
            return 1
        return 2
"""


def test_a_match_that_ignores_indentation_is_set_in_anew(desk: Desk) -> None:
    path = desk.put("a.py", CLASS)
    output = desk.done(
        "apply_change",
        path="a.py",
        searchContent="if self.ready:\n    return 1\n",
        replaceContent="if self.ready:\n    for x in y:\n        go(x)\n\n    return 3\n",
    )
    assert output.matched == "indentation"
    assert path.read_text() == CLASS.replace(
        "            return 1\n", "            for x in y:\n                go(x)\n\n            return 3\n"
    )


@pytest.mark.parametrize("margin", ["", "    ", "        "])
def test_blanks_become_tabs_where_the_file_has_tabs(desk: Desk, margin: str) -> None:
    path = desk.put("a.c", "void f() {\n\tif (x) {\n\t\tgo();\n\t}\n}\n")
    search = f"{margin}if (x) {{\n{margin}    go();\n{margin}}}"
    replace = f"{margin}if (x) {{\n{margin}    while (y) {{\n{margin}        go();\n{margin}    }}\n{margin}}}"
    desk.done("apply_change", path="a.c", searchContent=search, replaceContent=replace)
    assert path.read_text() == "void f() {\n\tif (x) {\n\t\twhile (y) {\n\t\t\tgo();\n\t\t}\n\t}\n}\n"


def test_a_replacement_may_be_less_deep_than_what_was_searched(desk: Desk) -> None:
    path = desk.put("a.py", "class A:\n    def f(self):\n        return 1\n")
    desk.done("apply_change", path="a.py", searchContent="    return 1", replaceContent="    return 2\ndef g(): pass")
    assert path.read_text() == "class A:\n    def f(self):\n        return 2\n    def g(): pass\n"


def test_blank_lines_around_the_search_do_not_matter(desk: Desk) -> None:
    path = desk.put("a.py", CLASS)
    desk.done("apply_change", path="a.py", searchContent="\n  return 2\n\n", replaceContent="\n  return 5\n")
    assert path.read_text() == CLASS.replace("return 2", "return 5")


def test_an_empty_replacement_takes_whole_lines_away(desk: Desk) -> None:
    path = desk.put("a.py", CLASS)
    desk.done("apply_change", path="a.py", searchContent="if self.ready:\n   return 1", replaceContent="")
    assert path.read_text() == "class A:\n    def f(self):\n        return 2\n"


def test_line_ends_of_a_crlf_file_survive_both_kinds_of_match(desk: Desk) -> None:
    path = desk.put("a.py", CLASS.replace("\n", "\r\n"))
    exact = {"searchContent": "ready:\n            return 1", "replaceContent": "on:\n            go()"}
    assert desk.done("apply_change", path="a.py", **exact).matched == "exact"
    loose = {"searchContent": "if self.on:\n  go()", "replaceContent": "if self.off:\n  go()\n  stop()"}
    assert desk.done("apply_change", path="a.py", **loose).matched == "indentation"
    wanted = CLASS.replace("ready", "off").replace("            return 1\n", "            go()\n            stop()\n")
    assert path.read_bytes().decode() == wanted.replace("\n", "\r\n")


def test_several_matches_are_an_error_that_lists_them(desk: Desk) -> None:
    path = desk.put("a.py", "  x = 1\ny\n\tx = 1\n")
    exact = desk.refused("apply_change", path="a.py", searchContent="x = 1", replaceContent="z")
    assert (exact.kind, exact.facts["lines"]) == ("content_ambiguous", [1, 3])
    told = registry.as_markdown(
        desk.call("apply_change", path="a.py", searchContent="x = 1", replaceContent="z"), "zh"
    )
    assert told == "要修改的内容在 a.py 中出现 2 次，请提供更多上下文:\na.py:1: x = 1\na.py:3: x = 1"
    loose = desk.refused("apply_change", path="a.py", searchContent="    x = 1", replaceContent="z")
    assert loose.facts["lines"] == [1, 3]
    assert path.read_text() == "  x = 1\ny\n\tx = 1\n"


@pytest.mark.parametrize(
    ("path", "search", "kind"),
    [("a.py", "nope", "content_not_found"), ("a.py", " \n ", "content_not_found"), ("b.py", "x", "file_not_found")],
)
def test_what_is_not_there_is_not_found(desk: Desk, path: str, search: str, kind: str) -> None:
    desk.put("a.py", CLASS)
    assert desk.refused("apply_change", path=path, searchContent=search, replaceContent="x").kind == kind


def test_the_result_tells_what_it_was_for(desk: Desk) -> None:
    desk.put("a.txt", "one\n")
    asked = {"path": "a.txt", "searchContent": "one", "replaceContent": "two", "description": "count on"}
    text = registry.as_markdown(desk.call("apply_change", **asked), "zh")
    assert text.startswith("## 修改已应用: a.txt\n\n**路径**: `a.txt`\n**变更行数**: +1 -1\n**说明**: count on\n")
