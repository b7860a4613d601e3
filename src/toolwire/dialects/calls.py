"""The spellings of a call's id, and where its fields may stand (spec README, "The ids' spelling").

On input every dialect takes `callId`, `toolCallId` and `call_id`, at the root or in `data`, since real plugins mix
them up; on output each is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

CALL_ID_SPELLINGS = ("call_id", "callId", "toolCallId")


def first(spellings: tuple[str, ...], *places: Mapping[str, Any]) -> Any:
    """The value under the first spelling found, in the order of the places; None if there is none."""
    for place in places:
        for name in spellings:
            if place.get(name) is not None:
                return place[name]
    return None


def as_text(result: Any) -> str:
    """A result for documents 1 and 2, where it is text: an object's `content`, else the object as JSON."""
    if isinstance(result, str):
        return result
    if result is None:
        return ""
    if isinstance(result, dict) and isinstance(result.get("content"), str):
        return str(result["content"])
    return msgspec.json.encode(result).decode()


def as_object(result: Any) -> Any:
    """A result for document 5, where it is an object: text becomes its `content`."""
    return result if isinstance(result, dict) else {"content": result if result is not None else ""}
