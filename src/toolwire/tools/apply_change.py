"""`apply_change`: one piece of code for another, or a new file, formatted (documents 1 and 2; spec README).

An empty `searchContent` makes a file. Otherwise it must be found once: exactly, else without regard to indentation,
in which case the replacement is set in as the code it replaces is.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import AliasChoices, Field

from toolwire.errors import ToolError
from toolwire.tools import markdown as md
from toolwire.tools import writing
from toolwire.tools.base import Context, Language, Tool, path_field
from toolwire.tools.formatting import Formatted, format_lines
from toolwire.tools.matching import Match, matches
from toolwire.tools.patch import unified
from toolwire.tools.strings import adapted
from toolwire.tools.textfile import Text
from toolwire.tools.writing import Existing, WriteInput, WriteResult


class Input(WriteInput):
    path: str = path_field()
    search_content: str = Field(
        "",
        validation_alias=AliasChoices("searchContent", "search_content"),
        description="The code to change, as it is in the file; empty or absent creates the file",
    )
    replace_content: str = Field(
        validation_alias=AliasChoices("replaceContent", "replace_content"), description="The code to put there"
    )
    description: str | None = Field(None, description="What the change is for")


class Output(WriteResult):
    matched: Literal["exact", "indentation"] | None = None
    """How the place was found; absent for a new file."""
    line: int
    """First changed line, from 1."""
    format_trouble: str | None = None
    """Why a formatter that is there left the lines as they were given."""
    description: str | None = None


def run(context: Context, input: Input) -> Output:
    if not input.search_content:
        return _create(context, input)
    before = writing.existing(context, input.path, input.expected_hash, must_be_seen=False)
    match = _only_match(context, before, input)
    text = before.text[: match.start] + match.replacement + before.text[match.end :]
    formatted = _formatted(context, before.path, before.kind, text, match.start, match.start + len(match.replacement))
    fields = writing.change(context, before, formatted.text)
    return Output(
        matched=match.how,
        line=_line(before.text, match.start),
        patch=tuple(unified(before.text, formatted.text)),
        **_told(formatted, input),
        **fields,
    )


def _create(context: Context, input: Input) -> Output:
    path = writing.new_path(context, input.path, input.expected_hash)
    text = input.replace_content
    formatted = _formatted(context, path, Text(text), text, 0, len(text))
    return Output(line=1, **_told(formatted, input), **writing.create(context, path, formatted.text))


def _told(formatted: Formatted, input: Input) -> dict[str, Any]:
    return {
        "formatted_by": formatted.by,
        "format_trouble": formatted.trouble,
        "description": input.description,
    }


def _only_match(context: Context, before: Existing, input: Input) -> Match:
    search = adapted(before.kind, input.search_content, lenient=True)
    replace = adapted(before.kind, input.replace_content, lenient=True)
    found = matches(before.text, search, replace)
    if not found:
        shown = input.search_content[: context.settings.edit_excerpt]
        raise ToolError("content_not_found", path=before.path, search=shown)
    if len(found) > 1:
        raise _ambiguous(context, before, found)
    return found[0]


def _ambiguous(context: Context, before: Existing, found: list[Match]) -> ToolError:
    rows = []
    lines = [_line(before.text, match.start) for match in found]
    whole = before.text.split("\n")
    for line in lines[: context.settings.matches_listed]:
        rows.append(f"{before.path}:{line}: {whole[line - 1].strip()[: context.settings.edit_excerpt]}")
    if len(lines) > len(rows):
        rows.append("…")
    return ToolError("content_ambiguous", path=before.path, count=len(found), lines=lines, places="\n".join(rows))


def _formatted(context: Context, path: str, kind: Text, text: str, start: int, end: int) -> Formatted:
    """The text with the lines of `start:end` formatted. Formatters see `\\n`; other line ends are put back after."""
    first = _line(text, start)
    last = _line(text, max(start, end - 1)) if end > start else first - 1
    if kind.newline == "\n" and not kind.mixed_newlines:
        return format_lines(context, path, text, first, last)
    if kind.newline != "\r\n" or kind.mixed_newlines:
        return Formatted(text)
    done = format_lines(context, path, text.replace("\r\n", "\n"), first, last)
    back = done.text.replace("\n", "\r\n") if done.by else text
    return Formatted(back, done.by, done.trouble)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def markdown(output: Output, language: Language) -> str:
    more: list[tuple[str, object]] = []
    if output.description:
        more.append((md.pick(language, "说明", "Description"), md.one_line(output.description)))
    if output.matched == "indentation":
        found = md.pick(language, "忽略缩进匹配，已重新缩进", "indentation ignored, set in anew")
        more.append((md.pick(language, "匹配方式", "Found"), found))
    if output.format_trouble:
        more.append((md.pick(language, "未格式化", "Not formatted"), output.format_trouble))
    return writing.markdown(output, language, *more)


TOOL = Tool(
    name="apply_change",
    input=Input,
    output=Output,
    run=run,
    markdown=markdown,
    title_zh="应用代码修改",
    title_en="Apply a code change",
    intent="edit",
    object="file",
    reads=False,
    risk="medium",
    description="Replaces a piece of code in a file (found exactly, else ignoring indentation), or creates a file; "
    "the changed lines are formatted where the language's formatter is installed.",
)
