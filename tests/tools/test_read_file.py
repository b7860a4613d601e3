"""`read_file` as document 1 and the spec README say: ranges, centring, cutting, and what the session has seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.room import Room
from toolwire.settings import Settings
from toolwire.tools import large_file
from toolwire.tools.registry import as_markdown, as_object
from toolwire.tools.textfile import content_hash

TEN = "".join(f"line {number}\n" for number in range(1, 11))


@pytest.fixture
def room(tmp_path: Path) -> Room:
    room = Room(tmp_path)
    room.put("src/File.java", TEN)
    return room


@pytest.mark.parametrize(
    ("arguments", "first", "last"),
    [
        ({}, 1, 10),
        ({"start_line": 3}, 3, 10),
        ({"end_line": 4}, 1, 4),
        ({"start_line": 3, "end_line": 5}, 3, 5),
        ({"start_line": 10, "end_line": 99}, 10, 10),
        ({"line": 5, "context_lines": 2}, 3, 7),
        ({"line": 1, "context_lines": 2}, 1, 3),
        ({"line": 10, "context_lines": 0}, 10, 10),
        ({"line": 5}, 1, 10),
        ({"line": 9, "start_line": 2, "end_line": 2}, 2, 2),
        ({"start_line": None, "end_line": None, "line": None, "context_lines": None}, 1, 10),
    ],
)
def test_ranges_are_inclusive_and_each_end_is_optional(
    room: Room, arguments: dict[str, int | None], first: int, last: int
) -> None:
    found = room.done("read_file", relativePath="src/File.java", **arguments)
    assert (found.start_line, found.end_line, found.total_lines) == (first, last, 10)
    assert found.content == "".join(TEN.splitlines(keepends=True)[first - 1 : last])
    assert not found.truncated


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"start_line": 11}, "line_out_of_range"),
        ({"line": 11}, "line_out_of_range"),
        ({"start_line": 5, "end_line": 4}, "bad_line_range"),
        ({"start_line": 0}, "bad_arguments"),
        ({"line": "5"}, "bad_arguments"),
        ({"line": True}, "bad_arguments"),
        ({"context_lines": -1}, "bad_arguments"),
    ],
)
def test_a_range_that_makes_no_sense_is_refused(room: Room, arguments: dict[str, int], kind: str) -> None:
    assert room.refused("read_file", relativePath="src/File.java", **arguments).kind == kind


def test_the_default_around_a_line_is_twenty(room: Room) -> None:
    room.put("long", "x\n" * 100)
    found = room.done("read_file", path="long", line=50)
    assert (found.start_line, found.end_line) == (30, 70)


def test_an_empty_file_has_no_lines(room: Room) -> None:
    room.put("empty", "")
    for arguments in ({}, {"start_line": 1}, {"line": 1}):
        found = room.done("read_file", path="empty", **arguments)
        assert (found.content, found.start_line, found.end_line, found.total_lines) == ("", 1, 0, 0)
    assert "（空文件）" in as_markdown(room.call("read_file", path="empty"))
    assert as_object(room.call("read_file", path="empty"))["content"] == ""


def test_a_file_without_a_final_newline_is_given_without_one(room: Room) -> None:
    room.put("f", "a\r\nb")
    found = room.done("read_file", path="f")
    assert (found.content, found.total_lines, found.newline) == ("a\r\nb", 2, "crlf")
    assert room.done("read_file", path="f", end_line=1).content == "a\r\n"


def test_a_long_file_is_cut_and_says_how_to_go_on_until_it_is_read(tmp_path: Path) -> None:
    room = Room(tmp_path, settings=Settings(read_max_lines=4))
    room.put("f", TEN)
    first = room.call("read_file", path="f")
    assert "start_line=5" in as_markdown(first).splitlines()[-1]
    assert "start_line=5" in as_markdown(first, "en").splitlines()[-1]
    content, start = "", 1
    while start is not None:
        piece = room.done("read_file", path="f", start_line=start)
        content += piece.content
        start = piece.next_start_line
    assert content == TEN


@pytest.mark.parametrize(
    "data",
    [
        TEN.encode(),
        TEN.rstrip("\n").encode(),
        TEN.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + TEN.encode(),
        "\ufeff".encode("utf-16-le") + TEN.encode("utf-16-le"),
        ("\n" * 9 + "end").encode(),
        b"one line",
        "中文\n".encode("gb18030") * 12,
    ],
)
@pytest.mark.parametrize("most_lines", [3, 100])
@pytest.mark.parametrize("most_chars", [24, 100_000])
def test_a_file_too_large_to_hold_is_read_in_lines_just_as_a_small_one(
    tmp_path: Path, data: bytes, most_lines: int, most_chars: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_file, "PIECE", 64)
    limits: dict[str, Any] = {"read_max_lines": most_lines, "result_limit": most_chars * 4 // 3}
    for name in ("small", "large"):
        (tmp_path / name).mkdir()
    small = Room(tmp_path / "small", settings=Settings(**limits))
    large = Room(tmp_path / "large", settings=Settings(read_max_bytes=5, **limits))
    for room in (small, large):
        room.put("f", data)
    questions: tuple[dict[str, Any], ...] = (
        {},
        {"start_line": 4},
        {"end_line": 2},
        {"start_line": 3, "end_line": 8},
        {"line": 5, "context_lines": 1},
        {"line": 10},
        {"start_line": 11},
        {"line": 99},
    )
    for asked in questions:
        first, second = (room.call("read_file", path="f", **asked) for room in (small, large))
        assert first.success == second.success
        if first.error is not None and second.error is not None:
            assert (first.error.kind, first.error.facts) == (second.error.kind, second.error.facts)
        else:
            assert first.output == second.output, asked


def test_of_a_huge_line_as_much_is_given_as_goes_out_at_once(tmp_path: Path) -> None:
    room = Room(tmp_path, settings=Settings(read_max_bytes=10, result_limit=100))
    room.put("f", "x" * 500 + "\nend\n")
    found = room.done("read_file", path="f")
    assert (found.content, found.end_line, found.next_start_line) == ("x" * 75 + "\n", 1, 2)
    assert room.refused("Edit", path="f", old_string="end", new_string="x").kind == "file_too_large"


def test_the_session_has_seen_the_whole_file_even_if_a_part_was_read(room: Room) -> None:
    found = room.done("read_file", path="/src/File.java", start_line=2, end_line=3)
    assert room.seen.digest("src/File.java") == found.hash == content_hash(TEN.encode())


def test_other_encodings_are_read_as_text_and_named(room: Room) -> None:
    room.put("u16", "\ufeff中文\r\n".encode("utf-16-le"))
    room.put("bom", b"\xef\xbb\xbfx\n")
    room.put("gb", "// 文件过滤\n".encode("gb18030"))
    assert [
        (found.content, found.encoding)
        for found in (room.done("read_file", path=name) for name in ("u16", "bom", "gb"))
    ] == [("中文\r\n", "utf-16-le"), ("x\n", "utf-8-sig"), ("// 文件过滤\n", "gb18030")]


def test_what_can_not_be_read_is_said_in_the_documents_words(room: Room) -> None:
    room.put("bin", b"\0\1")
    missing = room.call("read_file", relativePath="core/src/File.java")
    assert as_markdown(missing) == "文件不存在: core/src/File.java"
    assert as_markdown(missing, "en") == "File not found: core/src/File.java"
    assert room.refused("read_file", path="bin").kind == "binary_file"
    assert room.refused("read_file").facts["fields"].keys() == {"path"}


def test_markdown_shows_numbered_lines_and_marks_the_centre(room: Room) -> None:
    text = as_markdown(room.call("read_file", path="src/File.java", line=9, context_lines=1))
    assert text == (
        "## 文件内容: File.java\n\n**路径**: `src/File.java`\n**行范围**: 8-10 / 10\n**编码**: utf-8, lf\n\n"
        "```java\n   8 | line 8\n>  9 | line 9\n  10 | line 10\n```"
    )


def test_a_fence_inside_the_file_does_not_end_the_block(room: Room) -> None:
    room.put("doc.md", "```\ncode\n````\n")
    text = as_markdown(room.call("read_file", path="doc.md"))
    assert "\n`````markdown\n" in text
    assert text.endswith("\n`````")


def test_the_object_has_the_plain_text_and_the_typed_fields(room: Room) -> None:
    whole = as_object(room.call("read_file", path="main.py"))
    assert whole == {"error": "文件不存在: main.py"}
    room.put("main.py", "// file content here")
    assert as_object(room.call("read_file", path="/main.py")) == {
        "content": "// file content here",
        "path": "main.py",
        "start_line": 1,
        "end_line": 1,
        "total_lines": 1,
        "truncated": False,
        "encoding": "utf-8",
        "newline": "lf",
        "size": 20,
        "hash": content_hash(b"// file content here"),
    }
