"""`Edit`: one string of a file for another (document 4, 2). An empty old_string makes a new file."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from toolwire.errors import ToolError
from toolwire.tools import writing
from toolwire.tools.base import Context, Language, Tool, path_field
from toolwire.tools.places import Places
from toolwire.tools.strings import substitute
from toolwire.tools.writing import WriteInput, WriteResult


class Input(WriteInput):
    path: str = path_field()
    old_string: str = Field(description="What is there now, exactly; must be unique unless replace_all is set")
    new_string: str = Field(description="What to put there")
    replace_all: bool = Field(False, description="Replace every occurrence")


class Output(WriteResult):
    old_string: str = Field(alias="oldString")
    new_string: str = Field(alias="newString")
    original_file: str = Field(alias="originalFile")
    """The whole file before the edit."""
    occurrences: int


def run(context: Context, input: Input) -> Output:
    strings = {"old_string": input.old_string, "new_string": input.new_string}
    if not input.old_string and not context.workspace.exists(input.path):
        if not input.new_string:
            raise ToolError("same_strings")
        path = writing.new_path(context, input.path, input.expected_hash)
        fields = writing.create(context, path, input.new_string)
        return Output(**strings, original_file="", occurrences=1, **fields)
    before = writing.existing(context, input.path, input.expected_hash)
    if not input.old_string and before.text:
        raise ToolError("file_exists", path=before.path)
    places = Places(before.text)
    count = substitute(
        places,
        before.kind,
        input.old_string,
        input.new_string,
        replace_all=input.replace_all,
        excerpt=context.settings.edit_excerpt,
    )
    fields = writing.change(context, before, places.text)
    return Output(**strings, original_file=before.text, occurrences=count, patch=tuple(places.hunks()), **fields)


def data(output: Output) -> dict[str, Any]:
    """Document 4's fields and no others."""
    return {
        "filePath": output.file_path,
        "oldString": output.old_string,
        "newString": output.new_string,
        "originalFile": output.original_file,
        "structuredPatch": [hunk.model_dump(by_alias=True, mode="json") for hunk in output.patch],
    }


def markdown(output: Output, language: Language) -> str:
    more = (("替换次数" if language == "zh" else "Replaced", output.occurrences),) if output.occurrences > 1 else ()
    return writing.markdown(output, language, *more)


TOOL = Tool(
    name="Edit",
    input=Input,
    output=Output,
    run=run,
    markdown=markdown,
    title_zh="编辑文件",
    title_en="Edit a file",
    intent="edit",
    object="file",
    reads=False,
    risk="medium",
    description="Replaces one string of a file that was read before in this session by another.",
)
