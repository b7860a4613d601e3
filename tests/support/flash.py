"""Calls of document 3 against a running gateway, by any caller, and over plain HTTP."""

from __future__ import annotations

import itertools
from typing import Any

import httpx

from support.patience import PATIENCE
from support.running import Running
from toolwire.server.roles import Role
from toolwire.server.security import OWNER, Caller

_numbers = itertools.count(1)


class Calls:
    """The one door, with an envelope made for each call."""

    def __init__(self, gateway: Running, caller: Caller = OWNER) -> None:
        self._gateway = gateway
        self._caller = caller

    def by(self, name: str, role: Role = "editor", tenant: str = "default") -> Calls:
        return Calls(self._gateway, Caller(name, tenant, role))

    async def __call__(self, tool_id: str, /, **arguments: Any) -> dict[str, Any]:
        """The whole response."""
        number = next(_numbers)
        envelope = {
            "trace_id": f"tr_{number}",
            "idempotency_key": f"idem_{number}",
            "tool_id": tool_id,
            "arguments": arguments,
        }
        response, _ = await self._gateway.hub.calls.call(envelope, self._caller)
        return response

    async def done(self, tool_id: str, /, **more: Any) -> dict[str, Any]:
        """The data of a call that must go well."""
        response = await self(tool_id, **more)
        assert response["ok"], response
        data: dict[str, Any] = response["data"]
        return data

    async def code(self, tool_id: str, /, **more: Any) -> str:
        response = await self(tool_id, **more)
        return str(response["code"])


def client(gateway: Running, **headers: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=gateway.http, headers=headers, timeout=PATIENCE, trust_env=False)
