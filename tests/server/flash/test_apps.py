"""Apps, the routes they are published under, and the execution log."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.flash import Calls, client
from support.running import Running, running
from toolwire.store.migrations import migrate


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path) as gateway:
        yield gateway


APP_FIELDS = {
    *("id", "name", "description", "category_id", "app_type", "source_code", "config", "icon", "status", "version"),
    *("created_by", "created_at", "updated_by", "updated_at"),
}


async def test_an_app_is_created_read_saved_and_listed(gateway: Running) -> None:
    async with client(gateway) as http:
        made = await http.post("/api/apps", json={"name": "请假", "app_type": "workflow", "config": {"a": [1]}})
        app = made.json()
        assert (made.status_code, set(app)) == (201, APP_FIELDS)
        assert (app["status"], app["version"], app["created_by"], app["config"]) == ("draft", 1, "owner", {"a": [1]})
        assert app["created_at"].endswith("Z")
        saved = await http.patch(f"/api/apps?id=eq.{app['id']}", json={"source_code": "<template/>"})
        assert (saved.json()["version"], saved.json()["source_code"], saved.json()["name"]) == (
            2,
            "<template/>",
            "请假",
        )
        rows = (await http.get(f"/api/apps?id=eq.{app['id']}")).json()
        assert rows == [saved.json()]
        again = await http.post("/api/apps", json={"name": "x"}, headers={"Prefer": "return=representation"})
        assert [row["name"] for row in again.json()] == ["x"]
    detail = await Calls(gateway).done("flash.app.detail", id=app["id"])
    assert (detail["app"]["id"], detail["routes"]) == (app["id"], [])


async def test_lists_are_filtered_ordered_and_paged(gateway: Running) -> None:
    async with client(gateway) as http:
        for number in range(5):
            kind = "data" if number % 2 else "flash"
            await http.post("/api/apps", json={"name": f"app {number}", "app_type": kind})
        names = [row["name"] for row in (await http.get("/api/apps?app_type=eq.data&order=name.desc")).json()]
        assert names == ["app 3", "app 1"]
        page = (await http.get("/api/apps?order=name&limit=2&offset=1")).json()
        assert [row["name"] for row in page] == ["app 1", "app 2"]
        assert (await http.get("/api/apps?name=eq.x' OR '1'='1")).json() == []
        for query in ("nope=eq.1", "name=1", "name=foo.1", "order=nope", "order=name.up", "limit=0", "limit=x"):
            refused = await http.get(f"/api/apps?{query}")
            assert (refused.status_code, refused.json()["code"]) == (400, "VALIDATION_FAILED"), query
        for query in ("version=eq.one", "config=eq.1", "limit=5000", "offset=-1"):
            assert (await http.get(f"/api/apps?{query}")).status_code == 400, query


async def test_publishing_is_the_app_and_its_route_or_neither(gateway: Running) -> None:
    call = Calls(gateway)
    one = (await call.done("flash.app.create", name="one"))["app"]["id"]
    two = (await call.done("flash.app.create", name="two"))["app"]["id"]
    published = await call("flash.app.publish", id=one, route_path="/leave", mount_point="/hr")
    assert published["meta"]["rows_affected"] == 2
    assert published["data"]["app"]["status"] == "published"
    assert (published["data"]["route"]["route_path"], published["data"]["route"]["is_active"]) == ("/leave", True)
    taken = await call("flash.app.publish", id=two, route_path="/leave")
    assert taken["code"] == "CONFLICT"
    assert (await call.done("flash.app.detail", id=two))["app"]["status"] == "draft"
    resolved = await call.done("flash.route.resolve", route_path="/leave")
    assert (resolved["app"]["id"], resolved["route"]["mount_point"]) == (one, "/hr")
    assert await call.code("flash.route.resolve", route_path="/nothing") == "VALIDATION_FAILED"
    assert await call.by("vera", "viewer").code("flash.route.resolve", route_path="/nothing") == "RLS_DENIED"


async def test_the_way_of_the_document_publishes_too(gateway: Running) -> None:
    """Section 9: `/api/apps` and `/api/published_routes`, one after the other."""
    async with client(gateway) as http:
        app = (await http.post("/api/apps", json={"name": "x"})).json()["id"]
        assert (await http.patch(f"/api/apps?id=eq.{app}", json={"status": "published"})).json()[
            "status"
        ] == "published"
        route = await http.post("/api/published_routes", json={"app_id": app, "route_path": "/x"})
        assert route.status_code == 201
        assert set(route.json()) == {"id", "app_id", "route_path", "mount_point", "is_active", "created_at"}
        again = await http.post(
            "/api/published_routes", json={"app_id": app, "route_path": "/x", "mount_point": "/elsewhere"}
        )
        assert (again.json()["id"], again.json()["mount_point"]) == (route.json()["id"], "/elsewhere")
        off = await http.patch(f"/api/published_routes?id=eq.{route.json()['id']}", json={"is_active": False})
        assert off.json()["is_active"] is False
        listed = (await http.get("/api/published_routes?is_active=eq.false")).json()
        assert [row["id"] for row in listed] == [route.json()["id"]]
    assert await Calls(gateway).code("flash.route.resolve", route_path="/x") == "VALIDATION_FAILED"


async def test_saving_over_anothers_change_is_refused_if_asked(gateway: Running) -> None:
    call = Calls(gateway)
    app = (await call.done("flash.app.create", name="x"))["app"]["id"]
    answers = await asyncio.gather(
        *(call("flash.app.save", id=app, name=f"n{number}", expected_version=1) for number in range(5))
    )
    assert sorted(answer["code"] for answer in answers) == ["CONFLICT"] * 4 + ["OK"]


async def test_rows_belong_to_a_tenant_and_an_owner(gateway: Running) -> None:
    call = Calls(gateway)
    alice, bob = call.by("alice", "publisher"), call.by("bob", "publisher")
    eve = call.by("eve", "super_admin", "other")
    app = (await alice.done("flash.app.create", name="secret"))["app"]["id"]
    for stranger, missing in ((bob, "RLS_DENIED"), (eve, "VALIDATION_FAILED")):
        for row, told in ((app, "RLS_DENIED"), ("never-was", missing)):
            assert await stranger.code("flash.app.detail", id=row) == told
            assert await stranger.code("flash.app.save", id=row, name="x") == told
            assert await stranger.code("flash.app.publish", id=row) == told
            assert await stranger.code("flash.route.upsert", app_id=row, route_path="/x") == told
        assert (await stranger.done("flash.app.list"))["apps"] == []
        assert (await stranger.done("flash.audit.query", tool_id="flash.app.create"))["logs"] == []
    assert len((await call.done("flash.app.list"))["apps"]) == 1
    await alice.done("flash.app.publish", id=app)
    assert (await bob.done("flash.app.detail", id=app))["app"]["name"] == "secret"
    assert await bob.code("flash.app.save", id=app, name="mine") == "RLS_DENIED"
    assert (await eve.done("flash.app.list"))["apps"] == []


async def test_roles_say_who_may_publish(gateway: Running) -> None:
    editor = Calls(gateway).by("ed", "editor")
    app = (await editor.done("flash.app.create", name="x"))["app"]["id"]
    assert await editor.code("flash.app.publish", id=app) == "PERMISSION_DENIED"
    assert await editor.code("flash.app.save", id=app, status="published") == "PERMISSION_DENIED"
    assert await editor.code("flash.app.create", name="y", status="published") == "PERMISSION_DENIED"
    assert await Calls(gateway).by("vera", "viewer").code("flash.app.create", name="x") == "PERMISSION_DENIED"


async def test_every_write_leaves_a_line_in_the_execution_log(gateway: Running) -> None:
    call = Calls(gateway)
    made = await call("flash.app.create", name="x")
    line = (await call.done("flash.audit.query", trace_id=made["trace_id"]))["logs"]
    assert [(row["tool_id"], row["status"], row["executed_by"]) for row in line] == [
        ("flash.app.create", "completed", "owner")
    ]
    async with client(gateway, **{"X-Trace-Id": "tr_mine"}) as http:
        posted = await http.post(
            "/api/execution_logs", json={"status": "failed", "error_message": "no", "tool_id": "t"}
        )
        assert (posted.status_code, posted.json()["trace_id"]) == (201, "tr_mine")
        rows = (await http.get("/api/execution_logs?trace_id=eq.tr_mine&status=eq.failed")).json()
        assert rows == [posted.json()]
        for method in ("PATCH", "DELETE", "PUT"):
            assert (await http.request(method, "/api/execution_logs?id=eq.1")).status_code == 405


def test_the_execution_log_can_only_grow() -> None:
    tables = sqlite3.connect(":memory:", isolation_level=None)
    migrate(tables)
    columns = "id, tenant, status, executed_by, executed_at"
    tables.execute(f"INSERT INTO flash_logs ({columns}) VALUES ('1', 't', 'failed', 'x', 'now')")
    for statement in ("UPDATE flash_logs SET status = 'completed'", "DELETE FROM flash_logs"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            tables.execute(statement)


async def test_a_route_path_is_a_path(gateway: Running) -> None:
    call = Calls(gateway)
    app = (await call.done("flash.app.create", name="x"))["app"]["id"]
    for path in ("x", "", "//evil.example", "/a/../b", "/a b", "/a\n", "/" + "x" * 600):
        assert await call.code("flash.app.publish", id=app, route_path=path) == "VALIDATION_FAILED", path


async def test_an_app_of_a_given_id_can_be_made_once(gateway: Running) -> None:
    call = Calls(gateway)
    await call.done("flash.app.create", id="mine", name="x")
    assert await call.code("flash.app.create", id="mine", name="y") == "CONFLICT"
    assert await call.code("flash.app.create", id="../x", name="y") == "VALIDATION_FAILED"
    assert await call.by("eve", "editor", "other").code("flash.app.create", id="mine", name="y") == "OK"
