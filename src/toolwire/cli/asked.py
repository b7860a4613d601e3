"""What a person is asked to allow, as lines for a terminal: a change of a file as a diff, anything else name by name.

Characters that can't be seen, or that turn the text around them, are shown by their number: what is approved must be
what is read.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.text import Text

from toolwire.tools.diff import blocks

PATHS: Final = ("path", "file_path", "relativePath", "notebook_path")
PAIRS: Final = (
    ("old_string", "new_string"),
    ("searchContent", "replaceContent"),
    ("search_content", "replace_content"),
)
WHOLE: Final = ("content", "new_source")
STYLES: Final = {"-": "red", "+": "green", " ": "", "\\": "dim"}
UNSEEN: Final = frozenset("\u034f\u115f\u1160\u3164\uffa0\u2028\u2029") | {
    chr(code) for code in range(0xFE00, 0xFE10)
}
INDENT: Final = "  "


def asked_lines(arguments: Mapping[str, Any]) -> list[Text]:
    """All of them, whatever their number; every argument is in them."""
    return [Text(INDENT).append_text(line) for line in _lines(arguments)]


def visible(text: str) -> str:
    """One line or several of it, with nothing hidden."""
    return "".join(_shown(character) for character in text)


def _lines(arguments: Mapping[str, Any]) -> Iterator[Text]:
    path = next((name for name in PATHS if isinstance(arguments.get(name), str)), None)
    used = set() if path is None else set(_change(arguments))
    if path is not None and used:
        used.add(path)
        yield Text(visible(arguments[path]), style="bold")
        yield from _edits(arguments)
    for name, value in arguments.items():
        if name not in used:
            yield from _value(name, value)
    if not arguments:
        yield Text("no arguments", style="dim")


def _change(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the arguments that say what changes; none if nothing does."""
    edits = arguments.get("edits")
    if isinstance(edits, list) and edits and all(isinstance(edit, dict) and _pair(edit) for edit in edits):
        return ("edits",)
    if pair := _pair(arguments):
        return pair
    return next(((name,) for name in WHOLE if isinstance(arguments.get(name), str)), ())


def _pair(value: Mapping[str, Any]) -> tuple[str, str] | None:
    for before, after in PAIRS:
        if isinstance(value.get(after), str) and isinstance(value.get(before), str | None):
            return before, after
    return None


def _edits(arguments: Mapping[str, Any]) -> Iterator[Text]:
    names = _change(arguments)
    if names == ("edits",):
        for edit in arguments["edits"]:
            yield from _edits(edit)
            yield from (line for name in edit if name not in _change(edit) for line in _value(name, edit[name]))
    elif len(names) == 1:
        yield from _whole(arguments[names[0]])
    else:
        yield from _diff(arguments.get(names[0]) or "", arguments[names[1]])


def _diff(before: str, after: str) -> Iterator[Text]:
    old, new = (text.split("\n") if text else [] for text in (before, after))
    at = 0
    for block in blocks(old, new):
        yield from (_row(" ", line) for line in old[at : block.old_start])
        yield from (_row("-", line) for line in old[block.old_start : block.old_end])
        yield from (_row("+", line) for line in new[block.new_start : block.new_end])
        at = block.old_end
    yield from (_row(" ", line) for line in old[at:])


def _whole(text: str) -> Iterator[Text]:
    """All of a file's new text; that its last line has no end is worth a line, as in any patch."""
    lines = text.split("\n")
    ended = lines[-1] == ""
    yield from (_row("+", line) for line in lines[: len(lines) - ended])
    if not ended:
        yield _row("\\", "No newline at end of file")


def _row(mark: str, line: str) -> Text:
    return Text(f"{mark} {visible(line)}", style=STYLES[mark])


def _value(name: str, value: Any) -> Iterator[Text]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    first, *rest = visible(text).split("\n")
    yield Text(f"{visible(name)}: ", style="dim").append(first, style="not dim")
    yield from (Text(f"{INDENT}{line}") for line in rest)


def _shown(character: str) -> str:
    if character in "\n\t":
        return character
    if character in UNSEEN or unicodedata.category(character).startswith("C"):
        return f"<U+{ord(character):04X}>"
    return character
