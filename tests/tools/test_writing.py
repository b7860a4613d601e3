"""What Replace, Edit and MultiEdit have in common: what may be written, what survives, what is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.desk import Desk
from toolwire.tools import registry
from toolwire.tools.patch import apply
from toolwire.tools.textfile import content_hash


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


EDIT = {"path": "a.py", "old_string": "b", "new_string": "c"}


def test_an_existing_file_must_have_been_read(desk: Desk) -> None:
    path = desk.put("a.py", "b\n", read=False)
    assert desk.refused("Edit", **EDIT).kind == "not_read"
    assert desk.refused("Replace", path="a.py", content="x").kind == "not_read"
    assert desk.refused("MultiEdit", path="a.py", edits=[{"old_string": "b", "new_string": "c"}]).kind == "not_read"
    assert path.read_text() == "b\n"
    desk.done("read_file", path="a.py")
    desk.done("Edit", **EDIT)
    assert path.read_text() == "c\n"


def test_a_file_changed_since_it_was_read_is_not_written(desk: Desk) -> None:
    path = desk.put("a.py", "b\n")
    path.write_text("b b\n")
    assert desk.refused("Edit", **EDIT).kind == "changed_since_read"
    assert path.read_text() == "b b\n"


def test_the_same_content_written_again_by_somebody_is_no_change(desk: Desk) -> None:
    path = desk.put("a.py", "b\n")
    path.write_text("x\n")
    path.write_text("b\n")
    desk.done("Edit", **EDIT)


def test_an_own_write_counts_as_having_read(desk: Desk) -> None:
    desk.done("Replace", path="a.py", content="b\n")
    desk.done("Edit", **EDIT)
    desk.done("MultiEdit", path="a.py", edits=[{"old_string": "c", "new_string": "d"}])
    assert (desk.root / "a.py").read_text() == "d\n"


def test_a_wrong_expected_hash_is_refused_with_both_hashes_and_the_patch(desk: Desk) -> None:
    path = desk.put("a.py", "b\n")
    path.write_text("b\nmine\n")
    error = desk.refused("Edit", **EDIT, expected_hash=content_hash(b"b\n"))
    assert error.kind == "unexpected_content"
    assert (error.facts["expected"], error.facts["actual"]) == (content_hash(b"b\n"), content_hash(b"b\nmine\n"))
    assert error.facts["patch"][0]["lines"] == [" b", "+mine"]
    unknown = desk.refused("Edit", **EDIT, expected_hash="0" * 64)
    assert unknown.facts["patch"] == []


def test_what_an_earlier_read_saw_is_still_known_for_the_patch(desk: Desk) -> None:
    path = desk.put("a.py", "b\n")
    path.write_text("b\nmore\n")
    desk.done("read_file", path="a.py")
    error = desk.refused("Edit", **EDIT, expected_hash=content_hash(b"b\n"))
    assert error.facts["patch"][0]["lines"] == [" b", "+more"]


def test_the_right_expected_hash_counts_as_having_read(desk: Desk) -> None:
    desk.put("a.py", "b\n", read=False)
    desk.done("Edit", **EDIT, expected_hash=content_hash(b"b\n").upper())


def test_a_new_file_can_not_be_expected_to_hold_something(desk: Desk) -> None:
    assert desk.refused("Replace", path="new", content="", expected_hash="0" * 64).kind == "unexpected_content"
    assert not (desk.root / "new").exists()


def test_the_result_carries_hashes_and_the_patch_between_them(desk: Desk) -> None:
    desk.put("a.py", "a\nb\n")
    output = desk.done("Edit", **EDIT)
    assert (output.hash_before, output.hash_after) == (content_hash(b"a\nb\n"), content_hash(b"a\nc\n"))
    assert apply("a\nb\n", output.patch) == "a\nc\n"
    assert (output.path, output.file_path, output.created) == ("a.py", str(desk.root / "a.py"), False)


def test_mode_encoding_and_byte_order_mark_survive(desk: Desk) -> None:
    path = desk.put("a.py", "\ufeffя = 1\r\nb = 2\r\n".encode("utf-16-le"))
    path.chmod(0o755)
    desk.done("Edit", path="a.py", old_string="я = 1\nb", new_string="ю = 1\nc")
    assert path.read_bytes() == "\ufeffю = 1\r\nc = 2\r\n".encode("utf-16-le")
    assert path.stat().st_mode & 0o777 == 0o755


def test_a_character_the_encoding_lacks_is_refused_and_nothing_changes(desk: Desk) -> None:
    data = "Привет, мир. Это достаточно длинный текст для определения кодировки.\n".encode("cp1251")
    path = desk.put("a.txt", data)
    assert desk.refused("Edit", path="a.txt", old_string="мир", new_string="世界").kind == "not_encodable"
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    ("old", "new", "after"),
    [
        ("a\nb", "x\ny", "x\r\ny\r\nc\r\n"),
        ("b", "1\n2", "a\r\n1\r\n2\r\nc\r\n"),
        ("\nb", "\nB", "a\r\nB\r\nc\r\n"),
        ("a\r\nb", "x\r\ny", "x\r\ny\r\nc\r\n"),
    ],
)
def test_strings_with_plain_newlines_match_in_a_crlf_file(desk: Desk, old: str, new: str, after: str) -> None:
    path = desk.put("a.txt", "a\r\nb\r\nc\r\n")
    output = desk.done("Edit", path="a.txt", old_string=old, new_string=new)
    assert path.read_bytes().decode() == after
    assert apply("a\r\nb\r\nc\r\n", output.patch) == after
    assert (output.old_string, output.new_string) == (old, new)


def test_strings_with_crlf_match_in_a_file_of_plain_newlines(desk: Desk) -> None:
    path = desk.put("a.txt", "a\nb\n")
    desk.done("Edit", path="a.txt", old_string="a\r\nb", new_string="x\r\ny")
    assert path.read_bytes() == b"x\ny\n"


def test_in_a_file_of_mixed_line_ends_only_exact_strings_match(desk: Desk) -> None:
    path = desk.put("a.txt", "a\r\nb\nc\n")
    assert desk.refused("Edit", path="a.txt", old_string="a\nb", new_string="x").kind == "string_not_found"
    desk.done("Edit", path="a.txt", old_string="b", new_string="1\n2")
    assert path.read_bytes() == b"a\r\n1\n2\nc\n"


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        ("a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n"),
        ("a\r\nb\r\n", "x\r\ny\r\n", "x\r\ny\r\n"),
        ("a\nb\n", "x\r\ny\r\n", "x\ny\n"),
        ("a\nb\n", "x\ny", "x\ny\n"),
        ("a\r\nb\r\n", "x", "x\r\n"),
        ("a\nb", "x\ny", "x\ny"),
        ("a\nb", "x\ny\n", "x\ny\n"),
        ("a\nb\n", "", ""),
        ("", "x", "x"),
    ],
)
def test_line_ends_and_final_newline_survive_a_replace(desk: Desk, before: str, content: str, after: str) -> None:
    path = desk.put("a.txt", before)
    output = desk.done("Replace", path="a.txt", content=content)
    assert path.read_bytes().decode() == after == output.content
    assert apply(before, output.patch) == after


def test_a_string_that_occurs_twice_needs_replace_all(desk: Desk) -> None:
    path = desk.put("a.py", "x\ny\nx\n")
    error = desk.refused("Edit", path="a.py", old_string="x", new_string="z")
    assert (error.kind, error.facts["count"]) == ("string_repeated", 2)
    output = desk.done("Edit", path="a.py", old_string="x", new_string="z", replace_all=True)
    assert path.read_text() == "z\ny\nz\n"
    assert [hunk.old_start for hunk in output.patch] == [1, 3]


def test_an_edit_that_changes_nothing_is_refused(desk: Desk) -> None:
    desk.put("a.py", "x\n")
    assert desk.refused("Edit", path="a.py", old_string="x", new_string="x").kind == "same_strings"


def test_an_empty_old_string_makes_a_file_and_never_overwrites_one(desk: Desk) -> None:
    output = desk.done("Edit", path="sub/new.py", old_string="", new_string="x\n")
    assert (desk.root / "sub/new.py").read_text() == "x\n"
    assert output.created
    assert output.patch == ()
    assert desk.refused("Edit", path="sub/new.py", old_string="", new_string="y").kind == "file_exists"


def test_a_multi_edit_makes_a_new_file_and_goes_on_editing_it(desk: Desk) -> None:
    edits = [{"old_string": "", "new_string": "a\nb\n"}, {"old_string": "b", "new_string": "c"}]
    data = desk.data("MultiEdit", path="new.py", edits=edits)
    assert isinstance(data, dict)
    assert (data["wasNewFile"], data["structuredPatch"], data["totalEdits"]) == (True, [], 2)
    assert (desk.root / "new.py").read_text() == "a\nc\n"
    assert desk.data("MultiEdit", path="new.py", edits=edits) == "Error in edit 1: File exists already: new.py"


def test_multi_edit_applies_in_order_each_on_the_result_of_the_last(desk: Desk) -> None:
    path = desk.put("a.py", "one\n")
    edits = [
        {"old_string": "one", "new_string": "two"},
        {"old_string": "two", "new_string": "three three"},
        {"old_string": "three", "new_string": "four", "replace_all": True},
    ]
    output = desk.done("MultiEdit", path="a.py", edits=edits)
    assert path.read_text() == "four four\n"
    assert [edit.occurrences for edit in output.edits_applied] == [1, 1, 2]


def test_long_strings_are_shown_by_their_first_hundred_characters(desk: Desk) -> None:
    desk.put("a.py", "x" * 300 + "\n")
    output = desk.done("MultiEdit", path="a.py", edits=[{"old_string": "x" * 300, "new_string": "y" * 300}])
    assert output.edits_applied[0].old_string == "x" * 100
    assert desk.data("MultiEdit", path="a.py", edits=[{"old_string": "z" * 300, "new_string": ""}]) == (
        "Error in edit 1: String not found: " + "z" * 100 + "..."
    )


def test_results_read_well_in_both_languages(desk: Desk) -> None:
    desk.put("a.py", "a\nb\n")
    outcome = desk.call("Edit", **EDIT)
    zh, en = registry.as_markdown(outcome, "zh"), registry.as_markdown(outcome, "en")
    assert zh.startswith("## 修改已应用: a.py\n\n**路径**: `a.py`\n**变更行数**: +1 -1\n")
    assert en.startswith("## Change applied: a.py\n\n**Path**: `a.py`\n**Lines changed**: +1 -1\n")
    assert "```diff\n@@ -2,1 +2,1 @@\n-b\n+c\n```" in zh
    assert registry.as_object(outcome)["patch"][0]["oldStart"] == 2
    failed = desk.call("Edit", **EDIT)
    assert registry.as_markdown(failed, "zh") == "未找到字符串: b..."


def test_a_missing_file_is_not_found(desk: Desk) -> None:
    assert desk.data("Edit", **EDIT) == "Error: File not found: a.py"


def test_a_protected_path_is_not_written(desk: Desk) -> None:
    assert desk.refused("Replace", path=".git/config", content="x").kind == "protected_path"
