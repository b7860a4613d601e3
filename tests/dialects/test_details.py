from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.commands import Answer, AnswerWithFaults, Stop
from toolwire.dialects import details
from toolwire.dialects.details import Details
from toolwire.tools.raw import WRITING
from toolwire.tools.registry import default_registry

OK = Answer("c", True, "text")
HASH = "a" * 64
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def read(beside: dict[str, Any], command: Any = OK, limit: int = 10_000) -> Any:
    return details.read(command, {"type": "TOOL_RESULT", "data": beside}, limit)


@pytest.mark.parametrize("name", sorted(WRITING))
def test_every_field_of_a_tool_that_writes_has_its_place(name: str) -> None:
    fields = default_registry().get(name).output.model_fields
    assert {field.alias or key for key, field in fields.items()} <= set(Details.model_fields)


def test_the_tools_that_write_are_known_as_such() -> None:
    registry = default_registry()
    assert {name for name in registry.names() if not registry.get(name).reads} == WRITING


def test_typed_fields_are_kept_and_unknown_ones_are_not() -> None:
    told: dict[str, Any] = {"path": "a.py", "hash_before": None, "hash_after": HASH, "patch": [], "more": 1}
    answer = read({"details": told})
    assert type(answer) is Answer
    assert answer.details == {"path": "a.py", "hash_after": HASH, "patch": []}
    assert (answer.call_id, answer.ok, answer.result) == ("c", True, "text")


def test_they_may_stand_at_the_root_as_document_5_has_its_fields() -> None:
    failed = Answer("c", False, None, "who knows")
    answer = details.read(failed, {"type": "tool_result", "indeterminate": True}, 100)
    assert isinstance(answer, Answer)
    assert answer.indeterminate


def test_a_success_is_never_undecided_and_a_failure_has_no_details() -> None:
    assert not read({"indeterminate": True}).indeterminate
    failed = read({"details": {"path": "a"}, "indeterminate": True}, Answer("c", False, None, "e"))
    assert (failed.details, failed.indeterminate) == (None, True)


def test_another_command_passes_as_it_is() -> None:
    assert read({"details": 7}, Stop()) == Stop()


def test_too_many_bytes_are_refused() -> None:
    answer = read({"details": {"path": "a", "content": "x" * 100}}, limit=100)
    assert isinstance(answer, AnswerWithFaults)
    assert answer.faults.keys() == {"data.details"}
    assert answer.details is None


@given(JSON, JSON)
def test_whatever_stands_there_the_result_counts_and_what_is_kept_is_typed(told: Any, undecided: Any) -> None:
    answer = read({"details": told, "indeterminate": undecided})
    assert isinstance(answer, Answer)
    assert (answer.call_id, answer.ok, answer.result, answer.error) == ("c", True, "text", "")
    if answer.details is not None:
        assert Details.model_validate(answer.details).path
        msgspec.json.encode(answer.details)
    if isinstance(answer, AnswerWithFaults):
        assert answer.faults
        assert all(field.startswith("data.") for field in answer.faults)
