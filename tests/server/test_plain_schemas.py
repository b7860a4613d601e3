"""The quick check of arguments: whatever it lets pass, the full validator lets pass too."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolwire.server.plain_schemas import plain_check

LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "minLength": 1, "maxLength": 3},
        {"type": "integer", "minimum": 0},
        {"type": "number", "maximum": 5},
        {"type": "boolean", "title": "x", "default": True},
        {"type": "null"},
        {"enum": ["a", "b"]},
        {"minLength": 2},
        {"maximum": 1},
    ]
)


def wider(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["a", "b", "c"])
    objects = st.fixed_dictionaries(
        {"properties": st.dictionaries(names, inner)},
        optional={
            "type": st.just("object"),
            "required": st.lists(names, unique=True),
            "additionalProperties": st.booleans(),
        },
    )
    arrays = st.fixed_dictionaries({"type": st.just("array"), "items": inner})
    return objects | arrays | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})


SCHEMAS = st.recursive(LEAVES, wider, max_leaves=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 7) | st.floats(-2, 7) | st.sampled_from(["", "a", "bb", "cccc"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(SCHEMAS, VALUES)
def test_a_yes_is_a_yes_of_the_standard_too(schema: dict[str, Any], value: Any) -> None:
    check = plain_check(schema)
    assert check is not None
    if check(value):
        assert jsonschema.Draft202012Validator(schema).is_valid(value)


def test_what_fits_an_everyday_schema_is_seen_at_once() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}, "required": ["a"]}
    check = plain_check(schema)
    assert check is not None
    assert check({"a": "x", "n": 1})
    assert not check({"n": 1})
    assert not check({"a": "x", "n": True})


@pytest.mark.parametrize("schema", [{"$ref": "#/x"}, {"properties": {"a": {"pattern": "x"}}}, {"type": ["a", "b"]}])
def test_a_schema_beyond_that_is_left_to_the_validator(schema: dict[str, Any]) -> None:
    assert plain_check(schema) is None
