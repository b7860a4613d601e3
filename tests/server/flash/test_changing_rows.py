"""PATCH says what changes: null empties what may be empty, nothing said changes nothing, and neither is our error."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.programs import program, service
from support.flash import client
from support.running import Running, running
from toolwire.server.catalogue import CallContext, ServiceResult


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path) as gateway:
        yield gateway


async def published(http: httpx.AsyncClient, path: str = "/leave") -> dict[str, Any]:
    app = (await http.post("/api/apps", json={"name": "Leave", "category_id": "hr", "icon": "sun"})).json()
    route: dict[str, Any] = (
        await http.post("/api/published_routes", json={"app_id": app["id"], "route_path": path})
    ).json()
    return route


@pytest.mark.parametrize("changes", [{}, {"unknown": 1}])
async def test_a_change_of_nothing_leaves_a_route_as_it_is(gateway: Running, changes: dict[str, Any]) -> None:
    async with client(gateway) as http:
        route = await published(http)
        answer = await http.patch(f"/api/published_routes?id=eq.{route['id']}", json=changes)
        assert (answer.status_code, answer.json()) == (200, route)


async def test_a_change_of_nothing_is_no_new_version_of_an_app(gateway: Running) -> None:
    async with client(gateway) as http:
        app = (await http.post("/api/apps", json={"name": "Leave"})).json()
        answer = await http.patch(f"/api/apps?id=eq.{app['id']}", json={})
        assert (answer.status_code, answer.json()) == (200, app)


async def test_null_empties_what_may_be_empty(gateway: Running) -> None:
    empty: dict[str, Any] = {"category_id": None, "icon": None, "description": "", "source_code": "", "config": {}}
    async with client(gateway) as http:
        said = {"category_id": "hr", "icon": "sun", "description": "d", "source_code": "s", "config": {"a": 1}}
        app = (await http.post("/api/apps", json={"name": "Leave", **said})).json()
        answer = await http.patch(f"/api/apps?id=eq.{app['id']}", json=dict.fromkeys(said))
        assert {name: answer.json()[name] for name in said} == empty
        assert (await http.get(f"/api/apps?id=eq.{app['id']}")).json() == [answer.json()]


async def test_null_gives_a_route_the_usual_mount_point(gateway: Running) -> None:
    async with client(gateway) as http:
        route = await published(http)
        where = f"/api/published_routes?id=eq.{route['id']}"
        assert (await http.patch(where, json={"mount_point": "/elsewhere"})).json()["mount_point"] == "/elsewhere"
        assert (await http.patch(where, json={"mount_point": None})).json() == route


@pytest.mark.parametrize("field", ["name", "status", "app_type"])
async def test_null_is_refused_where_a_value_must_be(gateway: Running, field: str) -> None:
    async with client(gateway) as http:
        app = (await http.post("/api/apps", json={"name": "Leave"})).json()
        answer = await http.patch(f"/api/apps?id=eq.{app['id']}", json={field: None})
        assert (answer.status_code, answer.json()["code"]) == (400, "VALIDATION_FAILED")
        assert set(answer.json()["error"]["fields"]) == {f"arguments.{field}"}


@pytest.mark.parametrize("field", ["app_id", "route_path", "is_active"])
async def test_a_route_has_all_its_fields(gateway: Running, field: str) -> None:
    async with client(gateway) as http:
        route = await published(http)
        answer = await http.patch(f"/api/published_routes?id=eq.{route['id']}", json={field: None})
        assert (answer.status_code, answer.json()["code"]) == (400, "VALIDATION_FAILED")


@pytest.mark.parametrize("key_used_before", [False, True])
async def test_an_effect_with_a_wrong_statement_harms_nobody_else_and_frees_its_key(
    tmp_path: Path, key_used_before: bool
) -> None:
    statements = ["SELECT FROM WHERE"]

    async def run(context: CallContext, _: dict[str, Any]) -> ServiceResult:
        def effect(tables: sqlite3.Connection) -> ServiceResult:
            tables.execute(statements[0])
            return ServiceResult({"done": True})

        return await context.commit(effect)

    async with program(tmp_path) as it:
        it.add(service(run, atomic=True))
        await it.call("flash.app.list")
        live = it.gateway.hub.sessions["default", "calls"]
        for _ in range(2 if key_used_before else 1):
            failed = await it.call("test.tool", idempotency_key="k")
            assert (failed["code"], failed["error"].get("indeterminate")) == ("INTERNAL_ERROR", None)
        statements[0] = "SELECT 1"
        assert (await it.call("test.tool", idempotency_key="k"))["data"] == {"done": True}
        assert it.gateway.hub.sessions["default", "calls"] is live
        outcomes = [event["outcome"] for event in await it.events() if event["kind"] == "call_settled"]
        assert outcomes == ["ok", *["failed"] * (2 if key_used_before else 1), "ok"]
