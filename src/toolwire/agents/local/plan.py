"""What to search for, and with which tools: a question becomes a bounded number of calls."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any, Literal

from toolwire.agents.base import Ask
from toolwire.agents.local import patterns
from toolwire.agents.local.concepts import WEAK, Concept
from toolwire.agents.local.words import Question
from toolwire.settings import Settings

Purpose = Literal["definitions", "headers", "together", "named", "suggestions", "class", "listing", "file"]

STRONGEST = 6
"""Concepts that are searched for."""
PAIRS = 4
NAMES = 4
FILES = 3
FOLDERS = 4
GUESSES = 8
HEAD = 120
"""Lines that are read of a file the question names."""
DEEP = {"depth": 10, "limit": 5000}


@dataclass(frozen=True, slots=True)
class Step:
    """A call, and what its result is for. `subject` is a concept's index, or a name or path."""

    purpose: Purpose
    subject: int | str
    ask: Ask


def survey(question: Question, settings: Settings) -> list[Step]:
    """The first round: searches over the whole project."""
    steps = [*_for_names(question, settings), *_for_concepts(question.concepts, settings)]
    return steps[: settings.local_searches]


def optional(question: Question) -> list[Step]:
    """Tools that not every client has; the answer does not wait for them for long."""
    words = [*question.names, *(_in_code(concept) for concept in question.concepts if concept.stems)]
    steps = [Step("listing", ".", list_dir("."))]
    if words:
        steps.append(Step("suggestions", "", Ask("search_code", {"query": " ".join(words)})))
    for name in question.names[:NAMES]:
        if re.match(r"[A-Z]", last_part(name)):
            steps.append(read_class(last_part(name)))
    return steps


def _in_code(concept: Concept) -> str:
    """The word of a concept that code would have."""
    return concept.word if concept.word.isascii() else concept.stems[0][0].lstrip("=")


def guesses(question: Question) -> list[Step]:
    """Classes that may be there, by the question's words: file and filter make FileFilter."""
    words = [(concept.name or concept.word).split("_")[-1].capitalize() for concept in question.concepts]
    words = [word for word in words if word.isascii() and word.isalpha()]
    names = ["".join(pair) for pair in permutations(words, 2)]
    return [read_class(name) for name in dict.fromkeys([*names, *words])][:GUESSES]


def read_class(name: str) -> Step:
    return Step("class", name, Ask("read_class", {"className": name, "mode": "structure"}))


def sharpen(question: Question, cut: Sequence[int], folders: Sequence[str], settings: Settings) -> list[Step]:
    """For concepts whose definitions were too many: outermost ones only. And folders with a telling name."""
    steps = [Step("listing", folder, list_dir(folder)) for folder in folders[:FOLDERS]]
    for index in cut:
        stems = [stem for stem, _ in question.concepts[index].stems]
        steps.append(Step("definitions", index, grep(patterns.definitions(stems, outermost=True), settings)))
    return steps


def inside(question: Question, path: str, settings: Settings) -> Ask:
    """Everything one file says about the question."""
    stems = {stem for concept in question.concepts for stem, _ in concept.stems}
    written = {word for concept in question.concepts for word in concept.written}
    written |= {last_part(name) for name in question.names}
    return grep(patterns.mentions(sorted(stems), sorted(written)), settings, path=path)


def callers(name: str) -> Ask:
    return Ask("call_chain", {"method": name, "direction": "callers", "depth": 1})


def uses(name: str, settings: Settings) -> Ask:
    return grep(patterns.uses(last_part(name)), settings)


def read(path: str, start: int, end: int) -> Ask:
    return Ask("read_file", {"path": path, "relativePath": path, "start_line": start, "end_line": end})


def list_dir(path: str, *, deep: bool = False) -> Ask:
    return Ask("list_dir", {"path": path, "relativePath": path, **(DEEP if deep else {})})


def grep(pattern: str, settings: Settings, *, path: str = "", **more: Any) -> Ask:
    """A search. The path goes under both names that the documents have for it."""
    where: Mapping[str, Any] = {"path": path, "relativePath": path} if path else {}
    how = {"regex": True, "case_sensitive": True, "limit": settings.local_hits}
    return Ask("grep_file", {"pattern": pattern, **how, **where, **more})


def last_part(name: str) -> str:
    """`close` of `Session.close`."""
    return re.split(r"[^\w$]+", name)[-1]


def _for_names(question: Question, settings: Settings) -> list[Step]:
    steps = [Step("file", path, read(path, 1, HEAD)) for path in question.files[:FILES]]
    for name in question.names[:NAMES]:
        steps.append(Step("named", name, grep(patterns.named(last_part(name)), settings)))
        steps.append(Step("named", name, uses(name, settings)))
    for phrase in question.phrases[:NAMES]:
        steps.append(Step("named", phrase, grep(phrase, settings, regex=False, case_sensitive=False)))
    return steps


def _for_concepts(concepts: tuple[Concept, ...], settings: Settings) -> list[Step]:
    """Definitions and headers for what matters most, then lines where two concepts meet."""
    order = sorted(range(len(concepts)), key=lambda index: -concepts[index].weight)[:STRONGEST]
    strong = [index for index in order if concepts[index].weight > WEAK] or order
    steps = []
    for index in order:
        concept = concepts[index]
        stems = [stem for stem, _ in concept.stems]
        if stems and index in strong:
            steps.append(Step("definitions", index, grep(patterns.definitions(stems), settings)))
        if index in strong:
            steps.append(Step("headers", index, grep(patterns.headers(stems, concept.written), settings)))
    for first, second in list(_pairs(order, strong))[:PAIRS]:
        pattern = patterns.both(_looked_for(concepts[first]), _looked_for(concepts[second]))
        steps.append(Step("together", "", grep(pattern, settings)))
    return steps


def _pairs(order: list[int], strong: list[int]) -> list[tuple[int, int]]:
    """Pairs with at least one strong concept, the strongest first."""
    return [pair for pair in combinations(order, 2) if pair[0] in strong]


def _looked_for(concept: Concept) -> tuple[list[str], tuple[str, ...]]:
    return [stem for stem, _ in concept.stems], concept.written
