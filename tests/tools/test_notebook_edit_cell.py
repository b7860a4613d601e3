from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tools.desk import Desk
from toolwire.tools.patch import apply


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def _code(number: int, **more: Any) -> dict[str, Any]:
    cell = {
        "cell_type": "code",
        "execution_count": number,
        "id": f"cell-{number}",
        "metadata": {},
        "outputs": [{"name": "stdout", "output_type": "stream", "text": ["é\n"]}],
        "source": [f"print({number})\n", "x"],
    }
    return {**cell, **more}


def _markdown(number: int) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": f"cell-{number}", "metadata": {"k": 1.5}, "source": ["# t"]}


def _notebook(cells: list[dict[str, Any]], minor: int = 5, **metadata: Any) -> dict[str, Any]:
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": minor}


def _text(notebook: dict[str, Any], indent: int | str | None = 1) -> str:
    return json.dumps(notebook, indent=indent, ensure_ascii=False) + "\n"


def _edit(desk: Desk, **asked: Any) -> tuple[Any, dict[str, Any]]:
    """The output, and the notebook as it is now, which is valid."""
    output = desk.done("NotebookEditCell", notebook_path="n.ipynb", **asked)
    notebook = json.loads((desk.root / "n.ipynb").read_text())
    nbformat.validate(notebook)
    return output, notebook


def test_replacing_a_code_cell_clears_its_outputs_and_count_and_touches_nothing_else(desk: Desk) -> None:
    text = _text(_notebook([_code(0), _code(1), _markdown(2)], language_info={"name": "julia"}))
    desk.put("n.ipynb", text)
    output, notebook = _edit(desk, cell_number=1, new_source="a\nb\n")
    replaced = _code(1, source=["a\n", "b\n"], outputs=[], execution_count=None)
    assert notebook["cells"] == [_code(0), replaced, _markdown(2)]
    assert (output.cell_type, output.language) == ("code", "julia")
    now = (desk.root / "n.ipynb").read_text()
    assert now == _text(_notebook([_code(0), replaced, _markdown(2)], language_info={"name": "julia"}))
    assert apply(text, output.patch) == now


def test_a_new_cell_gets_the_index_asked_for_and_the_count_appends(desk: Desk) -> None:
    desk.put("n.ipynb", _text(_notebook([_code(0), _code(1)])))
    _edit(desk, cell_number=1, new_source="# t", cell_type="markdown", edit_mode="insert")
    _, notebook = _edit(desk, cell_number=3, new_source="end", edit_mode="insert")
    assert [cell["cell_type"] for cell in notebook["cells"]] == ["code", "markdown", "code", "code"]
    assert notebook["cells"][3]["source"] == ["end"]
    assert len({cell["id"] for cell in notebook["cells"]}) == 4


def test_untouched_cells_keep_their_bytes_however_they_are_written(desk: Desk) -> None:
    odd = '{"cell_type":"markdown",   "id":"odd", "metadata": {"n": 1.50e3, "u": "\\u00e9"},\n"source":[]}'
    cells = f"{odd},{json.dumps(_code(1))}  ,\t{json.dumps(_code(2))} , {json.dumps(_code(3))}"
    text = '{"nbformat": 4, "cells": [' + cells + '],"metadata":{},"nbformat_minor":5}'
    desk.put("n.ipynb", text)
    _edit(desk, cell_number=3, new_source="x")
    assert (desk.root / "n.ipynb").read_text().startswith(text[: text.index(" , ")])


def test_the_first_cell_of_an_empty_notebook(desk: Desk) -> None:
    desk.put("n.ipynb", _text(_notebook([])))
    _, notebook = _edit(desk, cell_number=0, new_source="x", edit_mode="insert")
    assert len(notebook["cells"]) == 1
    _, notebook = _edit(desk, cell_number=0, edit_mode="delete")
    assert notebook["cells"] == []


@pytest.mark.parametrize("number", [0, 1, 2])
def test_deleting_leaves_the_others_as_they_were(desk: Desk, number: int) -> None:
    cells = [_code(0), _markdown(1), _code(2)]
    desk.put("n.ipynb", _text(_notebook(cells)))
    output, _ = _edit(desk, cell_number=number, edit_mode="delete")
    del cells[number]
    assert (desk.root / "n.ipynb").read_text() == _text(_notebook(cells))
    assert output.cell_type == ("markdown" if number == 1 else "code")


def test_a_cell_may_change_its_type(desk: Desk) -> None:
    desk.put("n.ipynb", _text(_notebook([_code(0), {**_markdown(1), "attachments": {}}])))
    _edit(desk, cell_number=0, new_source="# t", cell_type="markdown")
    _, notebook = _edit(desk, cell_number=1, new_source="x", cell_type="code")
    assert [cell["cell_type"] for cell in notebook["cells"]] == ["markdown", "code"]


def test_old_formats_get_no_ids(desk: Desk) -> None:
    cells = [{key: value for key, value in _code(0).items() if key != "id"}]
    desk.put("n.ipynb", _text(_notebook(cells, minor=4)))
    _, notebook = _edit(desk, cell_number=0, new_source="x", edit_mode="insert")
    assert all("id" not in cell for cell in notebook["cells"])


