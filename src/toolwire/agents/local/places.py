"""Which lines of a file to show and to read: its best definitions, then the lines that say most."""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolwire.agents.local.patterns import Definition, definition_of
from toolwire.agents.local.rank import Evidence, Ranked
from toolwire.agents.local.results import Excerpt, Hit

_OPENER = re.compile(
    r"^\s*(?:[rRuUbB]{0,2}(?:\"\"\"|''')|/\*+!?|//+!?|#+(?!!)|\*|--+|<!--|;+)\s*(.*?)\s*(?:\"\"\"|'''|\*/|-->)?\s*$"
)
_BOILERPLATE = re.compile(
    r"copyright|licen[sc]e|-\*-|coding[:=]|@\w+|all rights reserved|spdx|^[\W_]*$|^import |^from |^package |^\$Id",
    re.IGNORECASE,
)
SENTENCE = 160
HEAD = 30


@dataclass(frozen=True, slots=True)
class Place:
    hit: Hit
    definition: Definition | None


def places_of(evidence: Evidence, most: int) -> list[Place]:
    """The most telling lines of a file, the best first."""
    best: dict[int, tuple[float, Place]] = {}
    for index, rows in evidence.defined.items():
        for worth, hit, definition in rows:
            earlier = best.get(hit.line, (0.0, None))[0]
            best[hit.line] = earlier + worth * evidence.weights[index], Place(hit, definition)
    places = [place for _, place in sorted(best.values(), key=lambda row: (-row[0], row[1].hit.line))]
    if len(places) < most:
        rest = [hit for line, hit in sorted(evidence.hits.items()) if line not in best]
        found = [(definition_of(hit.text), hit) for hit in rest]
        places += [Place(hit, definition) for definition, hit in found if definition is not None]
        places += [Place(hit, None) for definition, hit in found if definition is None]
    return places[:most]


def best_name(ranked: Ranked) -> str:
    """The name of what a file defines that fits best."""
    return next((place.definition.name for place in places_of(ranked.evidence, 8) if place.definition), "")


def summary(excerpt: Excerpt) -> str:
    """The first sentence with which a file says what it is for."""
    for line in excerpt.lines[:HEAD]:
        found = _OPENER.match(line)
        text = found[1] if found else ""
        if not found and line.strip() and not _BOILERPLATE.search(line):
            # Text on the line after an opening quote; anything else is code already.
            text = line.strip() if _after_quote(excerpt, line) else ""
            if not text:
                return ""
        if " " in text and len(text) > 8 and not _BOILERPLATE.search(text):
            first = re.split(r"(?<=[.!?。！？])\s", text)[0]
            return first if len(first) <= SENTENCE else first[: SENTENCE - 1] + "…"
    return ""


def _after_quote(excerpt: Excerpt, line: str) -> bool:
    at = excerpt.lines.index(line)
    before = [earlier.strip() for earlier in excerpt.lines[:at] if earlier.strip()]
    return bool(before) and before[-1] in ('"""', "'''", 'r"""', "/*", "/**", "<!--")
