"""Beginnings that inflected words share: light stemming for English, and the words inside a name.

A stem is meant to be looked for as a beginning (`pars` finds parse, parser and parsing), so it may be cut short.
"""

from __future__ import annotations

import re
from functools import lru_cache

REMEMBERED = 8192
"""Names whose words are kept at hand: the same ones come up again and again within a question."""
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")
_SIBILANT = ("ches", "shes", "sses", "xes", "zes")
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+[0-9]*|[A-Z]+[0-9]*|[0-9]+|[^\W\d_A-Za-z]+")


def english_stem(word: str) -> str:
    """`parses`, `parsing`, `parsed` and `parse` give `pars`; `files` gives `file`."""
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(_SIBILANT):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return _DOUBLED.sub(r"\1", word.removesuffix(ending))
    return code_stem(word)


def code_stem(word: str) -> str:
    """A word of the glossary's code column: only a last e is cut, so that `parse` finds `parsing`."""
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


@lru_cache(REMEMBERED)
def words_of(name: str) -> tuple[str, ...]:
    """The words inside a name, in small letters: `HTTPServer`, `http_server` and `http-server` give http, server."""
    return tuple(word.lower() for word in _HUMPS.findall(name))


def likeness(stem: str, name: str) -> float:
    """How well a stem is found in a name: 1 as one of its words, less at the beginning of or inside one, else 0.

    A stem with `=` in front is only found as a whole word.
    """
    whole = stem.startswith("=")
    if stem[whole:] not in name.lower():
        return 0.0
    words = words_of(name)
    if whole:
        return 1.0 if stem[1:] in words else 0.0
    return max((_in_word(stem, word) for word in words), default=0.0)


def _in_word(stem: str, word: str) -> float:
    if stem not in word:
        return 0.0
    size, rest = len(stem), len(word) - len(stem)
    if not rest:
        return 1.0
    if word.startswith(stem):
        return 0.0 if size < 3 else 1.0 if rest <= 3 else 0.8
    if word.endswith(stem):
        return 0.6 if size >= 3 else 0.0
    return 0.5 if size >= 4 else 0.0
