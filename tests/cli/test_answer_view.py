from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from toolwire.cli.answer_view import Blocks, MarkdownView, PlainView
from toolwire.cli.screen import call_line

LINES = st.sampled_from(["", "text", "- item", "```", "```python", "~~~", "    indented", "  ", "# head", "x\ty"])
TEXTS = st.lists(LINES, max_size=30).map("\n".join)


def cut(text: str, sizes: list[int]) -> list[str]:
    pieces = []
    for size in sizes:
        pieces.append(text[:size])
        text = text[size:]
    return [*pieces, text]


@given(TEXTS, st.lists(st.integers(1, 7), max_size=40))
def test_blocks_do_not_depend_on_how_the_text_came_in(text: str, sizes: list[int]) -> None:
    whole, by_pieces = Blocks(), Blocks()
    expected = [*whole.feed(text), whole.finish()]
    found: list[str] = []
    for piece in cut(text, sizes):
        found += by_pieces.feed(piece)
    assert [*found, by_pieces.finish()] == expected


@given(TEXTS)
def test_no_line_with_anything_on_it_is_lost(text: str) -> None:
    blocks = Blocks()
    found = [*blocks.feed(text), blocks.finish()]
    kept = [line for block in found for line in block.split("\n") if line.strip()]
    assert kept == [line for line in text.split("\n") if line.strip()]


def test_fenced_code_is_never_cut() -> None:
    blocks = Blocks()
    assert blocks.feed("before\n\n```\na\n\nb\n") == ["before"]
    assert blocks.feed("```\n\nafter") == ["```\na\n\nb\n```"]
    assert blocks.finish() == "after"


def test_runs_are_a_blank_line_apart_and_notes_stay_off_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    view = PlainView()
    for text in ("one ", "two", ""):
        view.piece(text)
    view.end_run()
    view.note("→ a call")
    view.end_run()
    view.piece("three\n")
    view.end_run()
    shown = capsys.readouterr()
    assert shown.out == "one two\n\nthree\n"
    assert shown.err == "→ a call\n"


def test_on_a_terminal_each_block_is_printed_once() -> None:
    file = io.StringIO()
    view = MarkdownView(Console(file=file, force_terminal=True, width=60, color_system=None, legacy_windows=False))
    view.progress("thinking")
    for piece in ("first para", "graph\n", "\nsecond ", "paragraph"):
        view.piece(piece)
    view.note("→ a call")
    view.end_run()
    lasting = _without_redrawn(file.getvalue())
    assert lasting.count("first paragraph") == 1
    assert lasting.count("second paragraph") == 1
    assert lasting.index("first paragraph") < lasting.index("→ a call")


def test_what_is_said_can_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    file = io.StringIO()
    view = MarkdownView(Console(file=file, width=60, color_system=None))
    for text in ("\x1b]0;owned\x07hello\r\x9b2J", "\x08\x1b[2Jthere"):
        view.piece(text)
    view.end_run()
    PlainView().note("\x1b[2Jnote")
    PlainView().note(call_line("to\x1bol", {"a\x1b": "\x9b\x1b"}))
    shown = file.getvalue() + capsys.readouterr().err
    assert not set(shown) & {"\x1b", "\x07", "\x08", "\x9b", "\r"}


def _without_redrawn(text: str) -> str:
    """What stays on the screen: a line that is erased later (`ESC [2K`) does not."""
    lines: list[str] = [""]
    row = 0
    position = 0
    while position < len(text):
        if text.startswith("\x1b[", position):
            end = position + 2
            while not text[end].isalpha():
                end += 1
            amount, kind = text[position + 2 : end], text[end]
            if kind == "A":
                row -= int(amount or 1)
            elif kind == "K":
                lines[row] = ""
            position = end + 1
            continue
        sign = text[position]
        if sign == "\n":
            row += 1
            if row == len(lines):
                lines.append("")
        elif sign != "\r":
            lines[row] += sign
        position += 1
    return "\n".join(lines)
