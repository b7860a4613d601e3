"""A caller's pattern as arguments of rg, and rg's complaint about one as a tool error.

A literal with non-ASCII characters is also looked for in the bytes that GB18030 and Windows-1251 have for it: many
Chinese and Russian sources are still in those.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolwire.errors import ToolError
from toolwire.settings import Settings

LEGACY = ("gb18030", "cp1251")
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$#&~-]")
_LINE_END = re.compile(r"\r?\n")
_WRAPPED = "(?:"
_MARK = re.compile(r"^    \(\?:(.*)\)\n    ( *)\^", re.MULTILINE)
_SAID = re.compile(r"^error: (.*)", re.MULTILINE)
_ESCAPED_LINE_END = re.compile(r"(?<!\\)(?:\\\\)*\\n")


@dataclass(frozen=True, slots=True)
class Pattern:
    text: str
    regex: bool = False
    case_sensitive: bool = False

    @property
    def many_lines(self) -> bool:
        return "\n" in self.text or (self.regex and _ESCAPED_LINE_END.search(self.text) is not None)

    @property
    def legacy(self) -> bool:
        """True if lines of other encodings may match too, by their bytes, and must be looked at again decoded."""
        return not self.regex and not self.text.isascii() and not self.many_lines

    def arguments(self, settings: Settings) -> list[str]:
        size = str(settings.grep_regex_bytes)
        found = ["--regex-size-limit", size, "--dfa-size-limit", size]
        found.append("--case-sensitive" if self.case_sensitive else "--ignore-case")
        if self.regex:
            found.append("--crlf")
        if self.many_lines:
            found.append("--multiline")
        for expression in self._expressions():
            found += ["--regexp", expression]
        return found if self.regex or self.legacy or self.many_lines else [*found, "--fixed-strings"]

    def _expressions(self) -> list[str]:
        if self.regex:
            return [self.text]
        if self.many_lines:
            return [r"\r?\n".join(_literal(line) for line in _LINE_END.split(self.text))]
        if not self.legacy:
            return [self.text]
        others = (_bytes_of(self.text, encoding, self.case_sensitive) for encoding in LEGACY)
        return [_literal(self.text), *(found for found in others if found is not None)]

    def check(self, settings: Settings) -> None:
        """What can't be handed to a program at all."""
        if len(self.text) > settings.grep_pattern_chars:
            raise self.refused(f"longer than {settings.grep_pattern_chars} characters")
        if "\0" in self.text or any("\ud800" <= char <= "\udfff" for char in self.text):
            raise self.refused("NUL or lone surrogate")

    def found_in(self, line: str) -> bool:
        """Of a literal: whether a decoded line really has it."""
        if self.case_sensitive:
            return self.text in line
        return self.text.casefold() in line.casefold()

    def refused(self, reason: str) -> ToolError:
        return ToolError("bad_pattern", field="pattern", pattern=_shown(self.text), reason=reason)

    def explained(self, complaint: str) -> ToolError:
        """rg's complaint, with the place in the pattern as the caller wrote it (rg wraps it before it parses it)."""
        said = _SAID.search(complaint)
        reason = said[1] if said else complaint.splitlines()[0]
        position = self._position(complaint)
        if position is None:
            return self.refused(reason)
        shown = f"\n    {self.text}\n    {' ' * position}^" if "\n" not in self.text else ""
        return self.refused(f"{reason} (position {position}){shown}")

    def _position(self, complaint: str) -> int | None:
        """Where rg put its mark; where that is in its own wrapping, what Python's parser says."""
        mark = _MARK.search(complaint)
        if mark and mark[1] == self.text and 0 <= len(mark[2]) - len(_WRAPPED) < len(self.text):
            return len(mark[2]) - len(_WRAPPED)
        try:
            re.compile(self.text)
        except re.error as error:
            return error.pos
        except (OverflowError, RecursionError):
            pass
        return None


def _shown(text: str) -> str:
    cut = text if len(text) <= 200 else text[:200] + "…"
    return cut.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def _literal(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _bytes_of(text: str, encoding: str, case_sensitive: bool) -> str | None:
    """An expression for the bytes of a text, each letter in either case unless case matters."""
    try:
        letters = [
            dict.fromkeys(form.encode(encoding) for form in ((char,) if case_sensitive else _cases(char)))
            for char in text
        ]
    except UnicodeEncodeError:
        return None
    return "(?-u:" + "".join(_either(forms) for forms in letters) + ")"


def _cases(char: str) -> tuple[str, ...]:
    return (char, *(form for form in (char.lower(), char.upper()) if len(form) == 1))


def _either(forms: dict[bytes, None]) -> str:
    spelled = ["".join(f"\\x{byte:02x}" for byte in form) for form in forms]
    return spelled[0] if len(spelled) == 1 else f"(?:{'|'.join(spelled)})"
