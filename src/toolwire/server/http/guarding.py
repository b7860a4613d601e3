"""ASGI middleware: Host, Origin and token are checked before any route is."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from toolwire.server.security import Guard, Refused, presented

OPEN_PATHS = ("/healthz", "/readyz", "/")
"""Paths that tell nothing about anybody's work: the page itself, and whether the gateway lives."""
OPEN_PREFIX = "/console/"


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
        refused = guard.admits(headers.get) or self._token(guard, scope["path"], headers)
        if refused is None:
            scope.setdefault("state", {})["caller"] = guard.identify(presented(headers.get).token)
            await self._app(scope, receive, send)
            return
        more = {"WWW-Authenticate": "Bearer"} if refused.status == HTTPStatus.UNAUTHORIZED else None
        body = {"code": refused.status.name, "message": refused.reason}
        await JSONResponse(body, status_code=refused.status, headers=more)(scope, receive, send)

    def _token(self, guard: Guard, path: str, headers: Headers) -> Refused | None:
        if path in OPEN_PATHS or path.startswith(OPEN_PREFIX):
            return None
        if guard.identify(presented(headers.get).token) is None:
            return Refused(HTTPStatus.UNAUTHORIZED, "a valid token is required: Authorization: Bearer TOKEN")
        return None
