"""`find_usages`: every place a symbol is defined, imported, called or named, comments and strings left out."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Literal

from pydantic import AliasChoices, Field

from toolwire.tools import markdown as md
from toolwire.tools.base import Context, Language, Tool, ToolInput, ToolOutput
from toolwire.tools.call_chain import find
from toolwire.tools.symbols import CERTAINTY_ZH, Certainty, IndexState, index_note, index_state

if TYPE_CHECKING:
    from toolwire.codemap.views import Symbol, Usage

UsageKind = Literal["definition", "import", "call", "reference"]
_ORDER: dict[str, int] = {"definition": 0, "call": 1, "import": 2, "reference": 3}
KIND_ZH = {"definition": "定义", "call": "调用", "import": "导入", "reference": "引用"}


class Input(ToolInput):
    symbol: str = Field(
        validation_alias=AliasChoices("symbol", "name", "method", "className"),
        min_length=1,
        description="A name, or ClassName.methodName to know which calls mean that one",
    )
    limit: int | None = Field(None, ge=1, description="Most places given")


class UsageOut(ToolOutput):
    path: str
    line: int
    column: int
    text: str
    kind: UsageKind
    certainty: Certainty
    """Of a call: whether it means this very symbol. A plain mention is known by its name only."""


class Output(ToolOutput):
    symbol: str
    usages: list[UsageOut]
    count: int
    total: int
    files: int
    truncated: bool
    index: IndexState | None = None


def run(context: Context, input: Input) -> Output:
    symbols = find(context, input.symbol)
    name = input.symbol.replace("::", ".").rpartition(".")[2].removesuffix("()")
    usages = list(context.codemap.usages(name, context.check))
    known = _known(context, symbols, name, usages)
    found: list[UsageOut] = []
    for usage in usages:
        kind, certainty = known.get((usage.path, usage.line), ("reference", "name only"))
        found.append(
            UsageOut(
                path=usage.path,
                line=usage.line,
                column=usage.column,
                text=_cut(usage.text.strip(), context.settings.grep_line_chars),
                kind=kind,
                certainty=certainty,
            )
        )
    found.sort(key=lambda one: (_ORDER[one.kind], one.certainty == "name only", one.path, one.line, one.column))
    most = min(input.limit or context.settings.usages_limit, context.settings.usages_limit)
    return Output(
        symbol=input.symbol,
        usages=found[:most],
        count=min(len(found), most),
        total=len(found),
        files=len({one.path for one in found}),
        truncated=len(found) > most,
        index=index_state(context),
    )


def _known(
    context: Context, symbols: list[Symbol], name: str, usages: list[Usage]
) -> dict[tuple[str, int], tuple[UsageKind, Certainty]]:
    """What the codemap says of a line: it defines the symbol, calls it, or imports it."""
    known: dict[tuple[str, int], tuple[UsageKind, Certainty]] = {}
    for symbol in symbols:
        for edge in context.codemap.edges(symbol, "callers"):
            context.check()
            for site in edge.sites:
                old = known.get((site.path, site.line))
                if old is None or old[1] == "name only":
                    known[site.path, site.line] = ("call", edge.certainty)
    for path, line in context.codemap.imports(name, sorted({usage.path for usage in usages})):
        known[path, line] = ("import", "exact" if symbols else "name only")
    for symbol in symbols:
        # Annotations may stand in front: the name is on the first line of the definition that has it.
        lines = [one.line for one in usages if one.path == symbol.path and symbol.line <= one.line <= symbol.end_line]
        if lines:
            known[symbol.path, min(lines)] = ("definition", "exact")
    return known


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"


def markdown(output: Output, language: Language) -> str:
    pick = md.pick
    parts = [
        md.heading(language, "符号使用", "Usages", output.symbol),
        md.facts(
            (
                (pick(language, "使用数量", "Usages"), output.total),
                (pick(language, "文件数量", "Files"), output.files),
            )
        ),
    ]
    for kind, group in groupby(output.usages, key=lambda one: one.kind):
        rows = [_row(one, language) for one in group]
        title = KIND_ZH[kind] if language == "zh" else kind.capitalize()
        parts.append("\n".join([f"### {title} ({len(rows)})", "", *rows]))
    if not output.usages:
        parts.append(pick(language, "未找到使用。", "No usages found."))
    if output.truncated:
        more = output.total - output.count
        parts.append(pick(language, f"…（另有 {more} 处未显示）", f"… ({more} more not shown)"))
    return "\n\n".join([*parts, *index_note(output.index, language)])


def _row(one: UsageOut, language: Language) -> str:
    sure = ""
    if one.kind == "call":
        sure = f" [{CERTAINTY_ZH[one.certainty] if language == 'zh' else one.certainty}]"
    return f"- {md.code(f'{one.path}:{one.line}')}{sure} {md.code(one.text)}"


TOOL = Tool(
    name="find_usages",
    input=Input,
    output=Output,
    run=run,
    markdown=markdown,
    title_zh="查找符号使用",
    title_en="Find usages",
    intent="search",
    object="symbol",
    reads=True,
    description="Every place where a symbol is defined, called, imported or named in code. Comments and strings "
    "don't count. With ClassName.methodName, calls that mean that method come first and say how sure that is.",
)
