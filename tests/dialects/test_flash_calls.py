"""Document 3, sections 3 to 5: the messages of the document are read and written exactly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

from toolwire.dialects import flash_calls
from toolwire.dialects.flash_calls import Code, ToolCall, ToolRegistry, ToolResponse
from toolwire.dialects.wire import Model
from toolwire.errors import FLASH_STATUS, FlashCode, InvalidMessage

FOLDER = Path(__file__).parents[1] / "golden" / "3-flash-tool-calls"
GOLDEN: dict[str, type[Model]] = {
    "01-flash-tools-v1": ToolRegistry,
    "02-flash.draft.write": ToolCall,
    "03-flash.draft.write": ToolResponse,
    "04-flash.app.publish": ToolResponse,
}


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_message_is_read_and_written_again_exactly(name: str) -> None:
    message = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    assert flash_calls.encode(GOLDEN[name].model_validate(message)) == message


@pytest.mark.parametrize("name", GOLDEN)
def test_unknown_keys_do_not_survive(name: str) -> None:
    message = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    assert flash_calls.encode(GOLDEN[name].model_validate({**message, "unknown": 1})) == message


def test_every_code_has_a_status_and_a_sentence() -> None:
    assert set(get_args(Code)) == set(FLASH_STATUS) == set(flash_calls.MESSAGES)
    assert {"OK", *get_args(FlashCode)} == set(get_args(Code))
    assert len(get_args(Code)) == 10


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"trace_id": None}, {"trace_id"}),
        ({"trace_id": 7, "tool_id": ""}, {"trace_id", "tool_id"}),
        ({"arguments": [1]}, {"arguments"}),
        ({"context": {"mode": 1}}, {"context.mode"}),
        ({"idempotency_key": "a\nb"}, {"idempotency_key"}),
        ({"session_id": "x" * 257}, {"session_id"}),
    ],
)
def test_every_field_at_fault_is_named(change: dict[str, Any], fields: set[str]) -> None:
    with pytest.raises(InvalidMessage) as caught:
        flash_calls.decode_call({"trace_id": "t", "tool_id": "x", **change})
    assert set(caught.value.fields) == fields


def test_a_null_is_an_absent_field() -> None:
    call = flash_calls.decode_call({"trace_id": "t", "tool_id": "x", "app_id": None, "context": None})
    assert (call.app_id, call.context) == (None, None)
