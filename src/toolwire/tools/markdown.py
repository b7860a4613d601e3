"""Pieces of Markdown that tool results share: fences that hold, tables of facts, numbered lines.

The shape is that of documents 1 and 2: `## title`, a blank line, `**name**: value` lines, then the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolwire.tools.base import Language

_FENCE = re.compile(r"`{3,}")
_TICKS = re.compile(r"`+")

LANGUAGES = {
    "c": "c", "cc": "cpp", "cpp": "cpp", "cs": "csharp", "css": "css", "go": "go", "h": "c", "hpp": "cpp",
    "html": "html", "java": "java", "js": "javascript", "json": "json", "jsx": "jsx", "kt": "kotlin", "kts": "kotlin",
    "md": "markdown", "php": "php", "py": "python", "pyi": "python", "rb": "ruby", "rs": "rust", "scala": "scala",
    "sh": "bash", "sql": "sql", "swift": "swift", "toml": "toml", "ts": "typescript", "tsx": "tsx", "vue": "vue",
    "xml": "xml", "yaml": "yaml", "yml": "yaml",
}  # fmt: skip
"""File name extension → name of the language after a fence."""


def pick(language: Language, zh: str, en: str) -> str:
    return zh if language == "zh" else en


def heading(language: Language, zh: str, en: str, subject: str) -> str:
    return f"## {pick(language, zh, en)}: {one_line(subject)}"


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    return "\n".join(f"**{name}**: {value}" for name, value in pairs)


def fenced(text: str, info: str = "") -> str:
    """A code block whose fence is longer than any inside it."""
    longest = max((len(found) for found in _FENCE.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}{info}\n{text}{end}{fence}"


def code(text: str) -> str:
    """Inline code, also if the text has backticks."""
    flat = one_line(text)
    ticks = "`" * (max((len(found) for found in _TICKS.findall(flat)), default=0) + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def one_line(text: str) -> str:
    """File names may hold line breaks; a heading may not."""
    return text.replace("\r", "\\r").replace("\n", "\\n")


def fence_language(path: str) -> str:
    name = path.rpartition("/")[2]
    return LANGUAGES.get(name.rpartition(".")[2].lower(), "") if "." in name else ""


def numbered(lines: Iterable[tuple[int, str]], marked: frozenset[int] = frozenset()) -> str:
    """`   12 | text`, the marked lines with `>` in front; line ends inside are left out."""
    rows = list(lines)
    width = max((len(str(number)) for number, _ in rows), default=1)
    mark = any(number in marked for number, _ in rows)
    return "\n".join(_row(number, text, width, mark and number in marked, mark) for number, text in rows)


def _row(number: int, text: str, width: int, marked: bool, marks: bool) -> str:
    sign = ("> " if marked else "  ") if marks else ""
    return f"{sign}{number:>{width}} | {text.rstrip(chr(13) + chr(10))}".rstrip()


def size(count: int) -> str:
    """`812 B`, `4.0 KB`, `1.3 MB`."""
    if count < 1024:
        return f"{count} B"
    value = float(count)
    for unit in ("KB", "MB", "GB"):
        value /= 1024
        if value < 1024:
            return f"{value:.1f} {unit}"
    return f"{value / 1024:.1f} TB"
