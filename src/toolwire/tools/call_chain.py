"""`call_chain`: who calls a method and whom it calls, to a depth (document 1, "call_chain"; spec README)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import AliasChoices, Field

from toolwire.errors import ToolError
from toolwire.tools import markdown as md
from toolwire.tools.base import Context, Language, Tool, ToolInput, ToolOutput
from toolwire.tools.symbols import (
    CERTAINTY_ZH,
    Certainty,
    IndexState,
    Sources,
    SymbolOut,
    index_note,
    index_state,
    place,
    symbol_out,
)

if TYPE_CHECKING:
    from toolwire.codemap.views import Node, Symbol

Direction = Literal["callers", "callees", "both"]
_INDENT = "  "


class Input(ToolInput):
    method: str = Field(min_length=1, description="ClassName.methodName, or a bare function name")
    direction: Direction = Field("both", description="callers, callees, or both")
    depth: int = Field(1, ge=1, description="Levels to walk")
    include_source: bool = Field(
        False,
        validation_alias=AliasChoices("includeSource", "include_source"),
        description="Add the source of every method in the chain",
    )


class Step(ToolOutput):
    """A method in the chain, how sure the call is, and where it is made."""

    symbol: SymbolOut
    certainty: Certainty
    override: bool = False
    """Reached if the receiver is of a type below the one that is written there."""
    sites: list[str]
    """`path:line` of the calls."""
    cycle: bool = False
    cut: bool = False
    left_out: int = 0
    source: str | None = None
    steps: list[Step] = Field(default_factory=list)


class Root(ToolOutput):
    symbol: SymbolOut
    source: str | None = None
    callers: list[Step] | None = None
    callers_cut: bool = False
    callers_left_out: int = 0
    callees: list[Step] | None = None
    callees_cut: bool = False
    callees_left_out: int = 0


class Output(ToolOutput):
    method: str
    direction: Direction
    depth: int
    """Levels really walked at most."""
    methods: list[Root]
    """Every overload and every class of that name."""
    index: IndexState | None = None


def run(context: Context, input: Input) -> Output:
    found = find(context, input.method)
    if not found:
        raise ToolError("method_not_found", name=input.method, field="method")
    depth = min(input.depth, context.settings.chain_depth)
    sources = Sources(context) if input.include_source else None
    roots = [_root(context, symbol, input.direction, depth, sources) for symbol in found]
    return Output(
        method=input.method, direction=input.direction, depth=depth, methods=roots, index=index_state(context)
    )


def find(context: Context, method: str) -> list[Symbol]:
    """The functions meant. A class's name means its construction, an inherited method the one above that it is."""
    name = method.strip().replace("::", ".").replace("#", ".").replace("->", ".").removesuffix("()")
    owner, _, last = name.rpartition(".")
    codemap = context.codemap
    found = codemap.functions(last, owner or None)
    if not found and owner and codemap.classes(owner):
        found = codemap.inherited(last, owner)
    return found or codemap.classes(name)


def _root(context: Context, symbol: Symbol, direction: Direction, depth: int, sources: Sources | None) -> Root:
    root = Root(symbol=symbol_out(symbol), source=_source(sources, symbol))
    update: dict[str, object] = {}
    if direction != "callees":
        node = context.codemap.callers(symbol, depth, context.check)
        update |= {
            "callers": _steps(node, sources), "callers_cut": node.cut, "callers_left_out": node.left_out,
        }  # fmt: skip
    if direction != "callers":
        node = context.codemap.callees(symbol, depth, context.check)
        update |= {
            "callees": _steps(node, sources), "callees_cut": node.cut, "callees_left_out": node.left_out,
        }  # fmt: skip
    return root.model_copy(update=update)


def _steps(node: Node, sources: Sources | None) -> list[Step]:
    return [
        Step(
            symbol=symbol_out(child.symbol),
            certainty=child.certainty,
            override=child.via == "override",
            sites=[place(site.path, site.line) for site in child.sites],
            cycle=child.cycle,
            cut=child.cut,
            left_out=child.left_out,
            source=None if child.cycle else _source(sources, child.symbol),
            steps=_steps(child, sources),
        )
        for child in node.children
    ]


