"""Pulling paths, line numbers and lines out of Markdown or plain text.

Understands our own results in Chinese and English (`### path`, then `  12 | text` in a code block), grep's
`path:12: text`, and what other plugins commonly write: headings or `**路径**` lines with a path, `L12`, `第 12 行`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PATHLIKE = r"(?:[A-Za-z]:)?[\w@+~.()\[\]/\\-]*[\w)\]/\\-]\.[A-Za-z][A-Za-z0-9]{0,9}"
_PLACE = re.compile(
    rf"`?({_PATHLIKE})`?(?::|#L|\s*\((?:lines?|第|строка)\s*|\s*第\s*)(\d+)(?:行)?(?:[:,-]\d+)?\)?[:\s`-]*(.*)"
)
_HEADING = re.compile(r"^#{1,6}\s+(.*)$")
_FACT = re.compile(r"^\s*(?:[-*]\s+)?\*\*([^*]{1,20})\*\*\s*[:：]\s*(.*)$")
_NUMBERED = re.compile(
    r"^\s*([>*→»]\s*)?(?:[-*]\s+)?(?:L|line |第\s*|行\s*|строка )?(\d{1,7})(?:\s*行)?(?:\s*[|│:：\t]|\s*-\s)\s?(.*)$",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_TRUNCATED = re.compile(r"truncated|only the first|还有更多|已截断|结果过多|показаны первые", re.IGNORECASE)
_FILES = re.compile(r"\*\*(?:匹配文件数|Files with matches)\*\*\s*[:：]\s*(\d+)")
_NAME = re.compile(r"^\s*(?:[-*├└│─|+\s]|📁|📄|\[[DF]\])*`?([\w@+~.-][\w@+~. /-]*?/?)`?(?:\s+[(（—-].*|\s{2,}.*)?$")
LONGEST_LINE = 600
"""Characters of a line that are looked at: some lines are whole programs."""
PATH_FACTS = frozenset({"路径", "path", "文件", "file", "文件路径", "相对路径", "путь", "файл", "file path"})


@dataclass(frozen=True, slots=True)
class Text:
    places: list[tuple[str, int, str]]
    """Path, line number, line."""
    files: int
    truncated: bool
    block: str | None
    """The first code block, as it is."""
    names: list[str]
    """What looks like entries of a folder."""
    path: str
    """The file it is about, as far as it says."""


def read_text(text: str, path: str = "") -> Text:
    """`path` is the file it is about, if that is known."""
    reader = _Reader(path)
    for line in text.split("\n"):
        reader.take(line[:LONGEST_LINE].rstrip("\r"))
    told = _FILES.search(text)
    return Text(
        reader.places(),
        int(told[1]) if told else 0,
        _TRUNCATED.search(text) is not None,
        None if reader.block is None else "\n".join(reader.block),
        reader.names,
        reader.path,
    )


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path
        self.given = bool(path)
        self.fence = ""
        self.block: list[str] | None = None
        self.first_block = False
        self.names: list[str] = []
        self._folders: list[tuple[int, str]] = []
        """Folders of a listing that the next line may be inside of, with their indentation."""
        self._numbered: list[tuple[str, int, str, bool]] = []
        self._placed: list[tuple[str, int, str]] = []

    def take(self, line: str) -> None:
        if self._take_fence(line):
            return
        if self.fence and self.first_block and self.block is not None:
            self.block.append(line)
        if not self.fence and (self._take_heading(line) or self._take_fact(line)):
            return
        if not self._take_numbered(line) and not self._take_place(line):
            self._take_name(line)

    def places(self) -> list[tuple[str, int, str]]:
        """Numbered lines (only the marked ones, if any are marked: the others are their surroundings) and places."""
        marked = any(mark for *_, mark in self._numbered)
        numbered = [(path, line, text) for path, line, text, mark in self._numbered if mark or not marked]
        return [*numbered, *self._placed]

    def _take_fence(self, line: str) -> bool:
        found = _FENCE.match(line)
        if found is None:
            return False
        if not self.fence:
            self.fence = found[1]
            self.first_block = self.block is None
            if self.first_block:
                self.block = []
            return True
        if line.strip() == self.fence:
            self.fence = ""
            return True
        return False

    def _take_heading(self, line: str) -> bool:
        heading = _HEADING.match(line)
        if heading is None:
            return False
        if not self._take_place(heading[1]):
            found = re.search(_PATHLIKE, heading[1])
            if found and not self.given:
                self.path = found[0]
        return True

    def _take_fact(self, line: str) -> bool:
        fact = _FACT.match(line)
        if fact is None:
            return False
        if fact[1].strip().lower() in PATH_FACTS and not self.given:
            self.path = fact[2].strip().strip("`") or self.path
        return True

    def _take_numbered(self, line: str) -> bool:
        found = _NUMBERED.match(line)
        if found is None or not self.path:
            return False
        self._numbered.append((self.path, int(found[2]), found[3], bool(found[1])))
        return True

    def _take_name(self, line: str) -> None:
        """An entry of a listing; one that is indented is inside the folder above it."""
        found = _NAME.match(line)
        if found is None:
            return
        indent = len(line) - len(line.lstrip())
        while self._folders and self._folders[-1][0] >= indent:
            self._folders.pop()
        name = (self._folders[-1][1] if self._folders else "") + found[1]
        self.names.append(name)
        if name.endswith("/"):
            self._folders.append((indent, name))

    def _take_place(self, line: str) -> bool:
        found = _PLACE.search(line)
        if found is None:
            return False
        self._placed.append((found[1], int(found[2]), found[3].strip()))
        return True
