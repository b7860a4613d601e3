"""ASGI middleware: HEAD is answered as GET, without the body (RFC 9110, 9.3.2). Health checks and proxies ask so."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

LIVE = "/api/sessions/"
"""Below this an answer may follow what happens without end: there is nothing to say about it beforehand."""


class HeadAsGet:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD" and not scope["path"].startswith(LIVE):
            # The server below knows from its own scope that it was HEAD, and leaves the body out.
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)
