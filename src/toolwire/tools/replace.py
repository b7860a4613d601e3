"""`Replace`: a whole file, new or written over (document 4, 1).

Line ends and a final newline of the file survive: where all its lines end alike the new content gets the same ends,
and content without a final newline gets one if the file had one.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from toolwire.tools import writing
from toolwire.tools.base import Context, Language, Tool, path_field
from toolwire.tools.patch import unified
from toolwire.tools.strings import adapted
from toolwire.tools.writing import Existing, WriteInput, WriteResult


class Input(WriteInput):
    path: str = path_field()
    content: str = Field(description="The whole new content")


class Output(WriteResult):
    type: Literal["create", "update"]
    content: str
    """The whole file as it is now."""


def run(context: Context, input: Input) -> Output:
    if not context.workspace.exists(input.path):
        path = writing.new_path(context, input.path, input.expected_hash)
        return Output(type="create", content=input.content, **writing.create(context, path, input.content))
    before = writing.existing(context, input.path, input.expected_hash)
    content = _surviving(before, input.content)
    fields = writing.change(context, before, content)
    return Output(type="update", content=content, patch=tuple(unified(before.text, content)), **fields)


def _surviving(before: Existing, content: str) -> str:
    content = adapted(before.kind, content, lenient=True)
    newline = before.kind.newline
    if content and before.text.endswith(newline) and not content.endswith(("\n", "\r")):
        content += newline
    return content


def data(output: Output) -> dict[str, Any]:
    """Document 4's fields and no others."""
    return {
        "type": output.type,
        "filePath": output.file_path,
        "content": output.content,
        "structuredPatch": [hunk.model_dump(by_alias=True, mode="json") for hunk in output.patch],
    }


def markdown(output: Output, language: Language) -> str:
    return writing.markdown(output, language)


TOOL = Tool(
    name="Replace",
    input=Input,
    output=Output,
    run=run,
    markdown=markdown,
    title_zh="写入文件",
    title_en="Write a file",
    intent="write",
    object="file",
    reads=False,
    risk="medium",
    description="Creates a file, or replaces all of one that was read before in this session.",
)
