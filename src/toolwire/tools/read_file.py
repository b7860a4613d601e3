"""`read_file`: a text file or a range of its lines (document 1, "read_file"; spec README, "read_file")."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pydantic import Field

from toolwire.errors import ToolError
from toolwire.tools import markdown as md
from toolwire.tools.base import Context, Language, Tool, ToolInput, ToolOutput, path_field
from toolwire.tools.large_file import Wanted, read_window
from toolwire.tools.refusals import told
from toolwire.tools.textfile import Text, content_hash, decode

NEWLINE_NAMES = {"\n": "lf", "\r\n": "crlf", "\r": "cr"}


class Input(ToolInput):
    path: str = path_field()
    start_line: int | None = Field(None, ge=1, description="First line, counted from 1, inclusive")
    end_line: int | None = Field(None, ge=1, description="Last line, inclusive")
    line: int | None = Field(None, ge=1, description="Centre on this line, unless start_line or end_line is given")
    context_lines: int | None = Field(None, ge=0, description="Lines before and after `line` (default 20)")


class Output(ToolOutput):
    content: str
    """The lines asked for, exactly as they are in the file."""
    path: str
    start_line: int
    end_line: int
    """Before `start_line` if the file is empty."""
    total_lines: int
    truncated: bool
    next_start_line: int | None = None
    """Where to go on, if the answer was cut."""
    line: int | None = None
    """The line it is centred on."""
    encoding: str
    newline: str
    size: int
    hash: str


def run(context: Context, input: Input) -> Output:
    path = context.workspace.normalise(input.path)
    try:
        data = context.workspace.read_bytes(path)
    except ToolError as error:
        if error.kind != "file_too_large":
            raise
        return _of_large(context, input, path)
    text = decode(data, path)
    digest = content_hash(data)
    context.seen.note(path, digest, data)
    context.check()
    lines = text.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    asked = _asked(input, path, context.settings.read_context_lines)
    first, last = asked.within(path, len(lines))
    end = _cut(lines, first, last, context.settings.read_max_lines, context.settings.result_limit * 3 // 4)
    content = "\n".join(lines[first - 1 : end])
    if end and (end < len(lines) or text.text.endswith("\n")):
        content += "\n"
    cut = end < last
    return Output(
        content=content,
        path=path,
        start_line=first,
        end_line=end,
        total_lines=len(lines),
        truncated=cut,
        next_start_line=end + 1 if cut else None,
        line=None if input.start_line or input.end_line else input.line,
        size=len(data),
        hash=digest,
        **_kind(text),
    )


def _of_large(context: Context, input: Input, path: str) -> Output:
    settings = context.settings
    asked = _asked(input, path, settings.read_context_lines)
    wanted = Wanted(asked.first, asked.last, settings.read_max_lines, settings.result_limit * 3 // 4)
    descriptor = context.workspace.open_file(path)
    try:
        with told(path):
            found = read_window(descriptor, path, wanted, context.check)
    finally:
        os.close(descriptor)
    context.seen.note(path, found.digest)
    first, last = asked.within(path, found.total)
    cut = found.end < last
    return Output(
        content=found.content,
        path=path,
        start_line=first,
        end_line=found.end,
        total_lines=found.total,
        truncated=cut,
        next_start_line=found.end + 1 if cut else None,
        line=None if input.start_line or input.end_line else input.line,
        size=found.size,
        hash=found.digest,
        **_kind(found.sample),
    )


def _kind(text: Text) -> dict[str, str]:
    return {
        "encoding": "utf-8-sig" if text.bom and text.encoding == "utf-8" else text.encoding,
        "newline": "mixed" if text.mixed_newlines else NEWLINE_NAMES[text.newline],
    }


@dataclass(frozen=True, slots=True)
class _Asked:
    """Lines from 1, inclusive; `must` is one the file must have."""

    first: int
    last: int | None
    must: int

    def within(self, path: str, total: int) -> tuple[int, int]:
        if self.must > max(total, 1):
            raise ToolError("line_out_of_range", path=path, line=self.must, total=total)
        return self.first, total if self.last is None else min(self.last, total)


def _asked(input: Input, path: str, around: int) -> _Asked:
    if input.start_line is not None or input.end_line is not None:
        first, last = input.start_line or 1, input.end_line
        if last is not None and first > last:
            raise ToolError("bad_line_range", path=path, start=first, end=last)
        return _Asked(first, last, first)
    if input.line is not None:
        context_lines = around if input.context_lines is None else input.context_lines
        return _Asked(max(1, input.line - context_lines), input.line + context_lines, input.line)
    return _Asked(1, None, 1)


def _cut(lines: list[str], first: int, last: int, most_lines: int, most_chars: int) -> int:
    """The last line that fits; at least one line is given, however long."""
    last_fitting = min(last, first + most_lines - 1)
    room = most_chars
    for number in range(first, last_fitting + 1):
        room -= len(lines[number - 1]) + 1
        if room < 0 and number > first:
            return number - 1
    return last_fitting


def markdown(output: Output, language: Language) -> str:
    lines = output.content.split("\n")
    if lines[-1] == "":
        lines.pop()
    shown = f"{output.start_line}-{output.end_line}" if lines else "0"
    parts = [
        md.heading(language, "文件内容", "File content", output.path.rpartition("/")[2]),
        md.facts(
            (
                (md.pick(language, "路径", "Path"), md.code(output.path)),
                (md.pick(language, "行范围", "Lines"), f"{shown} / {output.total_lines}"),
                (md.pick(language, "编码", "Encoding"), f"{output.encoding}, {output.newline}"),
            )
        ),
    ]
    if lines:
        marked = frozenset() if output.line is None else frozenset((output.line,))
        rows = md.numbered(enumerate(lines, output.start_line), marked)
        parts.append(md.fenced(rows, md.fence_language(output.path)))
    else:
        parts.append(md.pick(language, "（空文件）", "(empty file)"))
    if output.next_start_line is not None:
        parts.append(_go_on(output, language))
    return "\n\n".join(parts)


def _go_on(output: Output, language: Language) -> str:
    return md.pick(
        language,
        f"…（文件共 {output.total_lines} 行，内容已截断；用 start_line={output.next_start_line} 继续读取）",
        f"… (the file has {output.total_lines} lines, cut here; go on with start_line={output.next_start_line})",
    )


TOOL = Tool(
    name="read_file",
    input=Input,
    output=Output,
    run=run,
    markdown=markdown,
    title_zh="读取文件",
    title_en="Read a file",
    intent="read",
    object="file",
    reads=True,
    description="Reads a text file of the project, whole or a range of lines. Long files are cut; "
    "`next_start_line` says where to go on.",
)
