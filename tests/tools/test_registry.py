"""Running any tool by name, and what goes out: Markdown, objects, and the rest of what was too long."""

from __future__ import annotations

import json
import string
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from support.patience import PATIENCE
from support.room import Room
from toolwire.errors import ToolError
from toolwire.settings import Settings
from toolwire.tools import overflow
from toolwire.tools.base import Context, Tool, ToolInput, ToolOutput
from toolwire.tools.registry import MODULES, Registry, as_markdown, as_object, default_registry
from toolwire.tools.results import Results
from toolwire.tools.texts import SENTENCES, sentence


class Echo(ToolInput):
    text: str
    times: int = 1


class Echoed(ToolOutput):
    words: list[str]
    nothing: str | None = None


def echo(context: Context, input: Echo) -> Echoed:
    if input.text == "defect":
        raise ZeroDivisionError
    return Echoed(words=[input.text] * input.times)


ECHO = Tool("echo", Echo, Echoed, echo, lambda output, language: "\n".join(output.words), "", "", "", "", reads=True)


@pytest.fixture
def room(tmp_path: Path) -> Room:
    room = Room(tmp_path, settings=Settings(result_limit=1_000))
    room.registry = Registry(MODULES, [ECHO])
    return room


def test_every_listed_tool_is_there_under_its_name_with_a_schema() -> None:
    registry = default_registry()
    assert registry.names() == sorted(MODULES)
    for name in registry.names():
        tool = registry.get(name)
        assert tool.name == name
        assert tool.schema()["type"] == "object"
        assert tool.title_zh
        assert tool.title_en
        assert tool.description


