"""Which paths of a workspace no tool may write: repositories' metadata, and files that make an IDE or agent run code.

A pattern is a name or several names joined by `/`, each with `*` and `?` allowed; it protects whatever it matches,
anywhere in the tree, and everything beneath. Spellings that some file system takes for the same name are treated so.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from fnmatch import fnmatchcase

_SHORT_NAMES = {"git~1": ".git", "hg~1": ".hg", "svn~1": ".svn"}
"""What Windows file systems (under WSL) call these folders in eight characters."""


class Protection:
    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [tuple(_fold(part) for part in pattern.strip("/").split("/")) for pattern in patterns]

    def covers(self, path: str) -> bool:
        parts = [_fold(part) for part in path.split("/")]
        return any(
            _matches(pattern, parts[start : start + len(pattern)])
            for pattern in self._patterns
            for start in range(len(parts) - len(pattern) + 1)
        )


def _matches(pattern: tuple[str, ...], parts: list[str]) -> bool:
    return all(fnmatchcase(part, wanted) for part, wanted in zip(parts, pattern, strict=True))


def _fold(name: str) -> str:
    """Case, invisible characters (macOS drops them), trailing dots and spaces (Windows does) make no difference."""
    visible = "".join(char for char in unicodedata.normalize("NFKC", name) if unicodedata.category(char) != "Cf")
    folded = visible.casefold()
    folded = folded.rstrip(". ") or folded
    return _SHORT_NAMES.get(folded, folded)
