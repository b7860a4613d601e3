"""Where in a JSON text a value stands, so that an error in a hand-written file can name its line."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_decoder = json.JSONDecoder()
_space = re.compile(r"[ \t\n\r]*")


def line_of(text: str, path: Sequence[str | int]) -> int:
    """The line (from 1) of the value at `path`, or of the innermost value on the way that exists.

    `text` must be valid JSON.
    """
    at = _skip(text, 0)
    for step in path:
        inner = _member(text, at, step) if isinstance(step, str) else _item(text, at, step)
        if inner is None:
            break
        at = inner
    return text.count("\n", 0, at) + 1


def _member(text: str, at: int, name: str) -> int | None:
    """Where the value of a name begins in the object at `at`."""
    if text[at] != "{":
        return None
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _decoder.raw_decode(text, at)
        value = _skip(text, _skip(text, at) + 1)
        if key == name:
            return value
        at = _after(text, value)
    return None


def _item(text: str, at: int, index: int) -> int | None:
    """Where an item of the array at `at` begins."""
    if text[at] != "[":
        return None
    at = _skip(text, at + 1)
    while text[at] != "]":
        if index == 0:
            return at
        index -= 1
        at = _after(text, at)
    return None


def _after(text: str, at: int) -> int:
    """Past the value at `at`, and past a comma behind it."""
    _, end = _decoder.raw_decode(text, at)
    end = _skip(text, end)
    return _skip(text, end + 1) if text[end] == "," else end


def _skip(text: str, at: int) -> int:
    found = _space.match(text, at)
    return found.end() if found else at
