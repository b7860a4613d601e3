"""`read_result`: the rest of a result that was cut for size (spec README, "Result")."""

from __future__ import annotations

from pydantic import Field

from toolwire.tools import markdown as md
from toolwire.tools.base import Context, Language, Tool, ToolInput, ToolOutput


class Input(ToolInput):
    ref: str = Field(description="The reference the cut result names")
    offset: int = Field(0, ge=0, description="First character, counted from 0")
    limit: int | None = Field(None, ge=1, description="Most characters given")


class Output(ToolOutput):
    content: str
    ref: str
    offset: int
    total: int
    """Characters of the whole result."""
    next_offset: int | None = None
    """Where to go on; absent at the end."""


def run(context: Context, input: Input) -> Output:
    settings = context.settings
    # Room is left for the other fields, so that the answer is not itself cut for size.
    most = max(1, settings.result_limit * 3 // 4)
    limit = min(input.limit or settings.read_result_limit, most)
    piece = context.workspace.results.read(input.ref, input.offset, limit)
    return Output(
        content=piece.text, ref=input.ref, offset=piece.offset, total=piece.total, next_offset=piece.next_offset
    )


def markdown(output: Output, language: Language) -> str:
    if output.next_offset is None:
        return output.content
    last_line = md.pick(
        language,
        f"…（共 {output.total} 字符；用 read_result（ref={output.ref}，offset={output.next_offset}）继续读取）",
        f"… ({output.total} characters in all; go on with read_result ref={output.ref}, offset={output.next_offset})",
    )
    return f"{output.content}\n{last_line}"


TOOL = Tool(
    name="read_result",
    input=Input,
    output=Output,
    run=run,
    markdown=markdown,
    title_zh="读取完整结果",
    title_en="Read the rest of a result",
    intent="read",
    object="result",
    reads=True,
    description="Gives the rest of a tool result that was cut for size, from an offset on.",
)
