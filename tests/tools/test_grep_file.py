"""`grep_file` as document 1 and the spec README say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.room import Room
from toolwire.settings import Settings
from toolwire.tools import rg
from toolwire.tools.registry import as_markdown, as_object


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def places(room: Room, pattern: str, **arguments: Any) -> list[tuple[str, int]]:
    found = room.done("grep_file", pattern=pattern, **arguments)
    return [(hit.path, hit.line) for hit in found.matches]


def test_a_literal_is_found_in_any_case_unless_case_matters(room: Room) -> None:
    room.put("a.py", "# TODO one\nx = 1\n# todo two (a.b)\n")
    assert places(room, "todo") == [("a.py", 1), ("a.py", 3)]
    assert places(room, "todo", case_sensitive=True) == [("a.py", 3)]
    assert places(room, "(a.b)") == [("a.py", 3)]
    assert places(room, "a.b", regex=False) == [("a.py", 3)]
    assert places(room, r"^x\s*=", regex=True) == [("a.py", 2)]


def test_a_match_has_line_column_text_and_its_surroundings(room: Room) -> None:
    room.put("a.txt", "one\r\ntwo\r\n  ünï needle here\r\nfour\r\n")
    [hit] = room.done("grep_file", pattern="needle", context_lines=1).matches
    assert (hit.line, hit.column, hit.text) == (3, 7, "  ünï needle here")
    assert [(line.line, line.text) for line in (*hit.before, *hit.after)] == [(2, "two"), (4, "four")]


def test_a_file_or_a_folder_can_be_named(room: Room) -> None:
    for name in ("a/x.py", "a/b/y.py", "z.py"):
        room.put(name, "needle\n")
    assert places(room, "needle", relativePath="a") == [("a/b/y.py", 1), ("a/x.py", 1)]
    assert places(room, "needle", relativePath="a/x.py") == [("a/x.py", 1)]
    assert places(room, "needle", path="/a/b/") == [("a/b/y.py", 1)]
    assert as_markdown(room.call("grep_file", pattern="x", path="a/no.py")) == "文件不存在: a/no.py"


def test_matches_come_in_the_order_of_paths_and_the_limit_counts_them(room: Room) -> None:
    for name in ("b/1", "b.txt", "a/2", "c", "a/1"):
        room.put(name, "needle\nneedle\n")
    every = [("a/1", 1), ("a/1", 2), ("a/2", 1), ("a/2", 2), ("b/1", 1), ("b/1", 2), ("b.txt", 1), ("b.txt", 2),
             ("c", 1), ("c", 2)]  # fmt: skip
    for limit in range(1, 12):
        found = room.done("grep_file", pattern="needle", limit=limit)
        assert [(hit.path, hit.line) for hit in found.matches] == every[:limit]
        assert (found.count, found.files, found.truncated) == (min(limit, 10), 5, limit < 10)


def test_the_default_limit_is_twenty_and_there_is_a_highest(tmp_path: Path) -> None:
    room = Room(tmp_path, settings=Settings(grep_max_limit=30))
    room.put("a", "needle\n" * 50)
    assert len(places(room, "needle")) == 20
    assert len(places(room, "needle", limit=10_000)) == 30


def test_more_files_than_one_process_takes_are_all_searched(tmp_path: Path) -> None:
    room = Room(tmp_path)
    for number in range(150):
        room.put(f"f{number:03}", "needle\n")
    found = room.done("grep_file", pattern="needle", limit=140)
    assert [hit.path for hit in found.matches] == [f"f{number:03}" for number in range(140)]
    assert (found.files, found.truncated) == (150, True)


@pytest.mark.parametrize(
    ("file_type", "names"),
    [
        ("all", {"A.java", "a.kt", "b.kts", "c.py", "d.yml", "e.properties", "Dockerfile", "f.tsx"}),
        ("java", {"A.java"}),
        ("Java", {"A.java"}),
        (".java", {"A.java"}),
        ("*.java", {"A.java"}),
        ("kotlin", {"a.kt", "b.kts"}),
        ("Kotlin", {"a.kt", "b.kts"}),
        ("kt", {"a.kt"}),
        ("typescript", {"f.tsx"}),
        ("java,py", {"A.java", "c.py"}),
        ("config", {"d.yml", "e.properties", "Dockerfile"}),
        ("nosuch", set()),
    ],
)
def test_file_type_is_an_extension_a_language_config_or_all(room: Room, file_type: str, names: set[str]) -> None:
    for name in ("A.java", "a.kt", "b.kts", "c.py", "d.yml", "e.properties", "Dockerfile", "f.tsx"):
        room.put(name, "needle")
    assert {path for path, _ in places(room, "needle", file_type=file_type)} == names


def test_a_file_type_no_file_can_have_is_refused(room: Room) -> None:
    assert room.refused("grep_file", pattern="x", file_type="a/b").kind == "unknown_file_type"


def test_ignored_files_are_skipped_without_a_repository_and_below_a_named_folder(room: Room) -> None:
    room.put(".gitignore", "build/\n*.log\n/app/only.txt\napp/**/gen\n!keep.log\n")
    room.put("app/.ignore", "sub/secret.txt\n")
    names = ["build/x", "a.log", "keep.log", "app/only.txt", "app/build/x", "app/sub/secret.txt", "app/sub/gen/x",
             "app/sub/ok.txt", "app/sub/only.txt", "app/sub/b.log"]  # fmt: skip
    for name in names:
        room.put(name, "needle")
    visible = {"keep.log", "app/sub/ok.txt", "app/sub/only.txt"}
    assert {path for path, _ in places(room, "needle")} == visible
    assert {path for path, _ in places(room, "needle", path="app/sub")} == {"app/sub/ok.txt", "app/sub/only.txt"}
    assert {path for path, _ in places(room, "needle", path="app", file_type="txt")} == visible - {"keep.log"}
    assert places(room, "needle", path="a.log") == [("a.log", 1)], "a file asked for by name is searched"


def test_rules_from_outside_the_root_have_no_effect(room: Room) -> None:
    (room.root.parent / ".gitignore").write_text("*\n")
    room.put("a.txt", "needle")
    assert places(room, "needle") == [("a.txt", 1)]


def test_binaries_and_repositories_are_skipped_but_hidden_files_are_not(room: Room) -> None:
    room.put("a.bin", b"needle\0needle\n")
    room.put("late.bin", b"needle\n" + b"x\n" * 10 + b"\0")
    room.put(".git/config", "needle")
    room.put("sub/.hg/store", "needle")
    room.put(".github/workflows/ci.yml", "needle")
    assert places(room, "needle") == [(".github/workflows/ci.yml", 1)]
    assert places(room, "needle", path="a.bin") == []


def test_no_match_is_a_success_that_says_so(room: Room) -> None:
    room.put("a.txt", "x")
    outcome = room.call("grep_file", pattern="needle")
    assert outcome.success
    assert "**匹配数量**: 0" in as_markdown(outcome)
    assert "未找到匹配" in as_markdown(outcome)
    assert "No match" in as_markdown(outcome, "en")
    assert as_object(outcome)["matches"] == []


@pytest.mark.parametrize(
    ("pattern", "position"),
    [("foo(bar", 3), ("a[b", 1), ("x)y", 1), ("*x", 0), ("a{2,1}", 1), ("ab(?<=x)", 2)],
)
def test_a_pattern_that_does_not_compile_says_where(room: Room, pattern: str, position: int) -> None:
    room.put("a.txt", "x")
    for path in (".", "a.txt"):
        error = room.refused("grep_file", pattern=pattern, path=path, regex=True)
        assert error.kind == "bad_pattern"
        assert pattern in error.facts["reason"]
        assert f"(position {position})" in error.facts["reason"]
        assert "(?:" not in error.facts["reason"]
        assert error.field == "pattern"
    assert room.call("grep_file", pattern=pattern, regex=False).success


@pytest.mark.parametrize("pattern", ["a\0b", "\ud800", "x" * 10_001])
def test_a_pattern_that_can_not_be_handed_on_is_refused(room: Room, pattern: str) -> None:
    assert room.refused("grep_file", pattern=pattern).kind in {"bad_pattern", "bad_arguments"}


@pytest.mark.parametrize("pattern", ["-e", "--pre=touch owned", "-f/etc/passwd", "--", "-"])
def test_a_pattern_is_never_read_as_an_option(room: Room, pattern: str) -> None:
    room.put("a.txt", f"before\n{pattern}\n")
    assert places(room, pattern) == [("a.txt", 2)]


def test_wrong_arguments_are_all_named(room: Room) -> None:
    error = room.refused("grep_file", limit=0, regex="yes", context_lines=-1)
    assert error.kind == "bad_arguments"
    assert set(error.facts["fields"]) == {"pattern", "limit", "regex", "context_lines"}


def test_other_encodings_are_searched_too(room: Room) -> None:
    room.put("utf16.txt", "\ufeffпривет, 文件过滤 needle\n".encode("utf-16-le"))
    room.put("gb.java", "class A {\n  // 文件过滤 needle\n}\n".encode("gb18030"))
    room.put("ru.py", "# Привет, мир и всё такое, needle\n".encode("cp1251"))
    room.put("utf8.txt", "文件过滤, ПРИВЕТ\n")
    assert {path for path, _ in places(room, "needle")} == {"utf16.txt", "gb.java", "ru.py"}
    assert {path for path, _ in places(room, "文件过滤")} == {"utf16.txt", "gb.java", "utf8.txt"}
    assert {path for path, _ in places(room, "привет")} == {"utf16.txt", "ru.py", "utf8.txt"}
    texts = {hit.path: (hit.text, hit.column) for hit in room.done("grep_file", pattern="needle").matches}
    assert texts["gb.java"] == ("  // 文件过滤 needle", 11)
    assert texts["ru.py"] == ("# Привет, мир и всё такое, needle", 28)


def test_bytes_that_only_look_like_the_text_in_another_encoding_are_no_match(room: Room) -> None:
    room.put("latin.txt", "des caractères: \u00d6\u00d0\n".encode("cp1252"))
    room.put("utf8.txt", "ÖÐ\n")
    assert places(room, "中") == []


def test_a_pattern_of_several_lines_matches_either_line_end(room: Room) -> None:
    room.put("lf.txt", "a\none\ntwo\nb\n")
    room.put("crlf.txt", "one\r\ntwo\r\n")
    found = room.done("grep_file", pattern="one\ntwo").matches
    assert [(hit.path, hit.line, hit.text) for hit in found] == [
        ("crlf.txt", 1, "one\ntwo"),
        ("lf.txt", 2, "one\ntwo"),
    ]
    assert places(room, r"one\r?\ntwo", regex=True) == [("crlf.txt", 1), ("lf.txt", 2)]
    assert places(room, "two$", regex=True) == [("crlf.txt", 2), ("lf.txt", 3)]


@pytest.mark.parametrize("size", [2_000, 3_000_000])
def test_a_very_long_line_is_cut_around_its_match(room: Room, size: int) -> None:
    room.put("min.js", "first\n" + "x" * size + "needle" + "y" * size + "\nlast\n")
    [hit] = room.done("grep_file", pattern="needle", context_lines=1).matches
    assert (hit.line, hit.column) == (2, size + 1)
    assert "needle" in hit.text
    assert len(hit.text) <= 502
    assert [line.text for line in (*hit.before, *hit.after)] == ["first", "last"]


def test_a_file_in_one_huge_line_does_not_spoil_the_search(tmp_path: Path) -> None:
    if sys.platform != "linux":
        return  # memory of another process can only be bounded there
    room = Room(tmp_path, settings=Settings(grep_memory=48 * 1024 * 1024, grep_lean_bytes=1024 * 1024))
    room.put("huge.json", b"x" * (96 * 1024 * 1024) + b"needle")
    room.put("small.txt", "needle")
    found = room.done("grep_file", pattern="needle")
    assert [hit.path for hit in found.matches] == ["small.txt"]
    assert found.truncated
    assert room.refused("grep_file", pattern="needle", path="huge.json").kind == "search_failed"


def test_markdown_has_the_shape_of_the_documents(room: Room) -> None:
    room.put("core/src/File.java", "a\n// TODO x\nb\nc\nd\n// todo y\n")
    outcome = room.call("grep_file", pattern="TODO", relativePath="core/src/File.java", context_lines=1)
    assert as_markdown(outcome) == (
        "## 文件内容搜索: File.java\n\n**匹配数量**: 2\n**搜索内容**: `TODO`\n**路径**: `core/src/File.java`\n\n"
        "### core/src/File.java\n\n"
        "```java\n  1 | a\n> 2 | // TODO x\n  3 | b\n```\n\n"
        "```java\n  5 | d\n> 6 | // todo y\n```"
    )
    assert as_markdown(outcome, "en").startswith("## File content search: File.java\n\n**Matches**: 2\n")
    whole = as_object(outcome)
    assert whole["content"] == as_markdown(outcome)
    assert whole["matches"][0] == {
        "path": "core/src/File.java", "line": 2, "column": 4, "text": "// TODO x",
        "before": [{"line": 1, "text": "a"}], "after": [{"line": 3, "text": "b"}],
    }  # fmt: skip


def test_the_users_own_configuration_of_rg_is_not_read(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    config = room.outside.parent / "ripgreprc"
    config.write_text("--follow\n--no-ignore\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(config))
    room.put(".gitignore", "a.txt\n")
    room.put("a.txt", "needle")
    assert places(room, "needle") == []


def test_rg_is_the_one_of_the_wheel() -> None:
    version = subprocess.run([rg.program(), "--version"], capture_output=True, text=True, check=True).stdout
    assert version.startswith("ripgrep ")
    assert os.access(rg.program(), os.X_OK)
