"""Every message of every document: the golden files, generated ones, and the quick ways against the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialects import strategies
from toolwire.core.commands import Answer
from toolwire.core.events import AnyEvent, CallRequested, Said
from toolwire.dialects import agent_chat, analyze, asyncapi, flash_messages, gateway
from toolwire.dialects.flash_calls import ToolCall, ToolResponse
from toolwire.dialects.wire import Model
from toolwire.errors import InvalidMessage

FOLDER = Path(__file__).parents[1] / "golden"
GOLDEN = [
    pytest.param(name, path, id=f"{folder}/{path.stem}")
    for name, folder in strategies.GOLDEN.items()
    for path in sorted((FOLDER / folder).glob("*.json"))
]
MESSAGES = [
    pytest.param(name, kind, model, id=f"{name}.{kind}")
    for name, module in strategies.MODULES.items()
    for kind, model in module.MESSAGES.items()
    if not issubclass(model, ToolCall | ToolResponse)  # these have a test of their own (test_flash_calls.py)
]
MODULES: dict[str, Any] = {"agent_chat": agent_chat, "analyze": analyze, "gateway": gateway, "flash": flash_messages}


def test_there_are_golden_files_for_all_three_documents() -> None:
    assert len(GOLDEN) == 5 + 17 + 13


@pytest.mark.parametrize(("name", "path"), GOLDEN)
def test_a_golden_message_is_read_and_written_again_exactly(name: str, path: Path) -> None:
    message = path.read_bytes()
    written = MODULES[name].encode(MODULES[name].decode_any(message))
    assert json.loads(written) == json.loads(message)


@pytest.mark.parametrize(("name", "path"), GOLDEN)
def test_unknown_keys_do_not_survive(name: str, path: Path) -> None:
    plain = json.loads(path.read_bytes())
    more = {**plain, "unknown": 1, "seq": "e.7"}
    if "data" in plain:
        more["data"] = {**plain["data"], "unknown": {"a": []}}
    assert json.loads(MODULES[name].encode(MODULES[name].decode_any(json.dumps(more).encode()))) == plain


@pytest.mark.parametrize(("name", "path"), GOLDEN)
def test_text_goes_out_compact_and_unescaped(name: str, path: Path) -> None:
    written = MODULES[name].encode(MODULES[name].decode_any(path.read_bytes()))
    assert written == json.dumps(json.loads(written), ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize(("name", "kind", "model"), MESSAGES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_message_survives_the_round_trip(name: str, kind: str, model: type[Model], data: st.DataObject) -> None:
    fields = data.draw(strategies.of_model(model))
    module = MODULES[name]
    read = module.decode_any(json.dumps(fields).encode())
    assert type(read) is model
    assert json.loads(module.encode(read)) == fields
    assert module.decode_any(module.encode(read)) == read


@pytest.mark.parametrize(("name", "kind", "model"), MESSAGES)
def test_every_message_is_frozen_and_strict(name: str, kind: str, model: type[Model]) -> None:
    example = next(socket for socket in asyncapi.SOCKETS if socket.name == name).examples[kind]
    read = MODULES[name].decode_any(json.dumps(example).encode())
    with pytest.raises(ValueError, match="frozen"):
        read.type = "other"
    where, fields = ("data", example["data"]) if "data" in example else ("", example)
    for field in fields:
        if field == "result" and name == "gateway":  # any JSON is a result there
            continue
        wrong = {**example, field: [7]} if not where else {**example, where: {**fields, field: [7]}}
        with pytest.raises(InvalidMessage) as refused:
            MODULES[name].decode_any(json.dumps(wrong).encode())
        assert any(path.split(".")[-1] == field or field in path for path in refused.value.fields)


@pytest.mark.parametrize(("name", "kind", "model"), MESSAGES)
def test_a_missing_field_is_named_with_its_path(name: str, kind: str, model: type[Model]) -> None:
    inner = model.model_fields.get("data")
    part: Any = inner.annotation if inner is not None else model
    prefix = "data." if inner is not None else ""
    message: dict[str, Any] = {"type": kind} | ({"data": {}} if inner is not None else {})
    needed = {prefix + field for field, rule in part.model_fields.items() if rule.is_required() and field != "type"}
    if not needed:
        return
    with pytest.raises(InvalidMessage) as refused:
        MODULES[name].decode_any(json.dumps(message).encode())
    assert set(refused.value.fields) == needed
    assert all(path in refused.value.message for path in needed)


# The quick ways ---------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(event=strategies.of_event(Said) | strategies.of_event(CallRequested))
def test_text_and_calls_are_written_as_their_models_write_them(event: AnyEvent) -> None:
    for dialect in strategies.connections():
        written = dialect.call(event) if isinstance(event, CallRequested) else b"".join(dialect.render(event))
        if not written:
            assert dialect.name == "analyze"  # streams no text
            continue
        module = MODULES[dialect.name]
        model = module.decode_any(written)
        assert json.loads(module.encode(model)) == json.loads(written)
        assert model.model_fields_set == set(type(model).model_fields)


def mostly(*right: Any) -> st.SearchStrategy[Any]:
    """A right value three times out of four, else one of another type."""
    wrong: st.SearchStrategy[Any] = st.sampled_from([None, 0, 1, 1.5, True, "", "x", [], {"a": 1}])
    return st.integers(0, 3).flatmap(lambda roll: st.sampled_from(right) if roll else wrong)


results = st.fixed_dictionaries(
    {"success": mostly(True, False)},
    optional={
        "toolCallId": mostly("c-1"),
        "callId": mostly("c-1"),
        "call_id": mostly("c-1"),
        "result": mostly("text"),
        "error": mostly("why"),
        "executionTime": mostly(150, 1.5),
    },
)


def _through_models(dialect: Any, message: bytes) -> Any:
    """What `decode` does when the quick way does not apply."""
    module = MODULES[dialect.name]
    model = module.decode_any(message)
    return module._command(model) if dialect.name == "gateway" else dialect._command(model)


@settings(max_examples=300, deadline=None)
@given(root=results, data=st.none() | results, flat=st.booleans())
def test_a_result_is_read_the_same_with_and_without_the_quick_way(root: Any, data: Any, flat: bool) -> None:
    for dialect in strategies.connections():
        kind = "tool_result" if dialect.name == "gateway" else "TOOL_RESULT"
        body = {"type": kind, **root} if flat else {"type": kind, "data": root, **(data or {})}
        message = json.dumps(body).encode()
        try:
            expected = _through_models(dialect, message)
        except InvalidMessage:
            with pytest.raises(InvalidMessage):
                dialect.decode(message)
        else:
            answer = dialect.decode(message)
            assert isinstance(answer, Answer)
            assert answer == expected
