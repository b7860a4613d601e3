"""ASGI middleware: Host, Origin and token are checked before any route is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from toolwire.server.http.flash_words import TRACE_HEADER, is_flash, refusal
from toolwire.server.security import Guard, Refused, presented

OPEN_PATHS = ("/healthz", "/readyz", "/")
"""Paths that tell nothing about anybody's work: the page itself, and whether the gateway lives."""
OPEN_PREFIX = "/console/"


def cross_origin(origins: Iterable[str]) -> dict[str, Any]:
    """What a browser is told that asks for a page of an allowed origin. Tokens travel in a header: no cookies."""
    return {
        "allow_origins": [origin.lower().rstrip("/") for origin in origins],
        "allow_methods": ["GET", "POST", "PATCH"],
        "allow_headers": [
            *("Authorization", "Content-Type", "Idempotency-Key", TRACE_HEADER),
            *("If-None-Match", "Last-Event-ID", "Prefer"),
        ],
        "expose_headers": [TRACE_HEADER, "Idempotent-Replay", "ETag"],
    }


class Guarding:
    def __init__(self, app: ASGIApp, guard_of: Callable[[], Guard]) -> None:
        self._app = app
        self._guard_of = guard_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        guard = self._guard_of()
        headers = Headers(scope=scope)
        refused = guard.admits(headers.get)
        if refused is None:
            caller = guard.identify(presented(headers.get).token)
            refused = self._missing_token(scope["path"]) if caller is None else None
        if refused is None:
            scope.setdefault("state", {})["caller"] = caller
            await self._app(scope, receive, send)
            return
        more = {"WWW-Authenticate": "Bearer"} if refused.status == HTTPStatus.UNAUTHORIZED else None
        body: dict[str, Any] = {"code": refused.status.name, "message": refused.reason}
        if is_flash(scope["path"]):
            trace = headers.get(TRACE_HEADER)
            body = refusal(refused.status, refused.reason, reason=refused.status.name, trace=trace)
        await JSONResponse(body, status_code=refused.status, headers=more)(scope, receive, send)

    def _missing_token(self, path: str) -> Refused | None:
        if path in OPEN_PATHS or path.startswith(OPEN_PREFIX):
            return None
        return Refused(HTTPStatus.UNAUTHORIZED, "a valid token is required: Authorization: Bearer TOKEN")
