"""What documents 1 and 2 share: `{type, data}` envelopes, heartbeat, token, and a tool result inside `data`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from toolwire.core.commands import Answer
from toolwire.dialects.calls import CALL_ID_SPELLINGS, first
from toolwire.dialects.wire import Model

Text = Annotated[str, Field(min_length=1)]
Number = int | float
_NUMBERS = (int, float)
_OUTCOME = ("success", "result", "error", "executionTime")


class Beat(Model):
    timestamp: Number | None = None


class Ping(Model):
    """Client to server (document 2, 3.7)."""

    type: Literal["PING"]
    data: Beat = Beat()


class Echo(Model):
    timestamp: Number


class Pong(Model):
    """Server to client: the timestamp of the PING, as it came; the gateway's own time if it had none."""

    type: Literal["PONG"]
    data: Echo


def pong(timestamp: Number | None, now: int) -> Pong:
    return Pong(type="PONG", data=Echo(timestamp=now if timestamp is None else timestamp))


class Token(Model):
    token: Text


class Connect(Model):
    """Client to server (document 2, 7.1): the token of a connection that was opened without one."""

    type: Literal["CONNECT"]
    data: Token


def result_fields(value: dict[str, Any], id_name: str) -> dict[str, Any]:
    """A TOOL_RESULT with all its fields in `data`, wherever and under whichever spelling of the id they came."""
    inner = value.get("data")
    if inner is not None and not isinstance(inner, dict):
        return value
    data = inner or {}
    outcome = data if "success" in data else value
    fields = {name: outcome[name] for name in _OUTCOME if name in outcome}
    call_id = first((id_name, *CALL_ID_SPELLINGS), data, value)
    if call_id is not None:
        fields[id_name] = call_id
    return {"type": value["type"], "data": fields}


def plain_answer(value: dict[str, Any], id_name: str) -> Answer | None:
    """A TOOL_RESULT exactly as its document has it, without the cost of a model. None: look closer."""
    data = value.get("data")
    if type(data) is not dict:
        return None
    call_id = data.get(id_name)
    success = data.get("success")
    other, text = (data.get("error"), data.get("result")) if success else (data.get("result"), data.get("error"))
    if type(call_id) is not str or not call_id or type(success) is not bool:
        return None
    if type(text) is not str or other is not None or type(data.get("executionTime", 0)) not in _NUMBERS:
        return None
    return Answer(call_id, True, text) if success else Answer(call_id, False, None, text)


def answer(call_id: str, success: bool, result: str | None, error: str | None) -> Answer:
    """`result` goes with success and `error` with failure; a client that leaves it out has nothing to say."""
    if success:
        return Answer(call_id, True, result or "")
    return Answer(call_id, False, None, error or result or "")
