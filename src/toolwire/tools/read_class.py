"""`read_class`: a class by its name: its structure, its whole source, or its imports and fields (document 2, 3.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import AliasChoices, Field

from toolwire.errors import ToolError
from toolwire.tools import markdown as md
from toolwire.tools.base import Context, Language, Tool, ToolInput, ToolOutput
from toolwire.tools.symbols import IndexState, Sources, index_note, index_state

if TYPE_CHECKING:
    from toolwire.codemap.library import Page
    from toolwire.codemap.views import Symbol

Mode = Literal["structure", "full", "imports_fields"]


class Input(ToolInput):
    class_name: str = Field(
        validation_alias=AliasChoices("className", "class_name"),
        min_length=1,
        description="Name of the class, interface, struct, trait or enum; may be qualified (a.b.Outer.Inner)",
    )
    mode: Mode = Field("structure", description="structure, full, or imports_fields")


class Member(ToolOutput):
    kind: str
    name: str
    signature: str
    line: int
    end_line: int
    path: str | None = None
    """Where it is written, if not in the class's own file."""


class ClassOut(ToolOutput):
    name: str
    kind: str
    qualified: str
    path: str
    line: int
    end_line: int
    language: str
    signature: str
    bases: list[str]
    imports: list[str] | None = None
    fields: list[Member] | None = None
    methods: list[Member] | None = None
    types: list[Member] | None = None
    source: str | None = None
    source_line: int | None = None


class Output(ToolOutput):
    mode: Mode
    classes: list[ClassOut]
    """Every class of that name."""
    index: IndexState | None = None


def run(context: Context, input: Input) -> Output:
    found = context.codemap.classes(input.class_name)
    state = index_state(context)
    if not found:
        raise ToolError("class_not_found", name=input.class_name, field="className", hint=_hint(state))
    sources = Sources(context)
    classes = [_class(context, sources, symbol, input.mode) for symbol in found]
    return Output(mode=input.mode, classes=classes, index=state)


def _hint(state: IndexState | None) -> str | None:
    return f"index {state.done}/{state.total}" if state else None


def _class(context: Context, sources: Sources, symbol: Symbol, mode: Mode) -> ClassOut:
    page = context.codemap.page(symbol)
    out = ClassOut(
        name=symbol.name,
        kind=symbol.kind,
        qualified=symbol.qualified,
        path=symbol.path,
        line=symbol.line,
        end_line=symbol.end_line,
        language=symbol.language,
        signature=symbol.signature,
        bases=page.bases.get(symbol.ref.at, []) if page else [],
    )
    if page is None:
        return out
    if mode == "full":
        first, text = sources.text(symbol)
        return out.model_copy(update={"source": text, "source_line": first})
    update: dict[str, object] = {"fields": _fields(page, sources, symbol)}
    if mode == "imports_fields":
        update["imports"] = _imports(page, sources)
    else:
        update |= _inside(context, symbol)
    return out.model_copy(update=update)


def _fields(page: Page, sources: Sources, symbol: Symbol) -> list[Member]:
    lines = sources.lines(symbol.path)
    found: dict[str, Member] = {}
    for variable in page.sheet.variables:
        if variable.scope == symbol.ref.at and variable.role in "fp" and variable.name not in found:
            text = lines[variable.line - 1].strip().rstrip(";,") if variable.line <= len(lines) else variable.name
            found[variable.name] = Member(
                kind="field", name=variable.name, signature=text, line=variable.line, end_line=variable.line
            )
    return list(found.values())


def _imports(page: Page, sources: Sources) -> list[str]:
    lines = sources.lines(page.path)
    numbers = dict.fromkeys(item.line for item in page.sheet.imports if item.module)
    return [lines[number - 1].strip() for number in numbers if number <= len(lines)]


def _inside(context: Context, symbol: Symbol) -> dict[str, object]:
    methods: list[Member] = []
    types: list[Member] = []
    for one in context.codemap.members(symbol):
        member = Member(
            kind=one.kind,
            name=one.name,
            signature=one.signature,
            line=one.line,
            end_line=one.end_line,
            path=one.path if one.path != symbol.path else None,
        )
        (methods if one.kind in ("method", "constructor", "function", "declaration") else types).append(member)
    return {"methods": methods, "types": types}


def markdown(output: Output, language: Language) -> str:
    parts = [part for one in output.classes for part in _markdown(one, language)]
    return "\n\n".join([*parts, *index_note(output.index, language)])


def _markdown(one: ClassOut, language: Language) -> list[str]:
    pick = md.pick
    facts = [
        (pick(language, "类名", "Class"), md.code(one.name)),
        (pick(language, "路径", "Path"), md.code(one.path)),
        (pick(language, "类型", "Kind"), one.kind),
        (pick(language, "全名", "Full name"), md.code(one.qualified)),
        (pick(language, "行范围", "Lines"), f"{one.line}-{one.end_line}"),
    ]
    if one.bases:
        facts.append((pick(language, "继承/实现", "Extends"), ", ".join(md.code(base) for base in one.bases)))
    parts = [
        f"## {md.one_line(one.path.rpartition('/')[2])}",
        "\n".join(f"- **{name}**: {value}" for name, value in facts),
    ]
    if one.source is not None and one.source_line is not None:
        rows = md.numbered(enumerate(one.source.split("\n"), one.source_line))
        parts.append(md.fenced(rows, md.fence_language(one.path)))
    if one.imports is not None:
        parts.append(_section(pick(language, "导入", "Imports"), [md.code(text) for text in one.imports]))
    for title_zh, title_en, members in (
        ("字段", "Fields", one.fields),
        ("方法", "Methods", one.methods),
        ("内部类型", "Types inside", one.types),
    ):
        if members:
            parts.append(_section(pick(language, title_zh, title_en), [_member(member) for member in members]))
    return parts


def _section(title: str, rows: list[str]) -> str:
    return "\n".join([f"### {title}", "", *(f"- {row}" for row in rows)])


def _member(member: Member) -> str:
    lines = str(member.line) if member.line == member.end_line else f"{member.line}-{member.end_line}"
    where = f"{member.path}:{lines}" if member.path else f"L{lines}"
    return f"{md.code(member.signature)} ({where})"


TOOL = Tool(
    name="read_class",
    input=Input,
    output=Output,
    run=run,
    markdown=markdown,
    title_zh="读取类结构",
    title_en="Read a class",
    intent="read",
    object="class",
    reads=True,
    description="Reads a class by its name, wherever it is: its fields, methods and bases (structure), its whole "
    "source (full), or imports and fields (imports_fields). Every class of that name is given.",
)
