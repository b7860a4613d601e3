"""The glossary: what people call things in three languages, and what code calls them (`glossary.toml`)."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib import resources

from toolwire.agents.local.stems import code_stem, english_stem

FIRST_LETTERS = 2


@dataclass(frozen=True, slots=True)
class Meaning:
    """A concept of the glossary."""

    name: str
    code: tuple[str, ...]
    """Stems of identifiers and file names, the most telling first."""
    weak: bool


@dataclass(frozen=True, slots=True)
class Glossary:
    english: dict[tuple[str, ...], Meaning]
    """Phrases as stems of their words."""
    chinese: dict[str, Meaning]
    russian: dict[str, list[tuple[tuple[str, ...], Meaning]]]
    """Phrases as beginnings of their words, under their first two letters."""
    stop_english: frozenset[str]
    stop_chinese: frozenset[str]
    stop_russian: frozenset[str]
    weak: frozenset[str]
    """English stems that count little."""
    whole: frozenset[str]
    """Stems that are only ever looked for as whole words."""
    intents: dict[str, tuple[str, ...]]
    """Phrases that tell what kind of answer is wanted, as `callers_en` and so on."""

    @property
    def longest_chinese(self) -> int:
        return max(len(word) for word in (*self.chinese, *self.stop_chinese))


@cache
def glossary() -> Glossary:
    """Read once, when the local agent is first used."""
    text = resources.files(__package__).joinpath("glossary.toml").read_text("utf-8")
    table = tomllib.loads(text)
    weak = table["weak"]["names"].split()
    english: dict[tuple[str, ...], Meaning] = {}
    chinese: dict[str, Meaning] = {}
    russian: dict[str, list[tuple[tuple[str, ...], Meaning]]] = defaultdict(list)
    for name, row in table["concepts"].items():
        meaning = Meaning(name, tuple(code_stem(item) for item in _items(row["code"])), name in weak)
        for phrase in _items(row["en"]):
            english[tuple(english_stem(word) for word in phrase.replace("-", " ").split())] = meaning
        for word in _items(row["zh"]):
            chinese[word.lower()] = meaning
        for phrase in _items(row["ru"]):
            parts = tuple(phrase.replace("ё", "е").replace("-", " ").split())
            russian[parts[0][:FIRST_LETTERS]].append((parts, meaning))
    stop = table["stop"]
    return Glossary(
        english,
        chinese,
        russian,
        frozenset(stop["en"].split()),
        frozenset(stop["zh"].split()),
        frozenset(stop["ru"].replace("ё", "е").split()),
        frozenset(english_stem(word) for word in weak),
        frozenset(code[1:] for meaning in english.values() for code in meaning.code if code.startswith("=")),
        {name: tuple(_items(phrases)) for name, phrases in table["intents"].items()},
    )


def _items(text: str) -> list[str]:
    return [item for part in text.split(",") if (item := part.strip())]
