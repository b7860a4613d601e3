"""A language's grammar and query, loaded when its first file is met: a wheel nobody needs is never imported."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING

from toolwire.codemap.languages import BY_NAME, Language
from toolwire.codemap.sheet import CALLABLE_KINDS, SPACE_KINDS, TYPE_KINDS

if TYPE_CHECKING:
    from tree_sitter import Language as TreeSitterLanguage
    from tree_sitter import Query

DEFINITION_ROLES = TYPE_KINDS | CALLABLE_KINDS | SPACE_KINDS
PLACED_ROLES = frozenset({"param", "variable", "field", "return", "import", "alias", "call", "new", "base"})
"""What lies inside definitions."""
ROLES = DEFINITION_ROLES | PLACED_ROLES | {"group", "package"}
"""The captures a pattern is about; each pattern of a query file has exactly one of them."""

_CAPTURE = re.compile(r"@([\w.]+)")
_COMMENT = re.compile(r"^\s*;.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Grammar:
    language: Language
    compiled: TreeSitterLanguage
    query: Query
    roles: tuple[str, ...]
    """The role of each pattern, by its index."""


@cache
def grammar(name: str) -> Grammar:
    """The grammar of a language; safe to share between threads."""
    from tree_sitter import Language as TreeSitterLanguage
    from tree_sitter import Query

    language = BY_NAME[name]
    module, _, function = language.grammar.partition(":")
    compiled = TreeSitterLanguage(getattr(import_module(module), function)())
    folder = files("toolwire.codemap").joinpath("queries")
    text = "\n".join(folder.joinpath(f"{stem}.scm").read_text(encoding="utf-8") for stem in language.query.split())
    query = Query(compiled, text)
    roles = (_role(query, pattern, text.encode(), language.query) for pattern in range(query.pattern_count))
    return Grammar(language, compiled, query, tuple(roles))


def _role(query: Query, pattern: int, text: bytes, language: str) -> str:
    span = text[query.start_byte_for_pattern(pattern) : query.end_byte_for_pattern(pattern)].decode()
    names: set[str] = set(_CAPTURE.findall(_COMMENT.sub("", span)))
    roles = names & ROLES
    if len(roles) != 1:
        raise ValueError(f"{language}.scm: pattern {pattern} has captures {sorted(names)}, needs exactly one role")
    return roles.pop()
