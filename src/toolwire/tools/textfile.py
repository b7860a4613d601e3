"""A text file as it is: its characters, and all that must survive an edit (encoding, byte-order mark, line endings).

`decode` promises that encoding the same text again gives the same bytes, so what an edit does not touch stays
identical. Line ends are left in the text: `\\r\\n` is two characters of it.
"""

from __future__ import annotations

import codecs
import hashlib
from dataclasses import dataclass
from typing import Literal

from toolwire.errors import ToolError
from toolwire.tools import charset

Newline = Literal["\n", "\r\n", "\r"]

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with that one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def content_hash(data: bytes) -> str:
    """SHA-256 of a whole file's bytes: what `Seen`, patches and `expected_hash` speak of."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    encoding: str = "utf-8"
    bom: bytes = b""

    @property
    def newline(self) -> Newline:
        """How most lines end; `\\n` for a file without any line end."""
        pairs = self.text.count("\r\n")
        feeds = self.text.count("\n") - pairs
        returns = self.text.count("\r") - pairs
        if pairs > feeds and pairs >= returns:
            return "\r\n"
        return "\r" if returns > feeds else "\n"

    @property
    def mixed_newlines(self) -> bool:
        pairs = self.text.count("\r\n")
        kinds = (pairs, self.text.count("\n") - pairs, self.text.count("\r") - pairs)
        return sum(count > 0 for count in kinds) > 1

    def with_newlines(self, text: str) -> str:
        """A caller's text, whatever its line ends, with the line ends of this file."""
        plain = text.replace("\r\n", "\n").replace("\r", "\n")
        return plain if self.newline == "\n" else plain.replace("\n", self.newline)

    def encode(self, text: str, path: str = "") -> bytes:
        """The bytes of a file of this kind with that text; ToolError if the encoding lacks a character."""
        try:
            return self.bom + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            char = error.object[error.start]
            shown = f"{char!r} (U+{ord(char):04X})"
            raise ToolError("not_encodable", path=path, encoding=self.encoding, char=shown) from None


def decode(data: bytes, path: str = "") -> Text:
    """The text of these bytes; ToolError `binary_file` if they are none."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            marked = _exact(data, encoding, mark)
            if marked is not None:
                return marked
    if b"\0" not in data:
        plain = _exact(data, "utf-8", b"")
        if plain is not None:
            return plain
        for encoding in charset.candidates(data):
            guessed = _exact(data, encoding, b"")
            if guessed is not None:
                return guessed
    raise ToolError("binary_file", path=path)


def decode_beginning(data: bytes, path: str = "") -> Text:
    """The text of a file's first bytes, which may end within a character."""
    for mark, encoding in (*_MARKS, (b"", "utf-8")):
        if data.startswith(mark) and (mark or b"\0" not in data):
            try:
                text = codecs.getincrementaldecoder(encoding)().decode(data[len(mark) :])
            except UnicodeDecodeError:
                continue
            return Text(text, encoding, mark)
    return decode(data[: data.rfind(b"\n") + 1 or len(data)], path)


def _exact(data: bytes, encoding: str, mark: bytes) -> Text | None:
    """The text, if it is one and gives these very bytes back."""
    try:
        text = data[len(mark) :].decode(encoding)
        again = text.encode(encoding)
    except UnicodeError:
        return None
    return Text(text, encoding, mark) if data == mark + again else None
