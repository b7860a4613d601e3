"""Replacing strings in a file's text, as Edit and MultiEdit do it.

Callers often know a file only with `\\n` at its line ends. Where all lines of a file end alike, strings are looked
for with the file's own line ends, and what is put in gets them too; so the line ends of the file survive. In a file
with mixed line ends only exact strings match, and new ones go in as they are.
"""

from __future__ import annotations

import re

from toolwire.errors import ToolError
from toolwire.tools.places import Places
from toolwire.tools.textfile import Text

_BARE_NEWLINE = re.compile(r"(?<!\r)\n")


def substitute(places: Places, file: Text, old: str, new: str, *, replace_all: bool, excerpt: int) -> int:
    """Put `new` in place of `old`; how often. ToolError if `old` is not there, or there more than once.

    An empty `old` fills an empty text.
    """
    if old == new:
        raise ToolError("same_strings")
    if not old:
        if places.text:
            raise ToolError("empty_old_string")
        places.replace([(0, 0)], new)
        return 1
    wanted = adapted(file, old, lenient=True)
    spans = places.find(wanted)
    if not spans and wanted != old:
        wanted = old
        spans = places.find(old)
    if not spans:
        raise ToolError("string_not_found", string=old[:excerpt])
    if len(spans) > 1 and not replace_all:
        raise ToolError("string_repeated", string=old[:excerpt], count=len(spans))
    places.replace(spans, adapted(file, new, lenient=wanted != old))
    return len(spans)


def adapted(file: Text, string: str, *, lenient: bool = False) -> str:
    """A caller's string with the file's line ends.

    In a file of plain `\\n` a `\\r\\n` stays, unless the caller is known to mean the file's line ends (`lenient`).
    """
    if file.mixed_newlines or "\n" not in string:
        return string
    if file.newline == "\n":
        return string.replace("\r\n", "\n") if lenient and "\n" in file.text else string
    if file.newline == "\r":
        return string.replace("\r\n", "\r").replace("\n", "\r")
    return _BARE_NEWLINE.sub("\r\n", string)
