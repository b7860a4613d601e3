"""Each tool result of document 4 comes out exactly when the tool is run on the file its example implies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tools.desk import Desk

GOLDEN = Path(__file__).parents[1] / "golden" / "4-backend-only-results"


def _data(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text())["data"]


def _here(data: Any, desk: Desk) -> Any:
    """The document's project folder is this one."""
    return json.loads(json.dumps(data).replace("/home/user/project", str(desk.root)))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_replace_creates(desk: Desk) -> None:
    wanted = _here(_data("02-Replace-create.json"), desk)
    assert desk.data("Replace", file_path=wanted["filePath"], content=wanted["content"]) == wanted
    assert (desk.root / "new_file.py").read_text() == wanted["content"]


def test_replace_updates(desk: Desk) -> None:
    wanted = _here(_data("03-Replace-update.json"), desk)
    path = desk.put("existing_file.py", "def hello():\n    print('Hello, World!')\n")
    assert desk.data("Replace", file_path=wanted["filePath"], content=wanted["content"]) == wanted
    assert path.read_text() == wanted["content"]


def test_edit(desk: Desk) -> None:
    wanted = _here(_data("04-Edit.json"), desk)
    path = desk.put("config.py", wanted["originalFile"])
    asked = {"file_path": wanted["filePath"], "old_string": wanted["oldString"], "new_string": wanted["newString"]}
    assert desk.data("Edit", **asked) == wanted
    assert path.read_text() == "# Configuration\nDEBUG = True\nPORT = 8000\n"


def test_multi_edit(desk: Desk) -> None:
    wanted = _here(_data("05-MultiEdit.json"), desk)
    path = desk.put("utils.py", "import os\n\n\n\ndef process():\n    return os.getcwd()\n")
    edits = [{key: edit[key] for key in ("old_string", "new_string")} for edit in wanted["editsApplied"]]
    assert desk.data("MultiEdit", file_path=wanted["filePath"], edits=edits) == wanted
    assert path.read_text() == "import os\nimport sys\n\n\n\ndef process_data():\n    return os.getcwd()\n"


def test_a_failed_multi_edit_leaves_the_file_alone(desk: Desk) -> None:
    path = desk.put("utils.py", "import os\n")
    edits = [
        {"old_string": "import os", "new_string": "import sys"},
        {"old_string": "def process()", "new_string": "def process_data()"},
    ]
    assert desk.data("MultiEdit", file_path="utils.py", edits=edits) == _data("06-MultiEdit-error.json")
    assert path.read_text() == "import os\n"


def _notebook(count: int) -> str:
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [],
            "source": [f"print({number})"],
        }
        for number in range(count)
    ]
    metadata = {"language_info": {"name": "python"}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


@pytest.mark.parametrize(
    "name",
    [
        "07-NotebookEditCell-replace.json",
        "08-NotebookEditCell-insert.json",
        "09-NotebookEditCell-delete.json",
        "10-NotebookEditCell-replace-error.json",
    ],
)
def test_notebook_edit_cell(desk: Desk, name: str) -> None:
    wanted = _data(name)
    path = desk.put("work.ipynb", _notebook(8))
    asked = {key: wanted[key] for key in ("cell_number", "new_source", "cell_type", "edit_mode")}
    assert desk.data("NotebookEditCell", notebook_path=str(path), **asked) == wanted
    nbformat.validate(json.loads(path.read_text()))


def test_a_failed_edit_or_replace_is_a_string_that_says_error(desk: Desk) -> None:
    desk.put("a.py", "x = 1\n")
    assert desk.data("Edit", file_path="a.py", old_string="y", new_string="z") == "Error: String not found: y..."
    desk.put("b.py", "x = 1\n", read=False)
    told = desk.data("Replace", file_path="b.py", content="")
    assert told == "Error: File has not been read yet, read it first: b.py"
