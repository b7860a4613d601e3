"""A program in front of a gateway: calls of document 3 over HTTP, and tools made for the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from support.patience import PATIENCE
from support.running import Running, running
from toolwire.server.catalogue import CallContext, Entry, ServiceResult
from toolwire.server.roles import Role

ANYTHING = {"type": "object"}


class Program:
    """Calls tools, under a trace and a key that it may leave to us."""

    def __init__(self, gateway: Running, client: httpx.AsyncClient) -> None:
        self.gateway = gateway
        self.http = client

    async def raw(self, **envelope: Any) -> httpx.Response:
        return await self.http.post("/agent/flash/tools/call", json=envelope)

    async def call(self, tool_id: str, arguments: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        answer = await self.raw(trace_id="tr-1", tool_id=tool_id, arguments=arguments or {}, **more)
        response: dict[str, Any] = answer.json()
        assert answer.status_code == (200 if response["ok"] else response["error"]["http_status"])
        return response

    async def events(self, session: str = "calls") -> list[dict[str, Any]]:
        answer = await self.http.get(f"/api/sessions/{session}/events?limit=1000")
        found: list[dict[str, Any]] = answer.json()["events"]
        return found

    def add(self, entry: Entry) -> None:
        self.gateway.hub.calls.catalogue.add(entry)


@asynccontextmanager
async def program(folder: Path, *, token: str = "", **more: Any) -> AsyncIterator[Program]:
    headers = {"Authorization": f"Bearer {token}"} if token else None
    async with (
        running(folder, **more) as gateway,
        httpx.AsyncClient(base_url=gateway.http, timeout=PATIENCE, trust_env=False, headers=headers) as client,
    ):
        yield Program(gateway, client)


def service(
    run: Callable[[CallContext, dict[str, Any]], Awaitable[ServiceResult]],
    *,
    tool_id: str = "test.tool",
    reads: bool = False,
    role: Role = "editor",
    **more: Any,
) -> Entry:
    """An entry made for the test."""
    return Entry(
        *(tool_id, "测试", "Test", "run", "thing", "medium", reads, role, more.pop("takes", ANYTHING), ANYTHING),
        placement="service",
        api=None,
        run=run,
        **more,
    )
