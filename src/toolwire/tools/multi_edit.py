"""`MultiEdit`: edits of one file, in order, each on the result of the last, all or nothing (document 4, 3)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from toolwire.errors import ToolError
from toolwire.tools import writing
from toolwire.tools.base import Context, Language, Tool, ToolInput, ToolOutput, path_field
from toolwire.tools.places import Places
from toolwire.tools.strings import substitute
from toolwire.tools.textfile import Text
from toolwire.tools.texts import sentence
from toolwire.tools.writing import WriteInput, WriteResult


class EditItem(ToolInput):
    old_string: str = Field(description="What is there now, exactly; empty in the first edit makes a new file")
    new_string: str
    replace_all: bool = False


class Input(WriteInput):
    path: str = path_field()
    edits: list[EditItem] = Field(min_length=1)


class EditResult(ToolOutput):
    edit_index: int = Field(alias="editIndex")
    """From 1."""
    success: bool
    old_string: str
    new_string: str
    occurrences: int


class Output(WriteResult):
    was_new_file: bool = Field(alias="wasNewFile")
    edits_applied: tuple[EditResult, ...] = Field(alias="editsApplied")
    total_edits: int = Field(alias="totalEdits")
    summary: str


def run(context: Context, input: Input) -> Output:
    if input.edits[0].old_string == "" and not context.workspace.exists(input.path):
        return _made(context, input)
    before = writing.existing(context, input.path, input.expected_hash)
    if input.edits[0].old_string == "" and before.text:
        raise _failed(1, ToolError("file_exists", path=before.path))
    places = Places(before.text)
    applied = [_apply(context, places, before.kind, number, edit) for number, edit in enumerate(input.edits, 1)]
    fields = writing.change(context, before, places.text)
    return _output(applied, fields, patch=tuple(places.hunks()))


def _made(context: Context, input: Input) -> Output:
    path = writing.new_path(context, input.path, input.expected_hash)
    first, *rest = input.edits
    places = Places(first.new_string)
    file = Text(first.new_string)
    applied = [_result(context, 1, first, 1)]
    applied += [_apply(context, places, file, number, edit) for number, edit in enumerate(rest, 2)]
    return _output(applied, writing.create(context, path, places.text))


def _apply(context: Context, places: Places, file: Text, number: int, edit: EditItem) -> EditResult:
    try:
        count = substitute(
            places,
            file,
            edit.old_string,
            edit.new_string,
            replace_all=edit.replace_all,
            excerpt=context.settings.edit_excerpt,
        )
    except ToolError as error:
        raise _failed(number, error) from None
    return _result(context, number, edit, count)


def _result(context: Context, number: int, edit: EditItem, count: int) -> EditResult:
    most = context.settings.edit_excerpt
    return EditResult(
        edit_index=number,
        success=True,
        old_string=edit.old_string[:most],
        new_string=edit.new_string[:most],
        occurrences=count,
    )


def _failed(number: int, error: ToolError) -> ToolError:
    return ToolError("edit_failed", edit=number, reason=sentence(error, "en"), reason_zh=sentence(error, "zh"))


def _output(applied: list[EditResult], fields: dict[str, Any], **more: Any) -> Output:
    count = len(applied)
    return Output(
        was_new_file=fields.get("created", False),
        edits_applied=tuple(applied),
        total_edits=count,
        summary=f"Successfully applied {count} edit{'' if count == 1 else 's'} to {fields['path']}",
        **fields,
        **more,
    )


def data(output: Output) -> dict[str, Any]:
    """Document 4's fields and no others."""
    return {
        "filePath": output.file_path,
        "wasNewFile": output.was_new_file,
        "editsApplied": [edit.model_dump(by_alias=True, mode="json") for edit in output.edits_applied],
        "totalEdits": output.total_edits,
        "summary": output.summary,
        "structuredPatch": [hunk.model_dump(by_alias=True, mode="json") for hunk in output.patch],
    }


def markdown(output: Output, language: Language) -> str:
    return writing.markdown(output, language, ("编辑数" if language == "zh" else "Edits", output.total_edits))


TOOL = Tool(
    name="MultiEdit",
    input=Input,
    output=Output,
    run=run,
    markdown=markdown,
    title_zh="批量编辑文件",
    title_en="Edit a file in several places",
    intent="edit",
    object="file",
    reads=False,
    risk="medium",
    description="Applies several string replacements to one file that was read before in this session: all or none.",
)
