"""The AsyncAPI 3.0 document of the four sockets, built from the models that read and write their messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolwire.dialects import agent_chat_messages, analyze_messages, examples, flash_messages, gateway_messages
from toolwire.dialects.wire import Model

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Socket:
    """One document's endpoint, as it is published. Directions are the gateway's."""

    name: str
    address: str
    title: str
    description: str
    messages: Mapping[str, type[Model]]
    received: tuple[str, ...]
    sent: tuple[str, ...]
    watched: tuple[str, ...]
    examples: Mapping[str, Json]
    query: Mapping[str, str]
    required: tuple[str, ...] = ()
    always: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)


_RESUME: Mapping[str, str] = {
    "last_event": "a cursor: every message carries `seq`, and what was missed is sent first; `0` is the start",
}
_WITH_TOOLS: Mapping[str, str] = {
    "tools": "`server`: the gateway runs the tools in its own workspace; default `client`",
    "watch": "`1`: see prompts, calls and results, run none",
    "ledger": "names the record this client keeps of what it has run, so that a write may be sent to it again",
    "details": "`1`: results have typed fields beside the document's, see docs/dialects/README.md",
}

SOCKETS = (
    Socket(
        name="agent_chat",
        address="/ws/agent/chat",
        title="Document 1 and version 2",
        description="Chat with an agent; TOOL_CALL has its fields at the root, every other message in `data`.",
        messages=agent_chat_messages.MESSAGES,
        received=agent_chat_messages.RECEIVED,
        sent=agent_chat_messages.SENT,
        watched=agent_chat_messages.WATCHED,
        examples=examples.AGENT_CHAT,
        query={
            "sessionId": "the session",
            "projectKey": "the project",
            "projectPath": "a label",
            "mode": "`agent` (default), `ask` or `plan`",
        },
        required=("sessionId", "projectKey"),
        always=agent_chat_messages.ALWAYS,
    ),
    Socket(
        name="analyze",
        address="/ws/analyze",
        title="Document 2",
        description="ANALYZE … COMPLETE; one request at a time, a new one overrides.",
        messages=analyze_messages.MESSAGES,
        received=analyze_messages.RECEIVED,
        sent=analyze_messages.SENT,
        watched=analyze_messages.WATCHED,
        examples=examples.ANALYZE,
        query={
            "sessionId": "the session",
            "projectKey": "the project",
            "projectPath": "the project's root as the IDE knows it; repeated to it, never opened",
            "requestId": "the conversation to go on with",
            "mode": "`claude-code` (default) or `legacy`",
        },
        required=("sessionId", "projectKey", "projectPath"),
        always=analyze_messages.ALWAYS,
    ),
    Socket(
        name="gateway",
        address="/ws/{session_id}",
        title="Document 5",
        description="Streamed chat and tool calls; flat messages.",
        messages=gateway_messages.MESSAGES,
        received=gateway_messages.RECEIVED,
        sent=gateway_messages.SENT,
        watched=gateway_messages.WATCHED,
        examples=examples.GATEWAY,
        query={"projectKey": "the project; default the first one"},
        parameters={"session_id": "the session; not `analyze` or `agent`"},
    ),
    Socket(
        name="flash",
        address="/agent/ws",
        title="Document 3",
        description="Long tasks and tool calls; every message names its session, tools run in the gateway.",
        messages=flash_messages.MESSAGES,
        received=flash_messages.RECEIVED,
        sent=flash_messages.SENT,
        watched=flash_messages.WATCHED,
        examples=examples.FLASH,
        query={"sessionId": "the session to go on with: what was missed of it is sent first"},
    ),
)


def document(version: str) -> Json:
    """The whole document, ready to be written as JSON."""
    schemas: Json = {}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Toolwire WebSocket API",
            "version": version,
            "description": "The switchboard between coding agents and IDEs: four dialects, one session.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {socket.name: _channel(socket) for socket in SOCKETS},
        "operations": {name: body for socket in SOCKETS for name, body in _operations(socket)},
        "components": {
            "messages": {name: body for socket in SOCKETS for name, body in _messages(socket, schemas)},
            "schemas": schemas,
        },
    }


def _channel(socket: Socket) -> Json:
    kinds = dict.fromkeys((*socket.received, *socket.sent, *socket.watched))
    channel: Json = {
        "address": socket.address,
        "title": socket.title,
        "description": socket.description,
        "messages": {kind: {"$ref": f"#/components/messages/{_id(socket, kind)}"} for kind in kinds},
        "bindings": {"ws": {"method": "GET", "query": _query(socket), "bindingVersion": "0.1.0"}},
    }
    if socket.parameters:
        channel["parameters"] = {name: {"description": what} for name, what in socket.parameters.items()}
    return channel


def _query(socket: Socket) -> Json:
    names = {**socket.query, **(_WITH_TOOLS if socket.watched else {}), **_RESUME}
    properties = {name: {"type": "string", "description": what} for name, what in names.items()}
    return {"type": "object", "properties": properties, "required": list(socket.required)}


def _operations(socket: Socket) -> Iterable[tuple[str, Json]]:
    yield f"{socket.name}_receive", _operation(socket, "receive", socket.received, "What the gateway hears.")
    yield f"{socket.name}_send", _operation(socket, "send", socket.sent, "What the gateway says.")
    if not socket.watched:
        return
    watched = "What the gateway says beside that to a connection that watches (`?watch=1`)."
    yield f"{socket.name}_watch", _operation(socket, "send", socket.watched, watched)


def _operation(socket: Socket, action: str, kinds: tuple[str, ...], summary: str) -> Json:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{socket.name}"},
        "summary": summary,
        "messages": [{"$ref": f"#/channels/{socket.name}/messages/{kind}"} for kind in kinds],
    }


def _messages(socket: Socket, schemas: Json) -> Iterable[tuple[str, Json]]:
    for kind, model in socket.messages.items():
        payload = _payload(socket, kind, model, schemas)
        body: Json = {
            "name": kind,
            "title": f"{kind} ({socket.title})",
            "contentType": "application/json",
            "payload": payload,
            "examples": [{"payload": socket.examples[kind]}],
        }
        summary = (model.__doc__ or "").strip()
        if summary:
            body["summary"] = " ".join(summary.split())
        yield _id(socket, kind), body


def _payload(socket: Socket, kind: str, model: type[Model], schemas: Json) -> Json:
    """The model's schema; its parts go to `components/schemas` under the socket's name."""
    template = f"#/components/schemas/{socket.name}.{{model}}"
    schema = model.model_json_schema(ref_template=template)
    parts = schema.pop("$defs", {})
    if kind in socket.always and kind not in socket.received:
        _require(schema, parts, socket.always[kind])
    schemas |= {f"{socket.name}.{name}": part for name, part in parts.items()}
    return schema


def _require(schema: Json, parts: Json, names: tuple[str, ...]) -> None:
    """Fields the gateway never leaves out are required in what is published, though reading forgives."""
    inner = schema["properties"].get("data", {}).get("$ref", "").rpartition(".")[2]
    target = parts[inner] if inner else schema
    target["required"] = list(dict.fromkeys((*target.get("required", ()), *names)))


def _id(socket: Socket, kind: str) -> str:
    return f"{socket.name}.{kind}"
