"""Concepts of a prompt: the words that matter, each with the stems by which code may know it.

English words stand for themselves and for what the glossary adds; Chinese is cut into words by longest match against
the glossary; Russian words are known by their beginnings. What the glossary does not know is looked for as written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from toolwire.agents.local.glossary import FIRST_LETTERS, Meaning, glossary
from toolwire.agents.local.russian import begins, in_latin, russian_stem
from toolwire.agents.local.stems import english_stem

_ENGLISH = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:'[a-z]+)?", re.ASCII)
_RUSSIAN = re.compile(r"[а-яё]+", re.IGNORECASE)
_CHINESE = re.compile(r"[\u3400-\u9fff]+")

STRONG, WEAK, UNKNOWN = 1.0, 0.3, 0.8
OWN, FIRST, OTHER = 1.0, 0.9, 0.6
LONGEST_PHRASE = 3
SHORTEST_WORD = 2
SHORTEST_STEM = 3

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Concept:
    """Something a prompt is about."""

    word: str
    """As it was written."""
    stems: tuple[tuple[str, float], ...]
    """Beginnings to look for in names and text, and how much each tells."""
    weight: float
    written: tuple[str, ...] = ()
    """The word itself where code would not have it in a name: Chinese, Russian."""
    name: str = ""
    """In the glossary, if it is there."""


def english_concepts(text: str) -> list[Concept]:
    known = glossary()
    tokens = [match[0].split("'")[0] for match in _ENGLISH.finditer(text)]
    stems = [english_stem(token) for token in tokens]
    found = []
    for start, length, meaning in _phrases(tokens, lambda at, n: known.english.get(tuple(stems[at : at + n]))):
        word = " ".join(tokens[start : start + length])
        if length == 1 and word.lower() in known.stop_english:
            continue
        if meaning is not None:
            own = [(_own(stems[start]), OWN)] if length == 1 else []
            found.append(_of_meaning(word, meaning, own))
        elif len(word) >= SHORTEST_WORD:
            weight = WEAK if stems[start] in known.weak else STRONG
            found.append(Concept(word, ((_own(stems[start]), OWN),), weight))
    return found


def _own(stem: str) -> str:
    """A word of the prompt as it is looked for."""
    return f"={stem}" if stem in glossary().whole or len(stem) < SHORTEST_STEM else stem


def russian_concepts(text: str) -> list[Concept]:
    known = glossary()
    tokens = [match[0].lower().replace("ё", "е") for match in _RUSSIAN.finditer(text)]

    def look_up(at: int, length: int) -> Meaning | None:
        best: tuple[int, Meaning] | None = None
        for phrase, meaning in known.russian.get(tokens[at][:FIRST_LETTERS], ()):
            if len(phrase) == length and all(begins(tokens[at + i], part) for i, part in enumerate(phrase)):
                size = sum(len(part) for part in phrase)
                if best is None or size > best[0]:
                    best = size, meaning
        return best[1] if best else None

    found = []
    for start, length, meaning in _phrases(tokens, look_up):
        word = " ".join(tokens[start : start + length])
        if length == 1 and word in known.stop_russian:
            continue
        written = (russian_stem(tokens[start]),) if length == 1 else ()
        if meaning is not None:
            found.append(_of_meaning(word, meaning, [], written))
        elif len(word) > SHORTEST_WORD:
            stem = in_latin(russian_stem(word))
            stems = ((stem, OTHER),) if len(stem) > SHORTEST_STEM else ()
            found.append(Concept(word, stems, UNKNOWN, written))
    return found


def chinese_concepts(text: str) -> list[Concept]:
    known = glossary()
    found: list[Concept] = []
    for run in _CHINESE.finditer(text):
        for word, meaning in _segments(run[0]):
            if meaning is not None:
                found.append(_of_meaning(word, meaning, [], (word,)))
            elif word not in known.stop_chinese and len(word) >= SHORTEST_WORD:
                found.append(Concept(word, (), UNKNOWN, (word,)))
    return found


def merge(concepts: Iterable[Concept]) -> list[Concept]:
    """One concept for several words that mean the same; concepts in the order of the prompt."""
    merged: dict[tuple[str, ...], Concept] = {}
    for concept in concepts:
        key = tuple(sorted(stem for stem, _ in concept.stems)) or concept.written
        earlier = merged.get(key)
        if earlier is None:
            merged[key] = concept
        elif concept.written != earlier.written:
            written = tuple(dict.fromkeys((*earlier.written, *concept.written)))
            merged[key] = replace(earlier, weight=max(earlier.weight, concept.weight), written=written)
    return list(merged.values())


def _of_meaning(word: str, meaning: Meaning, own: list[tuple[str, float]], written: tuple[str, ...] = ()) -> Concept:
    stems = dict(own)
    for rank, code in enumerate(meaning.code):
        stems.setdefault(code, FIRST if rank == 0 else OTHER)
    return Concept(word, tuple(stems.items()), WEAK if meaning.weak else STRONG, written, meaning.name)


def _phrases(
    tokens: Sequence[str], look_up: Callable[[int, int], Meaning | None]
) -> Iterable[tuple[int, int, Meaning | None]]:
    """Cut tokens into the longest phrases that are known, and single words."""
    at = 0
    while at < len(tokens):
        for length in range(min(LONGEST_PHRASE, len(tokens) - at), 0, -1):
            meaning = look_up(at, length)
            if meaning is not None or length == 1:
                yield at, length, meaning
                at += length
                break


def _segments(run: str) -> Iterable[tuple[str, Meaning | None]]:
    """Cut a run of Chinese into known words, the longest first, and what stands between them."""
    known = glossary()
    at = unknown = 0
    while at < len(run):
        word = next(
            (
                run[at : at + length]
                for length in range(min(known.longest_chinese, len(run) - at), 0, -1)
                if run[at : at + length] in known.chinese or run[at : at + length] in known.stop_chinese
            ),
            "",
        )
        if not word:
            at += 1
            continue
        if unknown < at:
            yield run[unknown:at], None
        yield word, known.chinese.get(word)
        at += len(word)
        unknown = at
    if unknown < len(run):
        yield run[unknown:], None
