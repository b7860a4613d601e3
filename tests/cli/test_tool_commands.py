from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.processes import Here, Place
from toolwire.cli.call import values
from toolwire.tools.registry import default_registry


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "main.py").write_text("print('hi')\n# TODO: greet\n")
    return tmp_path


def test_the_list_of_tools_says_what_each_does_and_needs(here: Here) -> None:
    shown = here("tools").stdout
    for name in default_registry().names():
        assert f"\n{name} " in shown
    grep = next(line for line in shown.splitlines() if line.startswith("grep_file"))
    assert "reads" in grep
    assert "low" in grep
    assert "pattern [path]" in grep


def test_with_json_every_tool_comes_with_its_schema(here: Here) -> None:
    tools = json.loads(here("tools", "--json").stdout)
    assert [tool["name"] for tool in tools] == default_registry().names()
    grep = next(tool for tool in tools if tool["name"] == "grep_file")
    assert grep["reads"] is True
    assert grep["runs_in"] == ["ide", "gateway"]
    assert grep["schema"]["required"] == ["pattern"]
    assert grep == json.loads(here("tools", "grep_file", "--json").stdout)


def test_one_tool_is_explained_argument_by_argument(here: Here) -> None:
    shown = here("tools", "read_file").stdout
    assert shown.startswith("read_file")
    assert "start_line" in shown
    assert "required" in shown


def test_a_call_prints_the_result(shop: Path, here: Here) -> None:
    done = here("call", "grep_file", "pattern=TODO", "--path", str(shop))
    assert done.returncode == 0
    assert "2 | # TODO: greet" in done.stdout
    assert "Matches" in done.stdout


def test_the_language_follows_the_terminal_or_the_setting(
    shop: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    chinese = here("call", "grep_file", "pattern=TODO", "--path", str(shop), "--set", "language=zh")
    assert "匹配数量" in chinese.stdout
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert here("call", "grep_file", "pattern=TODO", "--path", str(shop)).stdout == chinese.stdout


def test_a_call_with_json_prints_one_object(shop: Path, here: Here) -> None:
    done = here("call", "read_file", "path=main.py", "start_line=2", "--path", str(shop), "--json")
    result = json.loads(done.stdout)
    assert result["success"] is True
    assert result["tool"] == "read_file"
    assert result["content"] == "# TODO: greet\n"
    failed = here("call", "read_file", "path=no.py", "--path", str(shop), "--json")
    assert failed.returncode == 1
    assert json.loads(failed.stdout)["success"] is False


def test_a_failed_call_is_a_line_on_stderr_and_exit_code_1(shop: Path, here: Here) -> None:
    done = here("call", "read_file", "path=no.py", "--path", str(shop))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "toolwire: File not found: no.py\n")


def test_values_are_json_unless_the_tool_wants_text(shop: Path) -> None:
    grep = default_registry().get("grep_file")
    given = values(grep, ["pattern=123", "limit=5", "regex=true", "path=a=b"])
    assert given == {"pattern": "123", "limit": 5, "regex": True, "path": "a=b"}
    edits = values(default_registry().get("MultiEdit"), ["path=1", 'edits=[{"old_string": "a", "new_string": "b"}]'])
    assert edits == {"path": "1", "edits": [{"old_string": "a", "new_string": "b"}]}


def test_a_write_can_be_taken_back(shop: Path, here: Here) -> None:
    before = (shop / "main.py").read_text()
    words = ("call", "Edit", "file_path=main.py", "old_string=hi", "new_string=bye", "--path", str(shop))
    unread = here(*words)
    assert unread.returncode == 1
    assert "read it first" in unread.stderr
    done = here(*words, "--read-first")
    assert done.returncode == 0
    assert "bye" in (shop / "main.py").read_text()
    call_id = done.stderr.split("toolwire undo ")[1].split()[0]
    undone = here("undo", call_id, "--path", str(shop))
    assert undone.returncode == 0
    assert (shop / "main.py").read_text() == before
    own_id = undone.stderr.split("toolwire undo ")[1].split()[0]
    changed = here("undo", own_id, "--path", str(shop), "--json")
    assert json.loads(changed.stdout)["undone"] == own_id
    assert here("undo", call_id, "--path", str(shop)).returncode == 0
    again = here("undo", call_id, "--path", str(shop))
    assert again.returncode == 1
    assert "Traceback" not in again.stderr


def test_a_file_that_has_changed_since_is_left_as_it_is(shop: Path, here: Here) -> None:
    done = here("call", "Replace", "file_path=new.txt", "content=one", "--path", str(shop), "--json")
    (shop / "new.txt").write_text("two")
    undone = here("undo", json.loads(done.stdout)["call_id"], "--path", str(shop))
    assert undone.returncode == 1
    assert (shop / "new.txt").read_text() == "two"


def test_service_answers_every_line_and_nothing_else(place: Place) -> None:
    requests = [
        {"tool_name": "read_file", "tool_use_id": "1", "input": {"file_path": "main.py"}},
        {
            "tool_name": "Edit",
            "tool_use_id": "2",
            "input": {"file_path": "main.py", "old_string": "hi", "new_string": "yo"},
        },
    ]
    lines = [json.dumps(requests[0]), "junk", json.dumps(requests[1]), ""]
    done = place.run("service", "--path", str(place.project), stdin="\n".join(lines))
    assert done.returncode == 0
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(answer["type"], answer["tool_use_id"]) for answer in answers] == [
        ("backend_only", "1"),
        ("backend_only", ""),
        ("backend_only", "2"),
    ]
    assert (place.project / "main.py").read_text() == "print('yo')\n"


def test_a_gateway_runs_a_call_in_its_own_project(shared: tuple[Place, str], here: Here) -> None:
    _, url = shared
    done = here("call", "read_file", "path=main.py", "--url", url)
    assert done.returncode == 0
    assert "print('hi')" in done.stdout
    as_json = json.loads(here("call", "read_file", "path=main.py", "--url", url, "--json").stdout)
    assert as_json["success"] is True
    failed = here("call", "read_file", "path=no.py", "--url", url)
    assert failed.returncode == 1
    assert "no.py" in failed.stderr
    unknown = here("call", "make_coffee", "sugar=2", "--url", url)
    assert unknown.returncode == 1
    assert "make_coffee" in unknown.stderr


def test_a_call_to_a_gateway_that_is_not_there_says_so(here: Here) -> None:
    done = here("call", "read_file", "path=main.py", "--url", "ws://127.0.0.1:1", "--project", "x")
    assert done.returncode == 1
    assert "no gateway at" in done.stderr
