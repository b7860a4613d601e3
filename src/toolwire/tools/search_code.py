"""`search_code`: where something is in the project: symbols whose names have the words, then lines of text."""

from __future__ import annotations

import math
import re
from itertools import groupby

from pydantic import AliasChoices, Field

from toolwire.codemap.listing import files_mentioning
from toolwire.errors import ToolError
from toolwire.tools import markdown as md
from toolwire.tools.base import Context, Language, Tool, ToolInput, ToolOutput
from toolwire.tools.pattern import Pattern
from toolwire.tools.search import Query, search
from toolwire.tools.symbols import IndexState, SymbolOut, index_note, index_state, place, symbol_out

_WORD = re.compile(r"[\w$]+")
_WORDS = 8
"""Words of a query that count; each costs a run of the search program."""
_LINES_IN_FILE = 3
"""Lines shown of one file, so that one file does not fill the answer."""
_SHORTEST = 2


class Input(ToolInput):
    query: str = Field(
        validation_alias=AliasChoices("query", "pattern", "q"),
        min_length=1,
        description="Words or a name to look for",
    )
    limit: int | None = Field(None, ge=1, description="Most hits of each kind")


class TextHit(ToolOutput):
    path: str
    line: int
    text: str


class Output(ToolOutput):
    query: str
    symbols: list[SymbolOut]
    """By name, the best first."""
    text: list[TextHit]
    """Lines of the files that have the most, and the rarest, of the words."""
    files: int
    """Files with at least one of the words."""
    index: IndexState | None = None


def run(context: Context, input: Input) -> Output:
    words = words_of(input.query)
    most = min(input.limit or context.settings.search_limit, context.settings.search_limit)
    symbols = context.codemap.search(words, most) if words else []
    ranked = _ranked(context, input.query, words)
    text = _lines(context, words or [input.query], ranked, most)
    return Output(
        query=input.query,
        symbols=[symbol_out(symbol) for symbol in symbols],
        text=text,
        files=len(ranked),
        index=index_state(context),
    )


def words_of(query: str) -> list[str]:
    """The words of a query, each once, the longest of them if there are too many."""
    found = list(dict.fromkeys(word for word in _WORD.findall(query) if len(word) >= _SHORTEST))
    if len(found) > _WORDS:
        longest = sorted(found, key=len, reverse=True)[:_WORDS]
        found = [word for word in found if word in longest]
    return found


def _ranked(context: Context, query: str, words: list[str]) -> list[str]:
    """Files by the words they have: a word counts more the fewer files have it, and twice in the file's name."""
    scores: dict[str, float] = {}
    found = {word: files_mentioning(context, word) for word in words or [query]}
    everything = len({path for paths in found.values() for path in paths})
    for word, paths in found.items():
        weight = math.log(1 + everything / (1 + len(paths))) + 0.1
        for path in paths:
            named = word.lower() in path.rpartition("/")[2].lower()
            scores[path] = scores.get(path, 0.0) + weight * (2 if named else 1)
    return sorted(scores, key=lambda path: (-scores[path], path.count("/"), path))


def _lines(context: Context, words: list[str], ranked: list[str], most: int) -> list[TextHit]:
    pattern = Pattern("|".join(re.escape(word) for word in words), regex=True)
    hits: list[TextHit] = []
    for path in ranked:
        if len(hits) >= most:
            break
        context.check()
        hits += _in_file(context, path, pattern, words)[: most - len(hits)]
    return hits


def _in_file(context: Context, path: str, pattern: Pattern, words: list[str]) -> list[TextHit]:
    """The lines of a file with the most of the words, in the order of the file."""
    try:
        found = search(context, Query(pattern, path=path, limit=context.settings.grep_max_limit))
    except ToolError as error:
        if error.kind in ("timeout", "stopped"):
            raise
        return []
    lowered = [word.lower() for word in words]
    best = sorted(found.matches, key=lambda match: (-sum(w in match.text.lower() for w in lowered), match.line))
    chosen = sorted(best[:_LINES_IN_FILE], key=lambda match: match.line)
    return [TextHit(path=match.path, line=match.line, text=match.text.strip()) for match in chosen]


def markdown(output: Output, language: Language) -> str:
    pick = md.pick
    parts = [
        md.heading(language, "代码搜索", "Code search", output.query),
        md.facts(
            (
                (pick(language, "符号", "Symbols"), len(output.symbols)),
                (pick(language, "相关文件", "Files"), output.files),
            )
        ),
    ]
    if output.symbols:
        rows = [
            f"- {md.code(one.signature)} — {one.kind} {md.code(place(one.path, one.line, one.end_line))}"
            for one in output.symbols
        ]
        parts.append("\n".join([f"### {pick(language, '符号', 'Symbols')}", "", *rows]))
    if output.text:
        rows = []
        for path, group in groupby(output.text, key=lambda hit: hit.path):
            rows.append(f"- {md.code(path)}")
            rows += [f"  - L{hit.line}: {md.code(hit.text)}" for hit in group]
        parts.append("\n".join([f"### {pick(language, '文本', 'Text')}", "", *rows]))
    if not output.symbols and not output.text:
        parts.append(pick(language, "未找到匹配。", "Nothing found."))
    return "\n\n".join([*parts, *index_note(output.index, language)])


TOOL = Tool(
    name="search_code",
    input=Input,
    output=Output,
    run=run,
    markdown=markdown,
    title_zh="搜索代码",
    title_en="Search the code",
    intent="search",
    object="code",
    reads=True,
    description="Where something is: symbols whose names have the words, the best first, then lines of the files "
    "that have the most of them.",
)
