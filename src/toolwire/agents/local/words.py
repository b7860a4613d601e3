"""What a prompt asks about: its language, the names and files it mentions, and the concepts behind its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from toolwire.agents.local.concepts import WEAK, Concept, chinese_concepts, english_concepts, merge, russian_concepts
from toolwire.agents.local.glossary import glossary
from toolwire.agents.local.russian import begins
from toolwire.core.events import Message
from toolwire.settings import Settings

Tongue = Literal["en", "zh", "ru"]
Intent = Literal["where", "callers", "overview"]

EXTENSIONS = (
    "py|pyi|ipynb|java|kt|kts|scala|groovy|gradle|js|jsx|mjs|cjs|ts|tsx|vue|svelte|go|rs|c|h|cc|cpp|hpp|cs|php|rb|swift|m|"
    "lua|pl|sh|bash|ps1|sql|html|css|scss|xml|json|jsonl|yaml|yml|toml|ini|cfg|conf|properties|env|md|rst|txt|proto|tf|lock"
)
_FILE = re.compile(rf"(?<![\w/.-])[\w./-]*\w\.(?:{EXTENSIONS})(?![\w/-]|\.\w)", re.ASCII)
_QUOTED = re.compile(r"`([^`\n]{2,80})`|\"([^\"\n]{2,80})\"|«([^»\n]{2,80})»|“([^”\n]{2,80})”|「([^」\n]{2,80})」")
_NAME = re.compile(r"(?<![\w.])[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*(?:\(\))?", re.ASCII)
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_RUSSIAN = re.compile(r"[а-яё]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """What a prompt asks, as far as it can be told without a model."""

    tongue: Tongue
    intent: Intent
    names: tuple[str, ...]
    """Identifiers, as written: `ZipFile`, `read_file`, `Session.close`."""
    files: tuple[str, ...]
    phrases: tuple[str, ...]
    """Quoted text that is no identifier."""
    concepts: tuple[Concept, ...]
    borrowed: bool = False
    """True if words of an earlier turn were used."""

    @property
    def empty(self) -> bool:
        return not (self.names or self.files or self.phrases or self.concepts)


def read_prompt(prompt: str, history: Sequence[Message] = (), most: int = Settings().local_prompt) -> Question:
    """Understand a prompt, or its first part if it is long. One without own words is about what was asked before."""
    question = _read(prompt[:most])
    if not question.empty or question.intent == "overview":
        return question
    for message in reversed(history):
        if message.role == "user":
            earlier = _read(message.text[:most])
            if not earlier.empty:
                return replace(earlier, tongue=question.tongue, intent=question.intent, borrowed=True)
    return question


def _read(prompt: str) -> Question:
    rest = prompt
    files, rest = _take_files(rest)
    quoted, rest = _take_quoted(rest)
    names, rest = _take_names(rest)
    names += [text for text in quoted if _NAME.fullmatch(text)]
    intent = _intent(prompt)
    concepts = merge([*chinese_concepts(rest), *russian_concepts(rest), *english_concepts(rest)])
    if intent == "callers":
        concepts = [concept for concept in concepts if concept.name != "call"]
    if files and all(concept.weight <= WEAK for concept in concepts):
        concepts = []  # "open the file main.py" is about that file alone
    return Question(
        tongue_of(prompt),
        intent,
        tuple(dict.fromkeys(name.removesuffix("()") for name in names)),
        tuple(dict.fromkeys(files)),
        tuple(text for text in dict.fromkeys(quoted) if not _NAME.fullmatch(text)),
        tuple(concepts),
    )


def tongue_of(prompt: str) -> Tongue:
    """The language an answer should be in. A Chinese character says about as much as two letters."""
    chinese = len(_CHINESE.findall(prompt)) * 2
    russian = len(_RUSSIAN.findall(prompt))
    if chinese >= max(russian, 1):
        return "zh"
    return "ru" if russian else "en"


def _take_files(text: str) -> tuple[list[str], str]:
    return [found.removeprefix("./") for found in _FILE.findall(text)], _FILE.sub(" ", text)


def _take_quoted(text: str) -> tuple[list[str], str]:
    found = [next(group for group in match.groups() if group is not None) for match in _QUOTED.finditer(text)]
    return [item.strip() for item in found if item.strip()], _QUOTED.sub(" ", text)


def _take_names(text: str) -> tuple[list[str], str]:
    """Names that are written as in code; plain words are left in the text."""
    taken: list[str] = []

    def take(match: re.Match[str]) -> str:
        word = match[0]
        if not _is_name(word):
            return word
        taken.append(word)
        return " "

    return taken, _NAME.sub(take, text)


def _is_name(word: str) -> bool:
    if word.endswith("()") or "::" in word or "#" in word or "$" in word:
        return True
    if "_" in word.strip("_") or word.startswith("__"):
        return True
    if "." in word:
        return word.lower() not in ("e.g", "i.e", "a.k.a")
    return _CAMEL.search(word) is not None


def _intent(prompt: str) -> Intent:
    phrases = glossary().intents
    low = " ".join(prompt.lower().replace("ё", "е").split())
    words = re.findall(r"\w+", low)
    for intent in ("callers", "overview"):
        plain = (*phrases[f"{intent}_en"], *phrases[f"{intent}_zh"])
        if any(phrase in low for phrase in plain) or any(_in_order(words, p) for p in phrases[f"{intent}_ru"]):
            return "callers" if intent == "callers" else "overview"
    return "where"


def _in_order(words: list[str], phrase: str) -> bool:
    """Whether words with these beginnings follow one another, one other word between them or none."""
    ends = list(range(len(words)))
    for part in phrase.replace("ё", "е").split():
        ends = sorted({at + 1 + gap for at in ends for gap in (0, 1) if _begins_at(words, at + gap, part)})
    return bool(ends)


def _begins_at(words: list[str], at: int, part: str) -> bool:
    return at < len(words) and begins(words[at], part)