def _source(sources: Sources | None, symbol: Symbol) -> str | None:
    return sources.text(symbol)[1] if sources is not None and symbol.kind != "file" else None


def markdown(output: Output, language: Language) -> str:
    pick = md.pick
    parts = [
        md.heading(language, "调用链", "Call chain", output.method),
        md.facts(
            (
                (pick(language, "方向", "Direction"), output.direction),
                (pick(language, "深度", "Depth"), output.depth),
                (pick(language, "匹配方法", "Methods found"), len(output.methods)),
            )
        ),
    ]
    for root in output.methods:
        parts += _root_markdown(root, language)
    return "\n\n".join([*parts, *index_note(output.index, language)])


def _root_markdown(root: Root, language: Language) -> list[str]:
    pick = md.pick
    symbol = root.symbol
    parts = [f"### {md.code(_title(symbol))}", md.code(place(symbol.path, symbol.line, symbol.end_line))]
    if root.source is not None:
        parts.append(md.fenced(root.source, md.fence_language(symbol.path)))
    for title, steps, cut, left_out in (
        (pick(language, "调用者", "Callers"), root.callers, root.callers_cut, root.callers_left_out),
        (pick(language, "被调用者", "Callees"), root.callees, root.callees_cut, root.callees_left_out),
    ):
        if steps is None:
            continue
        rows = [*_rows(steps, 0, language), *_more(cut, left_out, 0, language)]
        none = pick(language, "（无）", "(none)")
        parts.append("\n".join([f"**{title}** ({len(steps)})", "", *(rows or [none])]))
    return parts


def _rows(steps: list[Step], level: int, language: Language) -> list[str]:
    rows: list[str] = []
    for step in steps:
        rows.append(_row(step, level, language))
        if step.source is not None:
            fence = md.fenced(step.source, md.fence_language(step.symbol.path))
            rows += ["", *(_INDENT * (level + 1) + line for line in fence.split("\n")), ""]
        rows += _rows(step.steps, level + 1, language)
        rows += _more(step.cut, step.left_out, level + 1, language)
    return rows


def _row(step: Step, level: int, language: Language) -> str:
    pick = md.pick
    sure = CERTAINTY_ZH[step.certainty] if language == "zh" else step.certainty
    notes = [sure]
    if step.override:
        notes.append(pick(language, "重写", "override"))
    if step.cycle:
        notes.append(pick(language, "循环", "cycle"))
    return f"{_INDENT * level}- {md.code(_title(step.symbol))} [{', '.join(notes)}] {', '.join(step.sites)}"


def _more(cut: bool, left_out: int, level: int, language: Language) -> list[str]:
    rows = []
    if left_out:
        text = md.pick(language, f"…另有 {left_out} 处仅同名", f"… and {left_out} more by name only")
        rows.append(f"{_INDENT * level}- {text}")
    if cut:
        rows.append(f"{_INDENT * level}- {md.pick(language, '…已截断', '… cut here')}")
    return rows


def _title(symbol: SymbolOut) -> str:
    name = f"{symbol.container}.{symbol.name}" if symbol.container else symbol.name
    if symbol.kind == "file" or "(" not in symbol.signature:
        return symbol.path if symbol.kind == "file" else name
    return f"{name}({symbol.signature.partition('(')[2].rpartition(')')[0]})"


TOOL = Tool(
    name="call_chain",
    input=Input,
    output=Output,
    run=run,
    markdown=markdown,
    title_zh="分析调用关系",
    title_en="Walk the call chain",
    intent="analyze",
    object="method",
    reads=True,
    description="Who calls a method and whom it calls, to a depth, over the whole project; each step says how sure "
    "it is (exact, likely, name only). Every overload and every class of that name is followed.",
)
