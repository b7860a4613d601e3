"""Strict JSON: what fits, what does not and where, and that no input takes the parser down."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.patience import bounded
from toolwire.dialects import wire
from toolwire.errors import InvalidMessage

MIB = 1024 * 1024


def nested(levels: int) -> bytes:
    """An object whose deepest part is that many levels down."""
    return b'{"a":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (b"", "not JSON"),
        (b"hello", "not JSON"),
        (b'{"a":1', "not JSON"),
        (b'{"a":1,}', "not JSON"),
        (b'{"a":1} x', "not JSON"),
        (b"{'a':1}", "not JSON"),
        (b'\xef\xbb\xbf{"a":1}', "not JSON"),
        (b'{"a":"\n"}', "control character"),
        (b'{"a":"\x00"}', "control character"),
        (b'{"a":NaN}', "line 1 column 6"),
        (b'{"a":Infinity}', "line 1 column 6"),
        (b'{"a":-Infinity}', "not JSON"),
        (b'{"a":1e400}', "out of range"),
        (b'{"a":' + b"7" * 10_000 + b"}", "out of range"),
        (b'{"a":"\xff"}', "not UTF-8: byte 6"),
        (b'{"\xe2\x82":1}', "not UTF-8: byte 2"),
        (b'{"a":"\xed\xa0\x80"}', "not UTF-8"),
        (b'{"a":"\\ud800"}', "surrogate"),
        (b'{"a":"\\udc00\\ud800"}', "surrogate"),
        (b'{"\\ud800x":1}', "surrogate"),
        (b"[]", "not an array"),
        (b'"text"', "not a string"),
        (b"1", "not a number"),
        (b"1.5", "not a number"),
        (b"true", "not a boolean"),
        (b"null", "not null"),
        (b'{"a":1,"a":2}', "a: comes twice"),
        (b'{"x":[{"b":{"c":1,"d":2,"c":3}}]}', "c: comes twice"),
        (b'{"a":1,"\\u0061":2}', "a: comes twice"),
        (b'{"a" :1,"a" :2}', "a: comes twice"),
        (b'{"a":"::","a":"\\u003a"}', "a: comes twice"),
        (b'{"k":1,"k":"\\u003a"}', "k: comes twice"),
        (b'{"k":1,"k":"\\u003A"}', "k: comes twice"),
        (nested(65), "deeper than 64"),
        (nested(500), "deeper than 64"),
        (nested(100_000), "deep"),
    ],
)
def test_what_does_not_fit_is_refused_and_the_error_says_what_and_where(message: bytes, told: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        wire.parse(message)
    assert told in refused.value.message
    assert refused.value.code == "INVALID_REQUEST"
    assert refused.value.fields


@pytest.mark.parametrize(
    ("message", "value"),
    [
        (b' \r\n\t{ "a" : 1 } \n', {"a": 1}),
        (b'{"a":"\\u0000\\ud83d\\ude00"}', {"a": "\0😀"}),
        (b'{"a":"x: \\"y\\": z"}', {"a": 'x: "y": z'}),
        (b'{"a\\u003a":1,"a":2}', {"a:": 1, "a": 2}),
        (b'{"a":123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
        (b'{"a":{"a":{"a":[{"a":1},{"a":1}]}}}', {"a": {"a": {"a": [{"a": 1}, {"a": 1}]}}}),
        ('{"ключ":"значение"}'.encode(), {"ключ": "значение"}),
    ],
)
def test_what_fits_comes_out_exactly(message: bytes, value: dict[str, Any]) -> None:
    assert wire.parse(message) == value


def test_nesting_is_counted_exactly_up_to_the_limit() -> None:
    wire.parse(nested(64))
    wire.parse(nested(3), nesting_limit=3)
    with pytest.raises(InvalidMessage, match="deeper than 3"):
        wire.parse(nested(4), nesting_limit=3)
    flat = b'{"a":[' + b",".join([b"[]"] * 500) + b'],"b":"' + b"[{" * 500 + b'"}'
    assert len(wire.parse(flat)["a"]) == 500


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (b"[" * (10 * MIB), "deep"),
        (b'{"a":' * (2 * MIB), "deep"),
        (b'{"a":' + b"[" * (5 * MIB) + b"]" * (5 * MIB) + b"}", "deep"),
        (b'{"a":[' + b",".join([b"[" * 70 + b"]" * 70] * 20_000) + b"]}", "deeper than 64"),
        (b'{"a":"' + b"\\" * (10 * MIB), "not JSON"),
        (b'{"a":' + b"1" * (10 * MIB) + b"}", "out of range"),
        (b'{"a":"' + b"x" * (10 * MIB) + b'\xff"}', "not UTF-8"),
        (b"{" + b",".join(b'"%d":0' % n for n in range(200_000)) + b',"7":0}', "7: comes twice"),
    ],
    ids=["open", "open objects", "deep", "wide and deep", "backslashes", "digits", "bad end", "late duplicate"],
)
def test_a_hostile_message_ends_soon_with_the_right_error(message: bytes, told: str) -> None:
    with bounded(), pytest.raises(InvalidMessage, match=told):
        wire.parse(message)


@pytest.mark.parametrize(
    "part", [b'{"a":1}', b"[]", b"0", b'"\\u003a"'], ids=["objects", "arrays", "zeros", "escapes"]
)
def test_a_huge_message_of_tiny_parts_is_read_in_bounded_time(part: bytes) -> None:
    count = 4 * MIB // (len(part) + 1)
    with bounded():
        assert len(wire.parse(b'{"a":[' + b",".join([part] * count) + b"]}")["a"]) == count


# Against a slow parser that checks one thing after the other ----------------------------------------------


def reference(message: bytes, limit: int) -> dict[str, Any]:
    """Raises ValueError for anything that does not fit."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) != len(pairs):
            raise ValueError("duplicate")
        return dict(pairs)

    def finite(text: str) -> float:
        number = float(text)
        return number if math.isfinite(number) else refuse(text)  # type: ignore[return-value,func-returns-value]

    text = message.decode("utf-8")
    value = json.loads(text, parse_constant=refuse, object_pairs_hook=unique, parse_float=finite)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    check_depth_and_text(value, limit)
    return value


