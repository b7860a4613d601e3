"""`read_method`: the source of a method, all its overloads or the one with given types (document 2, 3.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import AliasChoices, Field

from toolwire.errors import ToolError
from toolwire.tools import markdown as md
from toolwire.tools.base import Context, Language, Tool, ToolInput, ToolOutput
from toolwire.tools.symbols import IndexState, Sources, index_note, index_state, place

if TYPE_CHECKING:
    from toolwire.codemap.codemap import Codemap
    from toolwire.codemap.views import Symbol


class Input(ToolInput):
    class_name: str | None = Field(
        None,
        validation_alias=AliasChoices("className", "class_name"),
        description="Class the method is in; left out for a function outside any class",
    )
    method_name: str = Field(
        validation_alias=AliasChoices("methodName", "method_name"), min_length=1, description="Name of the method"
    )
    parameter_types: list[str] | None = Field(
        None,
        validation_alias=AliasChoices("parameterTypes", "parameter_types"),
        description="Types of the parameters, as written, to choose one overload; left out for all",
    )


class Method(ToolOutput):
    name: str
    kind: str
    container: str
    qualified: str
    path: str
    line: int
    end_line: int
    language: str
    signature: str
    parameter_types: list[str]
    inherited: bool = False
    """Found in a type above the class asked for."""
    source: str
    source_line: int


class Output(ToolOutput):
    methods: list[Method]
    index: IndexState | None = None


def run(context: Context, input: Input) -> Output:
    codemap = context.codemap
    found = codemap.functions(input.method_name, input.class_name)
    inherited = False
    if not found and input.class_name:
        if not codemap.classes(input.class_name):
            raise ToolError("class_not_found", name=input.class_name, field="className")
        found, inherited = codemap.inherited(input.method_name, input.class_name), True
    name = f"{input.class_name}.{input.method_name}" if input.class_name else input.method_name
    if not found:
        raise ToolError("method_not_found", name=name, field="methodName")
    typed = [(symbol, _types(codemap, symbol)) for symbol in found]
    if input.parameter_types is not None:
        typed = _chosen(typed, input.parameter_types, name)
    sources = Sources(context)
    methods = [_method(sources, symbol, types, inherited) for symbol, types in typed]
    return Output(methods=methods, index=index_state(context))


def _types(codemap: Codemap, symbol: Symbol) -> list[str]:
    page = codemap.page(symbol)
    parameters = page.parameters.get(symbol.ref.at, []) if page else []
    return [_tidy(parameter.type) or parameter.name for parameter in parameters]


def _chosen(typed: list[tuple[Symbol, list[str]]], wanted: list[str], name: str) -> list[tuple[Symbol, list[str]]]:
    """Types are compared as written, first whole, then without packages and generics."""
    for spell in (_tidy, _bare):
        chosen = [
            (symbol, types) for symbol, types in typed if [spell(t) for t in types] == [spell(t) for t in wanted]
        ]
        if chosen:
            return chosen
    known = "; ".join(f"({', '.join(types)})" for _, types in typed)
    raise ToolError("overload_not_found", name=name, types=", ".join(wanted), known=known, field="parameterTypes")


def _tidy(text: str) -> str:
    return " ".join(text.lstrip(": ").split())


def _bare(text: str) -> str:
    plain = _tidy(text).split("<")[0].split("[")[0]
    return plain.replace("::", ".").replace("\\", ".").rpartition(".")[2].strip("&*? ").lower()


def _method(sources: Sources, symbol: Symbol, types: list[str], inherited: bool) -> Method:
    first, text = sources.text(symbol)
    return Method(
        name=symbol.name,
        kind=symbol.kind,
        container=symbol.container,
        qualified=symbol.qualified,
        path=symbol.path,
        line=symbol.line,
        end_line=symbol.end_line,
        language=symbol.language,
        signature=symbol.signature,
        parameter_types=types,
        inherited=inherited,
        source=text,
        source_line=first,
    )


def markdown(output: Output, language: Language) -> str:
    parts = [part for method in output.methods for part in _markdown(method, language)]
    return "\n\n".join([*parts, *index_note(output.index, language)])


def _markdown(method: Method, language: Language) -> list[str]:
    pick = md.pick
    facts = [
        (pick(language, "方法", "Method"), md.code(method.signature)),
        (pick(language, "路径", "Path"), md.code(place(method.path, method.line, method.end_line))),
    ]
    if method.container:
        facts.insert(0, (pick(language, "类名", "Class"), md.code(method.container)))
    if method.inherited:
        facts.append((pick(language, "继承自", "Inherited from"), md.code(method.container)))
    rows = md.numbered(enumerate(method.source.split("\n"), method.source_line))
    title = f"{method.container}.{method.name}" if method.container else method.name
    return [
        f"## {md.one_line(title)}",
        "\n".join(f"- **{name}**: {value}" for name, value in facts),
        md.fenced(rows, md.fence_language(method.path)),
    ]


TOOL = Tool(
    name="read_method",
    input=Input,
    output=Output,
    run=run,
    markdown=markdown,
    title_zh="读取方法源码",
    title_en="Read a method",
    intent="read",
    object="method",
    reads=True,
    description="Reads the source of a method with its comments and annotations, every overload of it, or the one "
    "with the given parameter types. Without a class: every function of that name.",
)
