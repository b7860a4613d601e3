"""A script file is checked strictly, and an error says where it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.agents.json_place import line_of
from toolwire.agents.script import load_script, parse_script
from toolwire.errors import ConfigError

DESIGN_EXAMPLE = """{"turns": [{"match": "regex on the prompt, optional",
  "steps": [{"say": ["piece", "piece"]},
            {"think": "text", "stage": "analyzing", "percent": 30},
            {"call": [{"tool": "read_file", "arguments": {"path": "main.py"}}]},
            {"sleep_ms": 50}, {"fail": "message"}]}]}
"""


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_script(text, "s.json")
    return caught.value.message


def test_the_example_of_the_design_is_read() -> None:
    (turn,) = parse_script(DESIGN_EXAMPLE, "s.json").turns
    assert turn.match == "regex on the prompt, optional"
    assert [step.model_dump(exclude_none=True) for step in turn.steps] == [
        {"say": ["piece", "piece"]},
        {"think": "text", "stage": "analyzing", "percent": 30},
        {"call": [{"tool": "read_file", "arguments": {"path": "main.py"}}]},
        {"sleep_ms": 50},
        {"fail": "message"},
    ]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({}, "turns[0].steps[0]: a step has exactly one of say, think, call, sleep_ms, fail; this one has none"),
        ({"say": ["a"], "fail": "b"}, "this one has say, fail"),
        ({"say": 5}, "turns[0].steps[0].say: Input should be a valid list"),
        ({"say": ["a", 5]}, "turns[0].steps[0].say[1]: Input should be a valid string"),
        ({"say": ["a"], "percent": 3}, "stage and percent belong to a think step"),
        ({"think": "a", "stage": "dreaming"}, "turns[0].steps[0].stage: Input should be 'analyzing', 'planning'"),
        ({"think": "a", "percent": 101}, "less than or equal to 100"),
        ({"think": "a", "percent": "3"}, "Input should be a valid integer"),
        ({"call": [{"arguments": {}}]}, "turns[0].steps[0].call[0].tool: Field required"),
        ({"call": [{"tool": "x", "argument": {}}]}, "call[0].argument: Extra inputs are not permitted"),
        ({"call": [{"tool": "x", "placement": "moon"}]}, "'client' or 'server'"),
        ({"sleep_ms": -1}, "greater than or equal to 0"),
        ({"shout": "a"}, "turns[0].steps[0].shout: Extra inputs are not permitted"),
    ],
)
def test_a_step_that_does_not_fit_is_refused_with_its_place(step: dict[str, Any], said: str) -> None:
    assert said in refusal(json.dumps({"turns": [{"steps": [step]}]}))


def test_an_error_names_file_and_line() -> None:
    text = '{"turns": [\n  {"steps": []},\n  {"steps": [\n    {"say": ["a"]},\n    {"say": [true]}]}]}'
    assert refusal(text).startswith("s.json, line 5: turns[1].steps[1].say[0]: ")


def test_all_errors_are_told_up_to_a_number() -> None:
    text = json.dumps({"turns": [{"steps": [{"shout": 1}] * 15}]})
    lines = refusal(text).splitlines()
    assert len(lines) == 11
    assert lines[-1] == "… and 5 more"


@pytest.mark.parametrize("text", ["", "{", '{"turns": [}', '{"turns": NaN}', '{"turns": ["\\ud800"]}', "[" * 1000])
def test_what_is_not_json_is_refused_with_line_and_column(text: str) -> None:
    assert "s.json is not JSON: " in refusal(text)


def test_a_pattern_that_does_not_compile_is_refused() -> None:
    said = refusal('{"turns": [{"match": "(", "steps": []}]}')
    assert "turns[0].match: not a regular expression: missing ), unterminated subpattern" in said


def test_a_file_is_read_with_or_without_byte_order_mark(tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-8-sig"):
        path = tmp_path / encoding
        path.write_text(DESIGN_EXAMPLE, encoding)
        assert len(load_script(path).turns) == 1


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "none.json", tmp_path, binary):
        with pytest.raises(ConfigError, match="can't read the script"):
            load_script(path)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(values, st.data())
def test_the_line_of_any_value_is_the_line_it_is_printed_on(value: Any, data: st.DataObject) -> None:
    path: list[str | int] = []
    inner, line = value, 1
    while isinstance(inner, dict | list) and inner and data.draw(st.booleans()):
        keys: list[Any] = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        key = data.draw(st.sampled_from(keys))
        before = keys[: keys.index(key)]
        line += 1 + sum(json.dumps(inner[earlier], indent=1).count("\n") + 1 for earlier in before)
        path.append(key)
        inner = inner[key]
    assert line_of(json.dumps(value, indent=1), path) == line
