"""`NotebookEditCell`: one cell of a Jupyter notebook replaced, inserted or deleted (document 4, 4).

The file stays valid nbformat after every mode; cells that are not touched keep their bytes. What many generated
notebooks lack (a cell's id, metadata, outputs) is filled in, and an id that is none (doubled, too long, with other
characters, in a format before ids) is made one or goes, since a file with it is not valid.
"""

from __future__ import annotations

import re
import uuid
import warnings
from typing import Any, Literal

from pydantic import AliasChoices, Field, model_validator

from toolwire.errors import ToolError
from toolwire.tools import writing
from toolwire.tools.base import Context, Language, Tool
from toolwire.tools.notebook_text import Cell, Kept, NotebookText
from toolwire.tools.patch import unified
from toolwire.tools.writing import Existing, WriteInput, WriteResult

EditMode = Literal["replace", "insert", "delete"]

_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""A cell's id, from format 4.5 on."""

_MODES = {"replace": ("替换", "replaced"), "insert": ("插入", "inserted"), "delete": ("删除", "deleted")}


class Input(WriteInput):
    path: str = Field(
        validation_alias=AliasChoices(
            "notebook_path", "notebookPath", "path", "relativePath", "file_path", "filePath"
        )
    )
    cell_number: int = Field(
        description="From 0; to insert, the number the new cell gets, the count of cells appends"
    )
    new_source: str | None = Field(None, description="The cell's new content; not needed to delete")
    cell_type: Literal["code", "markdown"] | None = Field(None, description="Default: as it is; of a new cell, code")
    edit_mode: EditMode = "replace"

    @model_validator(mode="after")
    def _source_is_there(self) -> Input:
        if self.new_source is None and self.edit_mode != "delete":
            raise ValueError(f"new_source is required to {self.edit_mode} a cell")
        return self


class Output(WriteResult):
    cell_number: int
    new_source: str
    cell_type: str
    language: str
    edit_mode: EditMode


def run(context: Context, input: Input) -> Output:
    before = writing.existing(context, input.path, input.expected_hash)
    file = _parsed(before)
    language = _language(file.notebook)
    count = len(file.cells)
    most = count if input.edit_mode == "insert" else count - 1
    if not 0 <= input.cell_number <= most:
        raise ToolError("cell_out_of_bounds", cells=count, language=language)
    cells: list[Cell | Kept] = [Kept(number) for number in range(count)]
    kind = _edit(file, cells, input)
    _complete(file, cells)
    text = file.with_cells(cells)
    _check_valid(NotebookText.parse(text).notebook, before.path)
    fields = writing.change(context, before, text)
    return Output(
        cell_number=input.cell_number,
        new_source=input.new_source or "",
        cell_type=kind,
        language=language,
        edit_mode=input.edit_mode,
        patch=tuple(unified(before.text, text)),
        **fields,
    )


def _parsed(before: Existing) -> NotebookText:
    try:
        file = NotebookText.parse(before.text)
    except (ValueError, IndexError, RecursionError) as error:
        raise ToolError("not_a_notebook", path=before.path, reason=str(error)) from None
    if file.notebook.get("nbformat") != 4:
        reason = f"nbformat {file.notebook.get('nbformat')}, only 4 can be edited"
        raise ToolError("not_a_notebook", path=before.path, reason=reason)
    if not all(isinstance(cell, dict) for cell in file.cells):
        raise ToolError("not_a_notebook", path=before.path, reason="a cell is no object")
    return file


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    if isinstance(metadata, dict):
        for part, name in (("language_info", "name"), ("kernelspec", "language")):
            found = metadata.get(part)
            if isinstance(found, dict) and isinstance(found.get(name), str) and found[name]:
                return str(found[name])
    return "python"


def _edit(file: NotebookText, cells: list[Cell | Kept], input: Input) -> str:
    """Change the list of cells as asked; the type of the cell in question."""
    at = input.cell_number
    source = input.new_source or ""
    if input.edit_mode == "insert":
        kind: str = input.cell_type or "code"
        cells.insert(at, _new_cell(kind, _source_like(file, source)))
        return kind
    old = file.cells[at]
    kind = input.cell_type or str(old.get("cell_type", "code"))
    if input.edit_mode == "delete":
        del cells[at]
    else:
        cells[at] = _replaced(old, kind, source if isinstance(old.get("source"), str) else _lines(source))
    return kind


