"""A request's body as JSON, read no further than it may be long."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from toolwire.dialects import wire
from toolwire.dialects.flash_calls import MESSAGES
from toolwire.errors import FlashError, InvalidMessage
from toolwire.server.http.health import hub_of


async def object_of(request: Request) -> dict[str, Any]:
    """The request's body, a JSON object; raises BAD_REQUEST."""
    settings = hub_of(request).settings
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > settings.flash_body_bytes:
            raise FlashError(
                "BAD_REQUEST", f"请求超过 {settings.flash_body_bytes} 字节", reason="BODY_TOO_LARGE", field="$"
            )
        pieces.append(piece)
    try:
        return wire.parse(b"".join(pieces), settings.nesting_limit)
    except InvalidMessage as error:
        raise FlashError("BAD_REQUEST", f"{MESSAGES['BAD_REQUEST']}: {error.message}") from None
