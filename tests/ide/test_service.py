from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolwire.dialects import backend_only
from toolwire.ide.service import Service, read_lines, serve_lines
from toolwire.settings import Settings
from toolwire.tools.registry import default_registry
from toolwire.tools.workspace import Workspace

SMALL = Settings(message_limit=2000)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "project"
    root.mkdir()
    return Workspace(root, tmp_path / "state", SMALL)


def _ask(workspace: Workspace, *lines: bytes) -> list[dict[str, Any]]:
    stream, out = io.BytesIO(b"".join(line + b"\n" for line in lines)), list[bytes]()
    count = serve_lines(read_lines(stream, SMALL.message_limit), out.append, default_registry(), workspace, SMALL)
    assert count == len(lines) == len(out)
    assert all(line.count(b"\n") == 1 and line.endswith(b"\n") for line in out)
    return [json.loads(line) for line in out]


def _request(tool: str, use_id: str, **arguments: Any) -> bytes:
    return json.dumps({"tool_name": tool, "tool_use_id": use_id, "input": arguments}).encode()


def test_requests_are_answered_in_order_and_share_one_session(workspace: Workspace) -> None:
    (workspace.root / "a.py").write_text("x = 1\n")
    edit = {"file_path": str(workspace.root / "a.py"), "old_string": "1", "new_string": "2"}
    answers = _ask(
        workspace,
        _request("Edit", "t1", **edit),
        _request("read_file", "t2", path="a.py"),
        _request("Edit", "t3", **edit),
    )
    assert [answer["tool_use_id"] for answer in answers] == ["t1", "t2", "t3"]
    assert [answer["tool_name"] for answer in answers] == ["Edit", "read_file", "Edit"]
    assert answers[0]["data"] == "Error: File has not been read yet, read it first: a.py"
    assert answers[1]["data"]["content"] == "x = 1\n"
    assert answers[2]["data"] == {
        "filePath": edit["file_path"],
        "oldString": "1",
        "newString": "2",
        "originalFile": "x = 1\n",
        "structuredPatch": [
            {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-x = 1", "+x = 2"]}
        ],
    }
    assert len({answer["uuid"] for answer in answers}) == 3
    assert all(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", answer["uuid"]) for answer in answers)


@pytest.mark.parametrize(
    ("line", "name", "use_id", "said"),
    [
        (b"", "", "", "not JSON"),
        (b"not json", "", "", "not JSON"),
        (b"[1]", "", "", "a message is a JSON object"),
        (b"\xff\xfe", "", "", "not "),
        (b'{"tool_use_id": "t9"}', "", "t9", "tool_name: is missing"),
        (b'{"tool_name": "Edit", "tool_use_id": 7}', "Edit", "", "tool_use_id: must be a string"),
        (b'{"tool_name": "Edit", "tool_use_id": "t", "input": []}', "Edit", "t", "input: must be an object"),
        (b'{"tool_name": "Edit", "tool_use_id": "t", "input": {"a": 1, "a": 2}}', "Edit", "t", "a: comes twice"),
        (b'{"tool_name": "Nope", "tool_use_id": "t"}', "Nope", "t", "Unknown tool: Nope"),
        (b'{"tool_name": "Edit", "tool_use_id": "t"}', "Edit", "t", "Bad arguments: "),
        (b'{"x": "' + b"y" * 3000 + b'"}', "", "", "a line may have 2000 bytes"),
    ],
)
def test_a_bad_line_gets_an_answer_and_the_next_is_served(
    workspace: Workspace, line: bytes, name: str, use_id: str, said: str
) -> None:
    bad, good = _ask(workspace, line, _request("list_dir", "next", path="."))
    assert (bad["type"], bad["tool_name"], bad["tool_use_id"]) == ("backend_only", name, use_id)
    assert bad["data"].startswith(f"Error: {said}")
    assert good["tool_use_id"] == "next"
    assert isinstance(good["data"], dict)


def test_a_bad_notebook_request_reports_its_error_as_document_4_does(workspace: Workspace) -> None:
    (answer,) = _ask(
        workspace, _request("NotebookEditCell", "t", notebook_path="no.ipynb", cell_number=1, new_source="x")
    )
    assert answer["data"]["error"] == "File not found: no.ipynb"
    assert answer["data"]["cell_number"] == 1


def test_lines_beyond_the_limit_are_never_held_whole() -> None:
    stream = io.BytesIO(b"a" * 50 + b"\nshort\r\n" + b"b" * 12 + b"\n" + b"last")
    assert list(read_lines(stream, 10)) == [b"a" * 12, b"short", b"b" * 12, b"last"]


@given(st.binary(max_size=200).filter(lambda line: b"\n" not in line))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_line_holds_it_is_answered(workspace: Workspace, line: bytes) -> None:
    answer = Service(workspace, default_registry(), SMALL).answer(line)
    assert backend_only.decode(answer).failed
