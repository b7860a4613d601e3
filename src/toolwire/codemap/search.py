"""Finding symbols by words: exact names first, then names that begin with a word, then names that have it inside."""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolwire.codemap.library import Library, Ref
from toolwire.codemap.sheet import TYPE_KINDS
from toolwire.codemap.shelf import DefinitionRow
from toolwire.codemap.views import Symbol, symbol

_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
_CANDIDATES = 50
"""Rows looked at for each symbol asked for: enough to rank, few enough to be quick."""


def search(library: Library, words: Iterable[str], limit: int) -> list[Symbol]:
    """The best symbols for the words, each word counting where it occurs."""
    wanted = [word.lower() for word in words if word.strip()]
    scores: dict[Ref, float] = {}
    rows: dict[Ref, DefinitionRow] = {}
    for word in dict.fromkeys(wanted):
        for row in library.shelf.names_like(word, limit * _CANDIDATES):
            if row.kind == "impl":
                continue
            ref = Ref(row.file, row.at)
            rows[ref] = row
            scores[ref] = scores.get(ref, 0.0) + score(row, word)
    best = sorted(scores, key=lambda ref: (-scores[ref], len(rows[ref].name), rows[ref].scope, ref))
    pages = ((library.page(ref.file), ref.at) for ref in best[:limit])
    return [symbol(page, at) for page, at in pages if page is not None]


def score(row: DefinitionRow, word: str) -> float:
    name = row.name.lower()
    parts = [part.lower() for part in _PARTS.findall(row.name)]
    if name == word:
        points = 10.0
    elif word in parts:
        points = 6.0
    elif name.startswith(word):
        points = 4.0
    else:
        points = 2.0
    return points + (1.0 if row.kind in TYPE_KINDS else 0.0) - (0.5 if row.kind == "declaration" else 0.0)
