"""`grep_file`: text search in a file or folder (document 1, "grep_file"; spec README, "grep_file")."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from pydantic import Field

from toolwire.tools import filetypes
from toolwire.tools import markdown as md
from toolwire.tools.base import Context, Language, Tool, ToolInput, ToolOutput, path_field
from toolwire.tools.matches import Match
from toolwire.tools.pattern import Pattern
from toolwire.tools.search import Query, search


class Input(ToolInput):
    pattern: str = Field(min_length=1, description="Text to look for, or a regular expression with regex=true")
    path: str = path_field(".", "File or folder, relative to the project root; default: the whole project")
    regex: bool = Field(False, description="Read the pattern as a regular expression (Rust syntax)")
    case_sensitive: bool = False
    context_lines: int = Field(0, ge=0, description="Lines shown before and after each match")
    limit: int | None = Field(None, ge=1, description="Most matches given (default 20)")
    file_type: str = Field("all", description="An extension, a language name, `config`, or `all`")


class Line(ToolOutput):
    line: int
    text: str


class Hit(ToolOutput):
    path: str
    line: int
    column: int
    text: str
    before: list[Line] | None = None
    after: list[Line] | None = None


class Output(ToolOutput):
    pattern: str
    path: str
    matches: list[Hit]
    count: int
    """Matching lines given."""
    files: int
    """Files with matches, shown or not."""
    truncated: bool
    context_lines: int = 0


def run(context: Context, input: Input) -> Output:
    settings = context.settings
    query = Query(
        pattern=Pattern(input.pattern, input.regex, input.case_sensitive),
        path=context.workspace.normalise(input.path),
        globs=filetypes.globs(input.file_type),
        limit=min(input.limit or settings.grep_limit, settings.grep_max_limit),
        context_lines=min(input.context_lines, settings.grep_max_context),
    )
    found = search(context, query)
    return Output(
        pattern=input.pattern,
        path=query.path,
        matches=[_hit(match, query.context_lines) for match in found.matches],
        count=len(found.matches),
        files=found.files,
        truncated=found.truncated,
        context_lines=query.context_lines,
    )


def _hit(match: Match, context_lines: int) -> Hit:
    return Hit(
        path=match.path,
        line=match.line,
        column=match.column,
        text=match.text,
        before=[Line(line=near.line, text=near.text) for near in match.before] if context_lines else None,
        after=[Line(line=near.line, text=near.text) for near in match.after] if context_lines else None,
    )


def markdown(output: Output, language: Language) -> str:
    subject = output.path.rpartition("/")[2] if output.path != "." else output.pattern
    parts = [
        md.heading(language, "文件内容搜索", "File content search", subject),
        md.facts(_facts(output, language)),
    ]
    for path, hits in groupby(output.matches, key=lambda hit: hit.path):
        parts.append(f"### {md.one_line(path)}")
        parts.extend(md.fenced(block, md.fence_language(path)) for block in _blocks(list(hits)))
    if not output.matches:
        parts.append(md.pick(language, "未找到匹配内容。", "No match."))
    if output.truncated:
        parts.append(_more(output, language))
    return "\n\n".join(parts)


def _facts(output: Output, language: Language) -> Iterator[tuple[str, object]]:
    yield md.pick(language, "匹配数量", "Matches"), output.count
    yield md.pick(language, "搜索内容", "Pattern"), md.code(output.pattern)
    if output.path != ".":
        yield md.pick(language, "路径", "Path"), md.code(output.path)
    if output.files > 1:
        yield md.pick(language, "匹配文件数", "Files with matches"), output.files


def _blocks(hits: list[Hit]) -> Iterator[str]:
    """Matches whose surroundings touch share a block; without surroundings all share one."""
    with_context = hits[0].before is not None
    lines: dict[int, str] = {}
    matched: set[int] = set()
    for hit in hits:
        own = _lines_of(hit)
        if with_context and lines and min(own) > max(lines) + 1:
            yield md.numbered(sorted(lines.items()), frozenset(matched))
            lines, matched = {}, set()
        lines.update(own)
        matched.update(range(hit.line, hit.line + hit.text.count("\n") + 1))
    yield md.numbered(sorted(lines.items()), frozenset(matched) if with_context else frozenset())


def _lines_of(hit: Hit) -> dict[int, str]:
    around = {near.line: near.text for near in (*(hit.before or ()), *(hit.after or ()))}
    return around | dict(enumerate(hit.text.split("\n"), hit.line))


def _more(output: Output, language: Language) -> str:
    return md.pick(
        language,
        f"…（只显示前 {output.count} 个匹配，还有更多；请增大 limit，或用 relativePath、file_type 缩小范围）",
        f"… (only the first {output.count} matches; raise limit, or narrow by path or file_type)",
    )


TOOL = Tool(
    name="grep_file",
    input=Input,
    output=Output,
    run=run,
    markdown=markdown,
    title_zh="搜索文件内容",
    title_en="Search in files",
    intent="search",
    object="text",
    reads=True,
    description="Searches text or a regular expression in a file or folder of the project. Files that .gitignore "
    "names and binary files are skipped; matches come in the order of paths.",
)
