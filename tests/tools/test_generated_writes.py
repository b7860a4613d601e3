"""Generated edits: encodings × line ends × final newline × Unicode × sizes. Old text + patch = new text, always."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.desk import Desk
from toolwire.tools.patch import Hunk, apply
from toolwire.tools.textfile import decode

# Each with an alphabet it can write, and a sentence long enough to be recognised by.
ENCODINGS = {
    "utf-8": ("aé世𝄞-", ""),
    "utf-8-sig": ("aé世𝄞-", ""),
    "utf-16": ("aé世𝄞-", ""),
    "cp1251": (
        "aбя-",
        "Съешь ещё этих мягких французских булок, да выпей же чаю. Быстрая проверка кодировки.",
    ),
    "gb18030": ("a世界-", "我们今天去北京参加一个关于软件开发的会议，会议内容非常丰富，大家都学到了很多新的知识。"),
}
CASES = st.sampled_from(list(itertools.product(ENCODINGS, ["\n", "\r\n"], [True, False])))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("writes")


@st.composite
def _texts(draw: st.DrawFn) -> tuple[str, str, str, str, str]:
    """(encoding, line end, head, target, tail): the target occurs once, between head and tail."""
    encoding, newline, final = draw(CASES)
    alphabet, sentence = ENCODINGS[encoding]
    lines = st.lists(st.text(alphabet=alphabet, max_size=6), max_size=draw(st.sampled_from([2, 30])))
    head = newline.join([sentence, *draw(lines), ""])
    tail = newline.join(["", *draw(lines)]) + (newline if final else "")
    return encoding, newline, head, "TARGET", tail


def _as_sent(hunks: tuple[Hunk, ...]) -> list[Hunk]:
    """Through JSON and back, as a peer gets them."""
    return [Hunk.model_validate_json(hunk.model_dump_json(by_alias=True)) for hunk in hunks]


_numbers = itertools.count()


@given(_texts(), st.lists(st.text(alphabet="xyz", max_size=3), min_size=1, max_size=4), st.booleans())
@settings(max_examples=80, deadline=None)
def test_old_and_patch_give_new_and_untouched_bytes_are_identical(
    folder: Path, parts: tuple[str, str, str, str, str], new_lines: list[str], multi: bool
) -> None:
    encoding, newline, head, target, tail = parts
    place = folder / str(next(_numbers))
    place.mkdir()
    desk = Desk(place)
    before = (head + target + tail).encode(encoding)
    path = desk.put("f.txt", before)
    asked = {"old_string": target, "new_string": "\n".join(new_lines)}
    if multi:
        output = desk.done("MultiEdit", path="f.txt", edits=[asked])
    else:
        output = desk.done("Edit", path="f.txt", **asked)
    after = path.read_bytes()
    assert after == (head + newline.join(new_lines) + tail).encode(encoding)
    read = decode(before)
    assert read.encode(apply(read.text, _as_sent(output.patch))) == after
    text = head + target + tail
    if read.text != text:
        return  # nobody could tell the encoding: every byte survives, but what is written anew can't be in it
    desk.put("f.txt", before)
    output = desk.done("Replace", path="f.txt", content=text.replace(target, "x\ny").replace("\r\n", "\n"))
    assert path.read_bytes() == text.replace(target, f"x{newline}y").encode(encoding)
    assert apply(text, _as_sent(output.patch)) == text.replace(target, f"x{newline}y")


@pytest.mark.parametrize("lines", [1, 1_000, 50_000])
def test_sizes_make_no_difference(tmp_path: Path, lines: int) -> None:
    desk = Desk(tmp_path)
    before = "".join(f"line {number}\r\n" for number in range(lines)) + "end"
    path = desk.put("f.txt", before)
    output = desk.done("Edit", path="f.txt", old_string="end", new_string="the\nend\n")
    assert path.read_bytes().decode() == before[:-3] + "the\r\nend\r\n"
    assert apply(before, output.patch) == path.read_bytes().decode()
    assert len(output.patch) == 1
