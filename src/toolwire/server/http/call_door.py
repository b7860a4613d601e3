"""ASGI middleware: the route that programs call over and over is reached without a walk through the router.

It is the same function. Measured, the way through FastAPI's routing and dependencies takes longer than a call does.
Mounted below another app's path, calls take that way.
"""

from __future__ import annotations

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from toolwire.server.http.flash_calls import call
from toolwire.server.workspace_tools import CALL_PATH


class CallDoor:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != CALL_PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        try:
            response = await call(Request(scope, receive, send))
        except ClientDisconnect:  # before it had said what it wanted
            return
        await response(scope, receive, send)
