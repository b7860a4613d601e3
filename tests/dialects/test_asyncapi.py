"""The published description: whole, consistent, and true of real messages."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings

from dialects import strategies
from toolwire.core.events import AnyEvent, CallRequested
from toolwire.dialects.asyncapi import SOCKETS, document

jsonschema: Any = importlib.import_module("jsonschema")  # has no types of its own
DOCUMENT = document("1.2.3")
MESSAGES = DOCUMENT["components"]["messages"]


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for part in value.values():
            yield from references(part)
    elif isinstance(value, list):
        for part in value:
            yield from references(part)


def resolve(reference: str) -> Any:
    assert reference.startswith("#/")
    found: Any = DOCUMENT
    for step in reference[2:].split("/"):
        found = found[step]
    return found


def check(name: str, payload: Any) -> None:
    schema = MESSAGES[name]["payload"] | {"components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(schema).validate(payload)


def test_it_is_plain_json_of_version_3() -> None:
    assert DOCUMENT["asyncapi"] == "3.0.0"
    assert DOCUMENT["info"]["version"] == "1.2.3"
    assert json.loads(json.dumps(DOCUMENT)) == DOCUMENT


def test_every_reference_leads_somewhere() -> None:
    found = list(references(DOCUMENT))
    assert len(found) > 50
    for reference in found:
        assert resolve(reference)


def test_the_four_sockets_are_there_with_their_addresses() -> None:
    assert {name: channel["address"] for name, channel in DOCUMENT["channels"].items()} == {
        "agent_chat": "/ws/agent/chat",
        "analyze": "/ws/analyze",
        "gateway": "/ws/{session_id}",
        "flash": "/agent/ws",
    }
    for channel in DOCUMENT["channels"].values():
        named = {part[1:-1] for part in channel["address"].split("/") if part.startswith("{")}
        assert set(channel.get("parameters", {})) == named


def test_each_socket_hears_and_says_what_its_dialect_does() -> None:
    for name, module in strategies.MODULES.items():
        for operation, action, kinds in [
            ("receive", "receive", module.RECEIVED),
            ("send", "send", module.SENT),
            ("watch", "send", module.WATCHED),
        ]:
            if not kinds:
                assert f"{name}_{operation}" not in DOCUMENT["operations"]
                continue
            described = DOCUMENT["operations"][f"{name}_{operation}"]
            assert described["action"] == action
            assert described["channel"] == {"$ref": f"#/channels/{name}"}
            assert [resolve(resolve(ref["$ref"])["$ref"])["name"] for ref in described["messages"]] == list(kinds)
        assert {*module.RECEIVED, *module.SENT, *module.WATCHED} == set(module.MESSAGES)


@pytest.mark.parametrize("socket", SOCKETS, ids=lambda socket: str(socket.name))
def test_every_message_has_a_schema_and_an_example_that_fits_it(socket: Any) -> None:
    assert set(socket.examples) == set(socket.messages)
    for kind, example in socket.examples.items():
        name = f"{socket.name}.{kind}"
        assert MESSAGES[name]["examples"] == [{"payload": example}]
        assert MESSAGES[name]["payload"]["properties"]["type"]["const"] == kind
        jsonschema.Draft202012Validator.check_schema(MESSAGES[name]["payload"])
        check(name, example)
        module = strategies.MODULES[socket.name]
        assert json.loads(module.encode(module.decode_any(json.dumps(example).encode()))) == example


@settings(max_examples=60, deadline=None)
@given(strategies.any_event)
def test_what_the_gateway_says_fits_what_is_published(event: AnyEvent) -> None:
    for dialect in strategies.connections():
        messages = dialect.greeting(1) + dialect.render(event) + dialect.mirror(event)
        if isinstance(event, CallRequested):
            messages.append(dialect.call(event))
        for message in messages:
            payload = json.loads(message)
            check(f"{dialect.name}.{payload['type']}", payload)


def test_a_message_without_what_is_always_sent_does_not_fit() -> None:
    with pytest.raises(jsonschema.ValidationError, match="requestId"):
        check("analyze.COMPLETE", {"type": "COMPLETE", "data": {"result": "x"}})
