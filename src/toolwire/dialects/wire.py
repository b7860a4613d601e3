"""Strict JSON in, compact JSON out, and the base of every message model (spec README, "All dialects").

A message is one JSON object in UTF-8. Duplicate keys, NaN, lone surrogates, numbers beyond what can be kept exactly
or at all, and nesting beyond the limit do not fit; the error says where.

How duplicates are found without looking at every key: the parser keeps the last of equal keys, so the value it
gives, written again, lacks what was lost. Most clients write JSON as we do, and the two are equal byte by byte.
Where they are not, colons are counted: one stands between each key and its value, the others inside strings, so
there is one less for every key that was lost, and exactly as many if none was. (Only a colon written as an escape
would upset the sum: then every object is looked at.) This is exact, and runs at the speed of the parser.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar, cast

import msgspec
import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from toolwire.errors import InvalidMessage

NESTING_LIMIT = 64
WHOLE = "$"
"""Names the message itself where no single field is at fault."""
_SHOWN = 80
"""Characters of a stranger's text that are quoted in an error."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_MALFORMED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Model(BaseModel):
    """A message, or a part of one: types are strict, unknown keys do not survive, nothing changes afterwards."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


M = TypeVar("M", bound=Model)


def parse(message: bytes, nesting_limit: int = NESTING_LIMIT) -> dict[str, Any]:
    """The JSON object a message is; raises InvalidMessage."""
    try:
        value = _decode(message)
    except _MALFORMED as error:
        raise _malformed(message, error) from None
    if type(value) is not dict:
        raise misfit(f"a message is a JSON object, not {_kind(value)}")
    if message.count(b"{") + message.count(b"[") > nesting_limit and _deeper_than(value, nesting_limit):
        raise _too_deep(nesting_limit)
    again = _encode(value)
    if again != message and (again.count(b":") != message.count(b":") or _escapes_colons(message)):
        _find_duplicate(message)
    return value


def fit(model: type[M], value: Mapping[str, Any]) -> M:
    """The value as that message; raises InvalidMessage that maps every field at fault to what is wrong with it."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        fields = {_path(fault["loc"]): _words(cast(Mapping[str, Any], fault)) for fault in error.errors()}
    raise InvalidMessage("; ".join(f"{path}: {what}" for path, what in fields.items()), fields=fields)


def encode(message: Model) -> bytes:
    """Compact UTF-8; what was never set stays out."""
    return message.__pydantic_serializer__.to_json(message, exclude_unset=True)


def kind_of(value: Mapping[str, Any], known: Mapping[str, object]) -> str:
    """The `type` of a message, which must be one of the known."""
    kind = value.get("type")
    if isinstance(kind, str) and kind in known:
        return kind
    if "type" not in value:
        what = "is missing"
    elif isinstance(kind, str):
        what = f"{kind[:_SHOWN]!r} is not a message type here; known: {', '.join(known)}"
    else:
        what = "must be a string"
    raise InvalidMessage(f"type: {what}", fields={"type": what})


def misfit(what: str, path: str = WHOLE) -> InvalidMessage:
    """A field, or the message itself, does not fit."""
    return InvalidMessage(what if path == WHOLE else f"{path}: {what}", fields={path: what})


def _too_deep(limit: int) -> InvalidMessage:
    return misfit(f"nested deeper than {limit} levels")


def _malformed(message: bytes, error: Exception) -> InvalidMessage:
    """Why the parser stopped, and where."""
    if isinstance(error, RecursionError):
        return misfit("nested too deeply")
    if isinstance(error, UnicodeDecodeError):
        try:
            message.decode()
        except UnicodeDecodeError as whole:
            return misfit(f"not UTF-8: byte {whole.start} ({message[whole.start]:#04x})")
    if isinstance(error, msgspec.ValidationError):
        return misfit(f"a number is out of range: {error}")
    try:
        orjson.loads(message)  # slower to start, but it says line and column
    except orjson.JSONDecodeError as better:
        return misfit(f"not JSON: {better}")
    return misfit(f"not JSON: {error}")


def _deeper_than(value: Any, limit: int) -> bool:
    """Walks level by level, so that no input can exhaust the stack."""
    level = [value]
    for _ in range(limit):
        below: list[Any] = []
        for container in level:
            children = container.values() if type(container) is dict else container
            below += [child for child in children if type(child) is dict or type(child) is list]
        if not below:
            return False
        level = below
    return True


def _escapes_colons(message: bytes) -> bool:
    return b"\\u003a" in message or b"\\u003A" in message


def _find_duplicate(message: bytes) -> None:
    """Looks at every object and raises, naming the key that comes twice."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            seen: set[str] = set()
            for name, _ in pairs:
                if name in seen:
                    raise misfit("comes twice in one object", name[:_SHOWN])
                seen.add(name)
        return found

    json.loads(message, object_pairs_hook=unique)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    return {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "an array"}[type(value)]


def _path(location: tuple[int | str, ...]) -> str:
    """`data.message`. For a number the last step is which kind of number was tried; no field has such a name."""
    return ".".join(str(step) for step in location if step not in ("int", "float")) or WHOLE


_WORDS: dict[str, str] = {
    "missing": "is missing",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "int_type": "must be a number",
    "float_type": "must be a number",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "string_too_short": "must not be empty",
}


def _words(fault: Mapping[str, Any]) -> str:
    """What is wrong with a field, as the end of a sentence that begins with its path."""
    kind = fault["type"]
    if kind == "literal_error":
        return f"must be one of {fault['ctx']['expected']}"
    if kind == "value_error":
        return str(fault["ctx"]["error"])
    return _WORDS.get(kind) or str(fault["msg"])
