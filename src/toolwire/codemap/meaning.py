"""What a name or an expression turns out to be, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Literal

from toolwire.codemap.library import Ref
from toolwire.codemap.modules import Target

CertaintyName = Literal["exact", "likely", "name only"]


class Certainty(IntEnum):
    """`exact`: every step is written down. `likely`: a step was chosen among several, or may be overridden.
    `name only`: nothing is known but the name."""

    NAME_ONLY = 0
    LIKELY = 1
    EXACT = 2

    @property
    def words(self) -> CertaintyName:
        return _WORDS[self]


_WORDS: tuple[CertaintyName, ...] = ("name only", "likely", "exact")


@dataclass(frozen=True, slots=True)
class Things:
    """Definitions themselves: a class, the overloads of a function."""

    refs: tuple[Ref, ...]
    sure: Certainty = Certainty.EXACT


@dataclass(frozen=True, slots=True)
class Instance:
    """A value of one of these types."""

    refs: tuple[Ref, ...]
    sure: Certainty = Certainty.EXACT


@dataclass(frozen=True, slots=True)
class Space:
    """A module, package or namespace."""

    target: Target
    sure: Certainty = Certainty.EXACT


@dataclass(frozen=True, slots=True)
class Outside:
    """Known, and not of this project: a library's class, a language's own type."""


OUTSIDE = Outside()
Meaning = Things | Instance | Space | Outside


def weaker(meaning: Meaning | None, sure: Certainty) -> Meaning | None:
    """The same, no surer than `sure`."""
    if isinstance(meaning, Things | Instance | Space) and meaning.sure > sure:
        return replace(meaning, sure=sure)
    return meaning


def united(meanings: Iterable[Meaning | None]) -> Meaning | None:
    """One meaning out of several possible ones; where they differ none of them is more than likely."""
    known = list(meanings)
    found = [meaning for meaning in known if isinstance(meaning, Things | Instance)]
    if not found:
        return next((meaning for meaning in known if meaning is not None), None)
    refs = tuple(dict.fromkeys(ref for meaning in found for ref in meaning.refs))
    agree = all(meaning is not None and getattr(meaning, "refs", None) == refs for meaning in known)
    sure = min(meaning.sure for meaning in found)
    return type(found[0])(refs, sure if agree else min(sure, Certainty.LIKELY))
