"""Whatever comes in, a dialect raises documented errors only; whatever happens, it has words for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialects import strategies
from toolwire.core.commands import Command
from toolwire.core.events import AnyEvent, CallRequested
from toolwire.dialects.base import Dialect
from toolwire.errors import FlashError, InvalidMessage, ToolwireError

FOLDER = Path(__file__).parents[1] / "golden"
SEEDS = [
    json.loads(path.read_bytes())
    for folder in strategies.GOLDEN.values()
    for path in sorted((FOLDER / folder).glob("*.json"))
]
KINDS = sorted({kind for module in strategies.MODULES.values() for kind in module.MESSAGES})


def survives(dialect: Dialect, message: bytes) -> Command | None:
    """A command, or a refusal that names what is wrong, and goes out as a message of the dialect."""
    try:
        return dialect.decode(message)
    except InvalidMessage as error:
        refused = error
    assert refused.fields
    said = dialect.error(refused)
    assert strategies.MODULES[dialect.name].decode_any(said)
    text = said.decode()
    assert all(json.dumps(path, ensure_ascii=False)[1:-1] in text for path in refused.fields if path != "$")
    return None


@settings(deadline=None)
@given(st.binary(max_size=100))
def test_random_bytes_are_survived(message: bytes) -> None:
    for dialect in strategies.connections():
        assert survives(dialect, message) is None


@settings(deadline=None)
@given(strategies.json_values, st.sampled_from([*KINDS, None]))
def test_random_json_is_survived(value: Any, kind: str | None) -> None:
    body = {**value, "type": kind} if isinstance(value, dict) else {"type": kind, "data": value}
    for dialect in strategies.connections():
        survives(dialect, json.dumps(body if kind else value).encode())


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if not isinstance(value, dict):
        return [path]
    return [path, *(place for name in value for place in _places(value[name], (*path, name)))]


def _replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    return {**value, path[0]: _replaced(value[path[0]], path[1:], new)} if path else new


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SEEDS), st.data())
def test_golden_messages_with_a_part_replaced_are_survived(seed: dict[str, Any], data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(_places(seed)))
    message = json.dumps(_replaced(seed, place, data.draw(strategies.json_values))).encode()
    for dialect in strategies.connections():
        survives(dialect, message)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SEEDS), st.integers(0, 400), st.integers(0, 4), st.binary(max_size=4))
def test_golden_messages_with_bytes_changed_are_survived(seed: Any, at: int, cut: int, new: bytes) -> None:
    whole = json.dumps(seed, ensure_ascii=False).encode()
    for dialect in strategies.connections():
        survives(dialect, whole[:at] + new + whole[at + cut :])


@settings(max_examples=300, deadline=None)
@given(strategies.any_event)
def test_there_are_words_for_every_event_and_they_are_messages_of_the_document(event: AnyEvent) -> None:
    for dialect in strategies.connections():
        messages = dialect.render(event) + dialect.mirror(event)
        if isinstance(event, CallRequested):
            messages.append(dialect.call(event))
        module = strategies.MODULES[dialect.name]
        for message in messages:
            read = module.decode_any(message)
            assert read.type in (*module.SENT, *module.WATCHED)
            always = getattr(module, "ALWAYS", {}).get(read.type, ())
            body = json.loads(message)
            assert set(always) <= set(body.get("data", body))
            assert message.endswith(b"}")  # the gateway adds `seq` there


def _all_errors(root: type[ToolwireError] = ToolwireError) -> list[type[ToolwireError]]:
    """Those of the tree that errors.py draws; a module's own kinds of them are told like their parents."""
    children = [child for child in root.__subclasses__() if child.__module__ == ToolwireError.__module__]
    return [root, *(kind for child in children for kind in _all_errors(child))]


@pytest.mark.parametrize("kind", _all_errors(), ids=lambda kind: str(kind.__name__))
def test_there_are_words_for_every_error(kind: type[ToolwireError]) -> None:
    error = FlashError("CONFLICT", "it-broke") if kind is FlashError else kind("it-broke")
    for dialect in strategies.connections():
        module = strategies.MODULES[dialect.name]
        for said in (dialect.error(error), dialect.error(error, request="req-1"), type(dialect).refusal(error)):
            assert module.decode_any(said).type.lower() == "error"
            assert b"it-broke" in said
