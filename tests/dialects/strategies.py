"""Generated messages and events of the dialects, and connections to try them on."""

from __future__ import annotations

import types
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from toolwire.core import events
from toolwire.dialects import agent_chat_messages, analyze_messages, flash_messages, gateway_messages
from toolwire.dialects.agent_chat import AgentChat
from toolwire.dialects.analyze import Analyze
from toolwire.dialects.base import Dialect, Handshake
from toolwire.dialects.gateway import Gateway
from toolwire.dialects.wire import Model

MODULES = {
    "agent_chat": agent_chat_messages,
    "analyze": analyze_messages,
    "gateway": gateway_messages,
    "flash": flash_messages,
}
GOLDEN = {"agent_chat": "1-tool-protocol", "analyze": "2-analyze-v1", "gateway": "5-gateway-ide"}

HANDSHAKE = Handshake(
    query={"sessionId": "test-123", "projectKey": "autoloop", "projectPath": "/home/dev/autoloop"},
    connection="conn-1",
    session="test-123",
    fresh_request="req-fresh",
    default_project="first",
)


def connections() -> list[Dialect]:
    return [AgentChat(HANDSHAKE), Analyze(HANDSHAKE), Gateway(HANDSHAKE)]


texts = st.text(max_size=20)
names = st.text(min_size=1, max_size=10)
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(texts, values, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(texts, json_values, max_size=4)

_PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(0, 2**53),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    type(None): st.none(),
    Any: json_values,
}


def of_type(annotation: Any) -> st.SearchStrategy[Any]:
    """JSON that fits an annotation of our models."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is Annotated:
        return of_type(arguments[0]).filter(bool)
    if origin in (Union, types.UnionType):
        return reduce(or_, (of_type(argument) for argument in arguments))
    if origin is dict:
        return json_objects
    if origin is list:
        return st.lists(of_type(arguments[0]), max_size=3)
    if origin is tuple:
        return st.lists(of_type(arguments[0]), max_size=3).map(tuple)
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return st.builds(annotation, **{name: of_type(kind) for name, kind in get_type_hints(annotation).items()})
    return of_model(annotation)


def _in_words(annotation: Any) -> st.SearchStrategy[Any]:
    """Ids of document 3 are plain words: no control characters, not empty."""
    words = st.text(st.characters(min_codepoint=33, max_codepoint=0x7E), min_size=1, max_size=10)
    return words if str in (annotation, *get_args(annotation)) else of_type(annotation)


def of_model(model: type[Model]) -> st.SearchStrategy[dict[str, Any]]:
    """JSON that fits a model, with any of its optional fields left out."""
    needed: dict[str, st.SearchStrategy[Any]] = {}
    free: dict[str, st.SearchStrategy[Any]] = {}
    for name, field in model.model_fields.items():
        flash = model.__module__ == flash_messages.__name__
        strategy = _in_words(field.annotation) if flash else of_type(field.annotation)
        if any(hasattr(rule, "min_length") for rule in field.metadata):
            strategy = strategy.filter(bool)
        (needed if field.is_required() else free)[name] = strategy
    fitting = st.fixed_dictionaries(needed, optional=free)
    if model is gateway_messages.WSToolResult:
        fitting = fitting.filter(lambda fields: (fields.get("result") is None) != (fields.get("error") is None))
    if model is analyze_messages.ThinkingData:
        fitting = fitting.filter(lambda fields: 0 <= (fields.get("percent") or 0) <= 100)
    return fitting


_EVENT_TEXT = {"call_id": names, "tool": names, "turn": names}
_EVENTS: dict[str, Any] = {
    "arguments": json_objects,
    "result": json_values,
    "percent": st.none() | st.integers(0, 100),
    "history": st.lists(st.builds(events.Message, st.sampled_from(get_args(events.Role)), texts), max_size=2).map(
        tuple
    ),
    "attachments": st.lists(
        st.builds(events.Attachment, names, names, texts, st.integers(0, 9), texts), max_size=2
    ).map(tuple),
    "stages": st.lists(st.sampled_from(get_args(events.Stage)), max_size=3).map(tuple),
    **_EVENT_TEXT,
}


def of_event(kind: type[events.Event]) -> st.SearchStrategy[Any]:
    fields = {
        name: _EVENTS[name] if name in _EVENTS else of_type(annotation)
        for name, annotation in _annotations(kind).items()
    }
    return st.builds(kind, **fields)


def _annotations(kind: type[events.Event]) -> dict[str, Any]:
    return get_type_hints(kind) | {"seq": int, "at": int}


EVENTS = get_args(events.AnyEvent)
any_event = st.one_of([of_event(kind) for kind in EVENTS])