def test_the_registry_is_made_without_importing_any_tool() -> None:
    program = (
        "import sys; from toolwire.tools.registry import default_registry; default_registry().names();"
        "print([name for name in sys.modules if name.startswith('toolwire.tools.') and name.endswith('_file')])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert ended.stdout.strip() == "[]"


def test_an_unknown_tool_is_a_refusal(room: Room) -> None:
    assert room.refused("rm_rf").kind == "unknown_tool"
    assert "read_file" in room.registry
    assert "rm_rf" not in room.registry


def test_every_field_at_fault_is_named(room: Room) -> None:
    error = room.refused("echo", times="two")
    assert error.facts["fields"].keys() == {"text", "times"}
    assert "text: " in sentence(error, "en")
    assert "times: " in sentence(error, "zh")


def test_what_is_wrong_with_arguments_is_told_in_either_language(room: Room) -> None:
    nothing = room.call("read_file", start_line=0, end_line="x")
    assert as_markdown(nothing) == "参数无效: path: 缺少必填参数；start_line: 应大于或等于 1；end_line: 应为整数"
    assert as_markdown(nothing, "en").startswith("Bad arguments: path: Field required; start_line: Input should be")
    direction = room.call("call_chain", method="f", direction="up")
    assert as_markdown(direction) == "参数无效: direction: 应为 'callers', 'callees' 或 'both'"
    source = room.call("NotebookEditCell", path="a.ipynb", cell_number=0)
    assert as_markdown(source, "en") == "Bad arguments: new_source is required to replace a cell"


def test_unknown_arguments_are_ignored_and_null_is_absent(room: Room) -> None:
    assert room.done("echo", text="x", projectKey="p", webSocketSessionId="s", times=None).words == ["x"]


def test_a_whole_number_may_be_written_with_a_point_and_nothing_else_is_converted(room: Room) -> None:
    room.put("f", "a\nb\n")
    assert room.done("read_file", path="f", start_line=2.0).content == "b\n"
    for wrong in (1.5, "1", True, 1e400):
        assert room.refused("read_file", path="f", start_line=wrong).kind == "bad_arguments"


def test_a_defect_is_told_as_one_and_ends_nothing(room: Room) -> None:
    outcome = room.call("echo", text="defect")
    assert outcome.error is not None
    assert outcome.error.kind == "internal_error"
    assert as_markdown(outcome, "en") == "Internal error in echo: ZeroDivisionError"


def test_the_object_of_a_tool_without_text_has_its_markdown_as_content(room: Room) -> None:
    assert as_object(room.call("echo", text="x", times=2)) == {"content": "x\nx", "words": ["x", "x"]}


def test_long_markdown_is_cut_and_the_rest_can_be_read(room: Room) -> None:
    outcome = room.call("echo", text="word", times=1_000)
    whole = "\n".join(["word"] * 1_000)
    text = as_markdown(outcome)
    *shown, last = text.splitlines()
    assert len(text) <= 1_000
    assert whole.startswith("\n".join(shown))
    ref = outcome.results.keep(whole)
    assert f"GET /api/results/{ref}" in last
    assert "read_result" in last
    assert f"offset={len(whole) - len(rest_of(room, ref, sum(len(line) + 1 for line in shown)))}" in last
    assert room.workspace.results.whole(ref) == whole


def rest_of(room: Room, ref: str, offset: int | None) -> str:
    rest = ""
    while offset is not None:
        piece = room.done("read_result", ref=ref, offset=offset)
        rest += piece.content
        offset = piece.next_offset
    return rest


def test_a_cut_in_a_code_block_closes_it(room: Room) -> None:
    room.put("long.py", "x = 1\n" * 400)
    lines = as_markdown(room.call("read_file", path="long.py")).splitlines()
    assert sum(line.startswith("```") for line in lines) == 2


def test_a_long_object_is_cut_keeps_its_small_fields_and_is_kept_whole(room: Room) -> None:
    whole = as_object(room.call("echo", text="word", times=1_000))
    assert overflow.weight(whole) < 1_100
    assert whole["truncated"] is True
    assert whole["omitted"] == ["words"]
    assert whole["ref"] in whole["content"].splitlines()[-1]
    kept = json.loads(room.workspace.results.whole(whole["ref"]))
    assert kept["words"] == ["word"] * 1_000
    assert len(rest_of(room, whole["ref"], 0)) == len(room.workspace.results.whole(whole["ref"]))


def test_a_file_of_one_long_line_goes_out_cut(room: Room) -> None:
    room.put("min.js", "x" * 5_000)
    whole = as_object(room.call("read_file", path="min.js"))
    assert overflow.weight(whole) < 1_200
    assert whole["path"] == "min.js"
    assert whole["truncated"] is True


def test_what_read_result_gives_is_not_cut_again(room: Room) -> None:
    ref = room.workspace.results.keep("y" * 5_000)
    outcome = room.call("read_result", ref=ref, limit=5_000)
    assert "ref" in as_object(outcome)
    assert as_object(outcome)["content"] == "y" * 750
    assert "offset=750" in as_markdown(outcome).splitlines()[-1]


@pytest.mark.parametrize("ref", ["", "../../etc/passwd", "0" * 32, "0" * 31, "A" * 32, "\0"])
def test_a_reference_that_is_none_is_refused(room: Room, ref: str) -> None:
    assert room.refused("read_result", ref=ref).kind == "result_not_found"


def test_old_results_go_when_room_runs_out(tmp_path: Path) -> None:
    results = Results(tmp_path / "results", 2_500)
    refs = [results.keep(f"{number}" * 1_000) for number in range(4)]
    kept = [ref for ref in refs if (tmp_path / "results" / f"{ref}.txt").exists()]
    assert kept == refs[-2:]
    with pytest.raises(ToolError, match="result_not_found"):
        results.whole(refs[0])


def test_a_result_that_can_not_be_kept_is_still_sent_cut(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("in the way")
    results = Results(tmp_path / "results" / "below", 1_000)
    ref = results.keep("x" * 100)
    with pytest.raises(ToolError, match="result_not_found"):
        results.whole(ref)


def test_results_are_kept_by_content_from_many_threads(tmp_path: Path) -> None:
    results = Results(tmp_path / "results", 10_000_000)
    refs: set[str] = set()
    threads = [threading.Thread(target=lambda: refs.add(results.keep("同一结果" * 100))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    [ref] = refs
    assert results.read(ref, 2, 3).text == "结果同"


def test_each_sentence_exists_in_both_languages_with_the_same_facts() -> None:
    for kind, (zh, en) in SENTENCES.items():
        named = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in (zh, en)]
        assert {name.removesuffix("_zh") for name in named[0]} == named[1], kind
        assert sentence(ToolError(kind), "zh")


def test_a_kind_without_a_sentence_speaks_for_itself() -> None:
    assert sentence(ToolError("odd", path="x", hint="do this"), "zh") == "odd: path=x (do this)"


def test_the_context_ends_what_takes_too_long_or_is_not_wanted(room: Room) -> None:
    room.context().check()
    with pytest.raises(ToolError, match="timeout"):
        room.context(seconds=-1).check()
    context = room.context()
    context.stop.set()
    with pytest.raises(ToolError, match="stopped"):
        context.check()