def check_depth_and_text(value: Any, limit: int) -> None:
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, dict | list):
        if limit == 0:
            raise ValueError("deep")
        for child in value:
            check_depth_and_text(child, limit - 1)
        if isinstance(value, dict):
            for child in value.values():
                check_depth_and_text(child, limit - 1)


spaces = st.sampled_from(["", "", "", " ", "\n", "\t "])
keys = st.sampled_from(
    ['"a"', '"b"', '"a:"', '"a\\u003a"', '"\\u0061"', '"\\\\"', '"a\\":"', '""', '"ж"', '"\\ud800"']
)
scalars = st.one_of(
    st.sampled_from(
        [
            *("1", "-0", "0.5", "1e400", "1E-3", "01", "NaN", "true", "null", "18446744073709551616"),
            *('""', '":"', '"\\u003A"', '"\\":"', '"{[{["', '"\\udfff"', '"\\ud83d\\ude00"', '"\x01"'),
        ]
    ),
    st.text(max_size=8).map(lambda text: json.dumps(text, ensure_ascii=False)),
)


def objects(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(keys, spaces, spaces, values).map(lambda p: f"{p[0]}{p[1]}:{p[2]}{p[3]}")
    return st.lists(pair, max_size=4).map(lambda pairs: "{" + ",".join(pairs) + "}")


def arrays(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(values, max_size=4).map(lambda items: "[" + ", ".join(items) + "]")


texts = objects(st.recursive(scalars, lambda values: objects(values) | arrays(values), max_leaves=12))


def agree(message: bytes, limit: int) -> None:
    try:
        expected = reference(message, limit)
    except (ValueError, RecursionError):
        with pytest.raises(InvalidMessage):
            wire.parse(message, limit)
    else:
        parsed = wire.parse(message, limit)
        assert json.dumps(parsed) == json.dumps(expected)


@settings(deadline=None)
@given(texts, st.sampled_from([2, 3, 64]))
@example('{"a":1,"b":2,"b":"\\u003a"}', 64)
def test_generated_json_is_judged_as_the_slow_parser_judges_it(text: str, limit: int) -> None:
    agree(text.encode("utf-8", "surrogatepass"), limit)


@settings(deadline=None)
@given(texts, st.integers(0, 200), st.binary(max_size=3), st.integers(0, 3))
def test_damaged_json_is_judged_as_the_slow_parser_judges_it(text: str, at: int, new: bytes, cut: int) -> None:
    whole = text.encode("utf-8", "surrogatepass")
    agree(whole[:at] + new + whole[at + cut :], 64)


@settings(deadline=None)
@given(st.binary(max_size=40))
def test_random_bytes_are_judged_as_the_slow_parser_judges_them(message: bytes) -> None:
    agree(message, 64)
