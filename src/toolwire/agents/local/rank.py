"""Which files a question is about: evidence gathered per file and concept, weighed up in the manner of BM25.

A file counts for what it is called, what it defines, what its first lines say and how often it mentions the words;
a concept counts the more the fewer files know it. Tests, vendored and generated files stand back.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from toolwire.agents.local.concepts import WEAK, Concept
from toolwire.agents.local.patterns import Definition, definition_of
from toolwire.agents.local.results import Found, Hit
from toolwire.agents.local.standing import standing
from toolwire.agents.local.stems import likeness, words_of

NAME, FOLDER, DEFINED, HEADER, BODY, TOGETHER, NAMED = 3.0, 1.2, 2.6, 1.6, 1.0, 0.8, 8.0
"""What each kind of evidence is worth."""
KIND = {"class": 1.0, "function": 0.9, "method": 0.6}
LIKE_FILE = 0.9
"""A file called what the question names, where 1 is a definition of it."""
SUGGESTED = 0.12
HEADER_LINES = 40
TELLING = 0.45
"""How well a name must fit to be looked at for its own sake."""
SATURATION = 12.0
"""Mentions at which a body counts half."""
SMALLEST_PROJECT = 1000
"""Files a project is taken to have, for rarity, unless a search shows more."""
COMMON = 200
"""Files that are taken to know a word that everybody uses."""


@dataclass(slots=True)
class Evidence:
    """What is known of one file, by index of concept."""

    path: str
    weights: Sequence[float] = ()
    """What each concept of the question counts."""
    named: float = 0.0
    """A name of the question is defined here."""
    defined: dict[int, list[tuple[float, Hit, Definition]]] = field(default_factory=lambda: defaultdict(list))
    header: dict[int, float] = field(default_factory=dict)
    mentions: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    together: int = 0
    hits: dict[int, Hit] = field(default_factory=dict)
    """Lines seen, by number."""


@dataclass(frozen=True, slots=True)
class Ranked:
    path: str
    score: float
    evidence: Evidence


class Ranking:
    """Gathers evidence, then ranks."""

    def __init__(self, concepts: Sequence[Concept], names: Sequence[str] = ()) -> None:
        self.concepts = concepts
        self._names = frozenset(re.split(r"\W+", name)[-1].lower() for name in names)
        """Names the question gives, which a file may have too."""
        self.files: dict[str, Evidence] = {}
        self._stems = [stem for concept in concepts for stem, _ in concept.stems]
        self._known: dict[tuple[int, str], float] = {}
        self._focused: dict[str, float] = {}
        self._about_tests = "test" in self._stems
        self._commonness = [COMMON if concept.weight <= WEAK else 0 for concept in concepts]
        """Files that know a concept, as searches have told."""

    def add_definitions(self, concept: int, found: Found) -> None:
        self._commonness[concept] = max(self._commonness[concept], found.files)
        for hit in found.hits:
            self._define(self._see(hit), concept, hit)

    def add_headers(self, concept: int, found: Found) -> None:
        for hit in found.hits:
            evidence = self._see(hit)
            if hit.line <= HEADER_LINES:
                evidence.header[concept] = max(evidence.header.get(concept, 0.0), self._said(concept, hit.text))

    def add_together(self, found: Found) -> None:
        for hit in found.hits:
            self._see(hit).together += 1

    def add_named(self, name: str, found: Found) -> None:
        """Definitions of a name that the question gives; a mention of it counts a little."""
        last = re.split(r"\W+", name)[-1]
        for hit in found.hits:
            evidence = self._see(hit)
            definition = definition_of(hit.text)
            worth = 0.15 if definition is None else 1.0 if definition.name == last else 0.4
            evidence.named = max(evidence.named, worth)

    def add_suggestions(self, found: Found) -> None:
        """Places another tool's own ranking gave, best first: they count by what they define, and a little more."""
        for rank, hit in enumerate(found.hits):
            evidence = self._see(hit)
            evidence.named = max(evidence.named, SUGGESTED / (1 + rank))
            for index in range(len(self.concepts)):
                self._define(evidence, index, hit)

    def add_paths(self, paths: Sequence[str]) -> None:
        """Files whose name alone speaks for them."""
        for path in self.telling(paths):
            self._file(path)

    def telling(self, paths: Sequence[str]) -> list[str]:
        """Paths whose last part names a concept that counts."""
        strong = [index for index, concept in enumerate(self.concepts) if concept.weight > WEAK]
        last = [(path, path.rpartition("/")[2].partition(".")[0]) for path in paths]
        return [path for path, name in last if any(self._likeness(index, name) >= TELLING for index in strong)]

    def add_inside(self, path: str, found: Found) -> None:
        """All mentions inside one file."""
        evidence = self._file(path)
        evidence.mentions.clear()
        for found_hit in found.hits:
            hit = replace(found_hit, path=path)
            evidence.hits[hit.line] = hit
            for index in range(len(self.concepts)):
                self._define(evidence, index, hit)
                said = self._said(index, hit.text)
                if not said:
                    continue
                evidence.mentions[index] += 1
                if hit.line <= HEADER_LINES:
                    evidence.header[index] = max(evidence.header.get(index, 0.0), said)

    def ranked(self) -> list[Ranked]:
        weights = self._weights()
        scored = [Ranked(e.path, self._score(e, weights), e) for e in self.files.values()]
        return sorted((r for r in scored if r.score > 0), key=lambda r: (-r.score, r.path.count("/"), r.path))

    # Weighing ----------------------------------------------------------------------------------------------

    def _score(self, evidence: Evidence, weights: list[float]) -> float:
        total = 0.0
        covered = 0.0
        for index, weight in enumerate(weights):
            worth = self._worth(evidence, index)
            total += weight * worth
            covered += weight * min(1.0, worth)
        coverage = covered / (sum(weights) or 1.0)
        score = (
            total * (0.4 + 0.6 * coverage) + TOGETHER * math.log1p(evidence.together) + NAMED * self._named(evidence)
        )
        return score * standing(evidence.path, about_tests=self._about_tests)

    def _named(self, evidence: Evidence) -> float:
        stem = evidence.path.rpartition("/")[2].partition(".")[0].lower()
        return max(evidence.named, LIKE_FILE if stem in self._names else 0.0)

    def _worth(self, evidence: Evidence, index: int) -> float:
        folders, _, file = evidence.path.rpartition("/")
        stem = file.partition(".")[0]
        if stem in ("__init__", "index", "main", "mod", "lib"):
            stem = folders.rpartition("/")[2]
        name = self._likeness(index, stem)
        name = name and name * self._focus(stem)
        above, _, parent = folders.rpartition("/")
        folder = max(self._likeness(index, parent), self._likeness(index, above) / 2)
        best = sorted((worth for worth, _, _ in evidence.defined.get(index, ())), reverse=True)[:4]
        defined = sum(worth / (1 + rank) for rank, worth in enumerate(best)) / 1.5
        count = evidence.mentions.get(index, 0)
        return (
            NAME * name
            + FOLDER * folder
            + DEFINED * defined
            + HEADER * evidence.header.get(index, 0.0)
            + BODY * count / (count + SATURATION)
        )

    def _weights(self) -> list[float]:
        project = max(SMALLEST_PROJECT, 2 * max(self._commonness, default=0))
        return [
            concept.weight * math.log((project + 1) / (common + 1)) / math.log(project + 1)
            for concept, common in zip(self.concepts, self._commonness, strict=True)
        ]

    def _likeness(self, index: int, name: str) -> float:
        """How well a name fits a concept; looked up, for the same names come again and again."""
        key = index, name
        if key not in self._known:
            found = (worth * likeness(stem, name) for stem, worth in self.concepts[index].stems)
            self._known[key] = max(found, default=0.0)
        return self._known[key]

    def _said(self, index: int, text: str) -> float:
        """How well a line of text speaks of a concept."""
        low = text.lower()
        concept = self.concepts[index]
        worth = [weight * likeness(stem, text) for stem, weight in concept.stems if stem.lstrip("=") in low]
        worth += [1.0 for word in concept.written if word in low]
        return max(worth, default=0.0)

    def _focus(self, name: str) -> float:
        """How much of a name is about the question: all of it counts full, one word of many less."""
        if name not in self._focused:
            words = words_of(name)
            about = sum(1 for word in words if any(likeness(stem, word) for stem in self._stems))
            self._focused[name] = 0.5 + 0.5 * about / len(words) if words else 0.0
        return self._focused[name]

    def _define(self, evidence: Evidence, index: int, hit: Hit) -> None:
        """Count a line as a definition of something with the concept in its name, if it is one."""
        definition = definition_of(hit.text)
        quality = self._likeness(index, definition.name) if definition else 0.0
        if definition and quality and all(hit.line != known.line for _, known, _ in evidence.defined[index]):
            worth = KIND[definition.kind] * quality * self._focus(definition.name)
            evidence.defined[index].append((worth, hit, definition))

    def _file(self, path: str) -> Evidence:
        if path not in self.files:
            self.files[path] = Evidence(path, [concept.weight for concept in self.concepts])
        return self.files[path]

    def _see(self, hit: Hit) -> Evidence:
        evidence = self._file(hit.path)
        evidence.hits.setdefault(hit.line, hit)
        return evidence