def test_what_a_valid_cell_lacks_is_filled_in(desk: Desk) -> None:
    bare = [{"cell_type": "code", "source": "x"}, {"cell_type": "markdown", "source": "y"}, _code(2), _code(2)]
    desk.put("n.ipynb", _text(_notebook(bare)))
    _, notebook = _edit(desk, cell_number=1, new_source="z")
    assert [cell["source"] for cell in notebook["cells"][:2]] == ["x", "z"]
    assert len({cell["id"] for cell in notebook["cells"]}) == 4


@pytest.mark.parametrize("odd", ["x y!é", "", "i" * 65, 7, "cell-0"])
@pytest.mark.parametrize("mode", ["replace", "insert", "delete"])
def test_an_id_that_is_none_gets_a_good_one_and_good_ones_stay(desk: Desk, odd: object, mode: str) -> None:
    desk.put("n.ipynb", _text(_notebook([_code(0), _code(1, id=odd), _code(2)])))
    _, notebook = _edit(desk, cell_number=2, new_source="x", edit_mode=mode)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert ids[0] == "cell-0"
    assert len(set(ids)) == len(ids)
    assert odd not in ids[1:]


def test_an_id_in_a_format_before_ids_goes(desk: Desk) -> None:
    desk.put("n.ipynb", _text(_notebook([_code(0), _code(1)], minor=4)))
    _, notebook = _edit(desk, cell_number=0, new_source="x")
    assert not any("id" in cell for cell in notebook["cells"])


@pytest.mark.parametrize("indent", [None, 1, 2, 4, "\t"])
def test_the_files_own_style_is_kept(desk: Desk, indent: int | str | None) -> None:
    before = _notebook([_code(0), _code(1)])
    desk.put("n.ipynb", _text(before, indent).replace("\n", "\r\n"))
    _, notebook = _edit(desk, cell_number=1, new_source="x", edit_mode="insert")
    assert (desk.root / "n.ipynb").read_bytes().decode() == _text(notebook, indent).replace("\n", "\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        "{}",
        '{"cells": 1}',
        '{"cells": [], "nbformat": 3}',
        '{"cells": [1], "nbformat": 4}',
        '{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": []}',
    ],
)
def test_what_is_no_notebook_is_refused(desk: Desk, text: str) -> None:
    desk.put("n.ipynb", text)
    data = desk.data("NotebookEditCell", notebook_path="n.ipynb", cell_number=0, new_source="x", edit_mode="insert")
    assert isinstance(data, dict)
    assert data["error"].startswith("Not a valid Jupyter notebook: n.ipynb")
    assert (desk.root / "n.ipynb").read_text() == text


@pytest.mark.parametrize(("mode", "number"), [("replace", 2), ("replace", -1), ("insert", 3), ("delete", 2)])
def test_a_number_out_of_bounds_is_reported_beside_the_fields_as_asked(desk: Desk, mode: str, number: int) -> None:
    desk.put("n.ipynb", _text(_notebook([_code(0), _code(1)], kernelspec={"language": "R", "name": "ir"})))
    asked = {"cell_number": number, "new_source": "x", "edit_mode": mode}
    assert desk.data("NotebookEditCell", notebook_path="n.ipynb", **asked) == {
        **asked,
        "cell_type": "code",
        "language": "R",
        "error": "Cell number is out of bounds. Notebook has 2 cells.",
    }


def test_a_notebook_must_have_been_read_and_a_source_be_given(desk: Desk) -> None:
    desk.put("n.ipynb", _text(_notebook([_code(0)])), read=False)
    assert desk.refused("NotebookEditCell", path="n.ipynb", cell_number=0, new_source="x").kind == "not_read"
    assert desk.refused("NotebookEditCell", path="n.ipynb", cell_number=0).kind == "bad_arguments"


@given(
    st.lists(st.booleans(), max_size=4),
    st.lists(
        st.tuples(
            st.sampled_from(["replace", "insert", "delete"]),
            st.integers(0, 4),
            st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12),
            st.sampled_from(["code", "markdown", None]),
        ),
        max_size=5,
    ),
    st.sampled_from([None, 1, 3]),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_run_of_edits_leaves_a_valid_notebook(
    tmp_path_factory: pytest.TempPathFactory,
    kinds: list[bool],
    edits: list[tuple[str, int, str, str | None]],
    indent: int | None,
) -> None:
    desk = Desk(tmp_path_factory.mktemp("notebook"))
    cells = [_code(number) if kind else _markdown(number) for number, kind in enumerate(kinds)]
    desk.put("n.ipynb", _text(_notebook(cells), indent))
    sources = ["".join(cell["source"]) for cell in cells]
    for mode, number, source, kind in edits:
        if number >= len(sources) + (mode == "insert"):
            continue
        _, notebook = _edit(desk, cell_number=number, new_source=source, cell_type=kind, edit_mode=mode)
        sources[number : number + (mode != "insert")] = [] if mode == "delete" else [source]
        assert ["".join(cell["source"]) for cell in notebook["cells"]] == sources
