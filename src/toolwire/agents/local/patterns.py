"""The regular expressions that are searched for. They keep to what every common engine understands alike (Rust,
Java, JavaScript, Python), since a plugin searches with its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

KEYWORDS = (
    "class|interface|struct|enum|trait|object|record|protocol|namespace|module|package|type|typedef|union|mixin|extension|"
    "def|func|fun|function|fn|sub|proc|macro|impl"
)
MODIFIERS = (
    "public|private|protected|internal|static|final|abstract|override|virtual|async|export|default|declare|pub|open|sealed|data|"
    "suspend|inline|extern|const|readonly|synchronized|native|unsafe|partial|lateinit|operator"
)
CLASS_LIKE = "class|interface|struct|enum|trait|object|record|protocol|namespace|module"
LONGEST_LINE = 400
SHORT = 3
"""A stem up to this long is only looked for where a word of a name begins."""

_DEFINITION = re.compile(
    rf"^(\s*)(?:(?:{MODIFIERS})\b(?:\([\w\s]*\))?\s+)*(?:(?P<kind>{KEYWORDS})\s+(?:\([^)]*\)\s*)?(?:class\s+)?"
    r"(?P<name>[A-Za-z_$][\w$]*)"
    rf"|(?<=\s)(?:[\w<>\[\],.?*&]+\s+)+(?P<method>[A-Za-z_$][\w$]*)\s*\()"
)
_NOT_TYPES = frozenset(
    {"return", "new", "throw", "else", "await", "yield", "in", "not", "and", "or", "raise", "assert"}
)

Kind = Literal["class", "function", "method"]


@dataclass(frozen=True, slots=True)
class Definition:
    kind: Kind
    name: str


def definition_of(line: str) -> Definition | None:
    """What a line of code defines, if it does."""
    found = _DEFINITION.match(line[:LONGEST_LINE])
    if found is None:
        return None
    name = found["name"] or found["method"]
    if found["kind"] is None:
        # Two words and a bracket: a method, if a modifier stands before it; else it could be any statement.
        modified = re.match(rf"\s*(?:{MODIFIERS})\b", line) is not None
        return Definition("method", name) if modified and name not in _NOT_TYPES else None
    if re.fullmatch(CLASS_LIKE, found["kind"]):
        return Definition("class", name)
    return Definition("method" if found[1] else "function", name)


def definitions(stems: Iterable[str], *, outermost: bool = False) -> str:
    """Lines that define something with one of these stems in its name; `outermost`: not inside anything else."""
    names = "|".join(part for stem in stems for part in _in_name(stem))
    margin = "" if outermost else r"\s*"
    return rf"^{margin}(?:(?:{MODIFIERS})\b[^=;(]*\s|(?:{KEYWORDS})\s+(?:\([^)]*\)\s*)?)(?:{names})"


def headers(stems: Iterable[str], written: Iterable[str] = ()) -> str:
    """Lines at the left edge with which a file, or a class outside everything else, says what it is for."""
    return rf"^(?:[rRuU]?(?:\"\"\"|''')|//!|/\*\*| \*|<!--).*{mentions(stems, written)}"


def both(first: tuple[Iterable[str], Iterable[str]], second: tuple[Iterable[str], Iterable[str]]) -> str:
    """Lines in which two things are near each other."""
    one, other = mentions(*first), mentions(*second)
    return rf"{one}.{{0,40}}{other}|{other}.{{0,40}}{one}"


def mentions(stems: Iterable[str], written: Iterable[str] = ()) -> str:
    """Any of these, in code or in text."""
    parts = [part for stem in stems for part in _in_text(stem)]
    parts += [re.escape(spelling) for word in written for spelling in dict.fromkeys((word, word.capitalize()))]
    return "(?:" + "|".join(parts) + ")"


def named(name: str) -> str:
    """Lines that define exactly this."""
    return rf"\b(?:{KEYWORDS}|{MODIFIERS})\b[^=;(]*\s(?:\([^)]*\)\s*)?{re.escape(name)}\b"


def uses(name: str) -> str:
    """Lines that call or name something."""
    return rf"\b{re.escape(name)}\b"


def _spellings(stem: str) -> tuple[str, str, str]:
    """As code spells it: `zip`, `Zip`, `ZIP`. Much faster to look for than any mixture of letters."""
    return re.escape(stem), re.escape(stem.capitalize()), re.escape(stem.upper())


def _in_name(stem: str) -> Iterable[str]:
    small, capital, upper = _spellings(stem.lstrip("="))
    if stem.startswith("="):
        return rf"(?:\w*_)?(?:{small}|{upper})(?:_\w*)?\b", rf"\w*{capital}(?:[A-Z_]\w*)?\b"
    if len(stem) > SHORT:
        return (rf"\w*(?:{small}|{capital}|{upper})",)
    return rf"(?:\w*_)?{small}", rf"\w*(?:{capital}|{upper})"


def _in_text(stem: str) -> Iterable[str]:
    small, capital, upper = _spellings(stem.lstrip("="))
    if stem.startswith("="):
        return rf"(?:\b|_)(?:{small}|{upper})(?:\b|_)", rf"{capital}(?:\b|[A-Z_])"
    return (rf"(?:\b|_){small}" if len(stem) <= SHORT else small), capital, upper
