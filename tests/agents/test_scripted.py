"""The scripted agent does what the design says of its script."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest

from agents.memory_turn import MemoryTurn, RunTool, no_tools
from support.patience import bounded
from toolwire.agents.base import Ask
from toolwire.agents.script import parse_script
from toolwire.agents.scripted import ScriptedAgent
from toolwire.errors import AgentError


def agent(*turns: dict[str, Any]) -> ScriptedAgent:
    return ScriptedAgent(parse_script(json.dumps({"turns": turns}), "script.json"), "script:script.json")


async def play(*steps: dict[str, Any], run: RunTool = no_tools) -> MemoryTurn:
    turn = MemoryTurn("go", run)
    await agent({"steps": steps}).answer(turn)
    return turn


def results(*values: Any) -> RunTool:
    """Tools named "1", "2"… that give these values, or raise them."""

    def run(tool: str, arguments: Mapping[str, Any]) -> Any:
        value = values[int(tool) - 1]
        if isinstance(value, Exception):
            raise value
        return value

    return run


def call(*tools: str, **arguments: Any) -> dict[str, Any]:
    return {"call": [{"tool": tool, "arguments": arguments} for tool in tools]}


async def test_the_last_piece_of_a_say_is_final_whatever_comes_after() -> None:
    turn = await play({"say": ["one", "two"]}, {"say": ["three"]}, {"say": "four"}, {"say": []})
    assert turn.said == [("one", False), ("two", True), ("three", True), ("four", True)]


async def test_a_think_step_tells_its_stage_and_percent() -> None:
    turn = await play({"think": "looking", "stage": "planning", "percent": 30}, {"think": "more"})
    assert turn.thoughts == [("looking", "planning", 30), ("more", None, None)]


async def test_the_calls_of_one_step_go_out_together_and_steps_go_in_order() -> None:
    turn = await play(call("1", "2", a=1), call("3"), run=results("x", "y", "z"))
    assert [[ask.tool for ask in asks] for asks in turn.rounds] == [["1", "2"], ["3"]]
    assert turn.asks[0].arguments == {"a": 1}


async def test_a_call_may_say_where_it_runs() -> None:
    turn = await play({"call": [{"tool": "1", "placement": "server"}, {"tool": "1"}]}, run=results("x"))
    assert turn.asks == [Ask("1", {}, "server"), Ask("1", {}, None)]


async def test_calls_are_numbered_through_the_turn_and_fields_may_go_deep() -> None:
    rich = {"content": "text", "n": 3, "items": [{"name": "a"}, {"name": "b"}], "none": None, "ключ": "да"}
    turn = await play(
        call("1", "2"),
        call("3"),
        {"say": ["{{3.content}}|{{ 3.items.1.name }}|{{3.n}}|{{3.items}}|{{3.none}}|{{3.ключ}}|{{1}}|{{2}}"]},
        run=results("first", ["second", 2], rich),
    )
    assert turn.text == 'text|b|3|[{"name":"a"},{"name":"b"}]|null|да|first|["second",2]'


async def test_of_a_text_result_content_and_the_whole_are_the_text() -> None:
    turn = await play(call("1"), {"say": ["{{1.content}}+{{1}}"]}, run=results("ключ 文"))
    assert turn.text == "ключ 文+ключ 文"


async def test_an_object_result_is_compact_unescaped_json() -> None:
    turn = await play(call("1"), {"say": ["{{1}}"]}, run=results({"a": [1, "文"], "b": {}}))
    assert turn.text == '{"a":[1,"文"],"b":{}}'


async def test_the_script_goes_on_after_a_failed_call_and_may_quote_its_error() -> None:
    turn = await play(call("1", "2"), {"say": ["{{1.content}}/{{1}}/{{2}}"]}, run=results(OSError("gone"), "fine"))
    assert turn.text == "gone/gone/fine"


async def test_a_reference_to_nothing_stays_as_written_and_so_does_other_text_in_braces() -> None:
    text = "{{2}} {{1.nope}} {{name}} {{ }} {{0}} {{1.content.x}} {1} {{{1.content}}}"
    turn = await play(call("1"), {"say": [text]}, run=results({"content": "c"}))
    assert turn.text == "{{2}} {{1.nope}} {{name}} {{ }} {{0}} {{1.content.x}} {1} {c}"


async def test_results_are_filled_into_later_arguments_at_any_depth() -> None:
    arguments = {"path": "{{1.path}}", "list": ["plain", {"deep": "<{{1.path}}>"}], "n": 1}
    turn = await play(call("1"), {"call": [{"tool": "2", "arguments": arguments}]}, run=results({"path": "a.py"}, ""))
    assert turn.asks[1].arguments == {"path": "a.py", "list": ["plain", {"deep": "<a.py>"}], "n": 1}


async def test_a_result_with_braces_in_it_is_not_filled_in_again() -> None:
    turn = await play(call("1", "2"), {"say": ["{{1}}"]}, run=results("{{2}}", "secret"))
    assert turn.text == "{{2}}"


async def test_think_and_fail_are_filled_in_too() -> None:
    turn = MemoryTurn("go", results("boom"))
    script = agent({"steps": [call("1"), {"think": "got {{1}}"}, {"fail": "it said {{1}}"}, {"say": ["never"]}]})
    with pytest.raises(AgentError, match=r"^it said boom$"):
        await script.answer(turn)
    assert turn.thoughts[0][0] == "got boom"
    assert turn.said == []


async def test_the_first_turn_whose_match_is_found_answers() -> None:
    script = agent(
        {"match": "^open .*py$", "steps": [{"say": ["py"]}]},
        {"match": "Файл|文件", "steps": [{"say": ["file"]}]},
        {"steps": [{"say": ["other"]}]},
    )
    for prompt, expected in {
        "open main.py": "py",
        "open main.py\n": "py",
        "открой Файл": "file",
        "看文件": "file",
        "do not open main.py now": "other",
    }.items():
        turn = MemoryTurn(prompt)
        await script.answer(turn)
        assert turn.text == expected


async def test_turns_are_not_used_up_unless_once() -> None:
    script = agent(
        {"once": True, "steps": [{"say": ["first"]}]},
        {"once": True, "steps": [{"say": ["second"]}]},
        {"match": "again", "steps": [{"say": ["always"]}]},
    )
    heard = []
    for prompt in ("again", "again", "again", "again"):
        turn = MemoryTurn(prompt)
        await script.answer(turn)
        heard.append(turn.text)
    assert heard == ["first", "second", "always", "always"]


async def test_a_prompt_that_no_turn_fits_fails_and_says_so() -> None:
    with pytest.raises(AgentError, match="no turn of the script fits the prompt: 'other'"):
        await agent({"match": "hello", "steps": []}).answer(MemoryTurn("other"))


async def test_a_pattern_that_would_backtrack_for_ever_does_not() -> None:
    script = agent({"match": "^(a+)+$", "steps": []}, {"steps": [{"say": ["safe"]}]})
    turn = MemoryTurn("a" * 100_000 + "b")
    with bounded():
        await script.answer(turn)
    assert turn.text == "safe"


async def test_look_around_works_although_it_needs_another_engine() -> None:
    script = agent({"match": r"^(?!secret)\w+\Z", "steps": [{"say": ["yes"]}]}, {"steps": [{"say": ["no"]}]})
    for prompt, expected in {"word": "yes", "secret": "no"}.items():
        turn = MemoryTurn(prompt)
        await script.answer(turn)
        assert turn.text == expected


async def test_a_sleep_step_waits() -> None:
    started = time.monotonic()
    await play({"sleep_ms": 20})
    assert time.monotonic() - started >= 0.02


async def test_plain_arguments_are_passed_on_untouched() -> None:
    script = agent({"steps": [call("1", path="main.py")]})
    first, second = MemoryTurn("go", results("x")), MemoryTurn("go", results("x"))
    await script.answer(first)
    await script.answer(second)
    assert first.asks[0] is second.asks[0]