def _new_cell(kind: str, source: str | list[str]) -> Cell:
    cell: Cell = {"cell_type": kind, "metadata": {}, "source": source}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return dict(sorted(cell.items()))


def _replaced(old: Cell, kind: str, source: str | list[str]) -> Cell:
    """The old cell with a new source; what was computed from the old source goes."""
    cell = {**old, "cell_type": kind, "source": source}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
        cell.pop("attachments", None)
    else:
        cell.pop("execution_count", None)
        cell.pop("outputs", None)
    return cell


def _source_like(file: NotebookText, source: str) -> str | list[str]:
    """Jupyter writes a source as a list of lines; some programs as one string. As the file does."""
    strings = any(isinstance(cell.get("source"), str) for cell in file.cells)
    return source if strings else _lines(source)


def _lines(source: str) -> list[str]:
    pieces = source.split("\n")
    lines = [piece + "\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines


def _complete(file: NotebookText, cells: list[Cell | Kept]) -> None:
    """Fill in what a valid cell must have and this one has not; only such cells are written anew."""
    minor = file.notebook.get("nbformat_minor", 0)
    with_ids = isinstance(minor, int) and minor >= 5
    taken: set[str] = set()
    for place, entry in enumerate(cells):
        cell = file.cells[entry.number] if isinstance(entry, Kept) else entry
        whole = {**cell, "metadata": cell.get("metadata", {})}
        if cell.get("cell_type") == "code":
            whole = {"execution_count": None, "outputs": [], **whole}
        if with_ids:
            known = cell.get("id")
            good = isinstance(known, str) and _ID.fullmatch(known) and known not in taken
            whole["id"] = known if good else _fresh_id(file, taken)
            taken.add(whole["id"])
        else:
            whole.pop("id", None)
        if whole != cell:
            cells[place] = dict(sorted(whole.items()))


def _fresh_id(file: NotebookText, taken: set[str]) -> str:
    used = {cell.get("id") for cell in file.cells}
    while True:
        fresh = uuid.uuid4().hex[:8]
        if fresh not in taken and fresh not in used:
            return fresh


def _check_valid(notebook: dict[str, Any], path: str) -> None:
    import nbformat  # slow to import, and needed by this tool alone

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            nbformat.validate(notebook)
        except nbformat.ValidationError as error:
            raise ToolError("not_a_notebook", path=path, reason=str(error).splitlines()[0]) from None


def data(output: Output) -> dict[str, Any]:
    """Document 4's fields and no others."""
    return {
        "cell_number": output.cell_number,
        "new_source": output.new_source,
        "cell_type": output.cell_type,
        "language": output.language,
        "edit_mode": output.edit_mode,
    }


def failure(arguments: dict[str, Any], error: ToolError, message: str) -> dict[str, Any]:
    """The fields as asked, and why it was not done."""
    source, kind, mode = arguments.get("new_source"), arguments.get("cell_type"), arguments.get("edit_mode")
    number = arguments.get("cell_number")
    return {
        "cell_number": number if isinstance(number, int) else 0,
        "new_source": source if isinstance(source, str) else "",
        "cell_type": kind if isinstance(kind, str) else "code",
        "language": error.facts.get("language", "python"),
        "edit_mode": mode if isinstance(mode, str) else "replace",
        "error": message,
    }


def markdown(output: Output, language: Language) -> str:
    zh = language == "zh"
    what = _MODES[output.edit_mode][0 if zh else 1]
    more = ("单元格" if zh else "Cell", f"{output.cell_number} ({output.cell_type}, {what})")
    return writing.markdown(output, language, more)


TOOL = Tool(
    name="NotebookEditCell",
    input=Input,
    output=Output,
    run=run,
    markdown=markdown,
    title_zh="编辑 Notebook 单元格",
    title_en="Edit a notebook cell",
    intent="edit",
    object="notebook",
    reads=False,
    risk="medium",
    description="Replaces, inserts or deletes one cell of a Jupyter notebook that was read before in this session.",
)
