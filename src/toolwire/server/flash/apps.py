"""Apps and the routes they are published under (spec README, "Resources"). Publishing is one transaction."""

from __future__ import annotations

import re
import sqlite3
import uuid
from collections.abc import Mapping
from typing import Any

from toolwire.errors import FlashError
from toolwire.server.catalogue import CallContext, ServiceResult
from toolwire.server.flash import effects, inputs, rows
from toolwire.server.flash.drafts import check_app_id
from toolwire.server.flash.rows import APPS, ROUTES, Page, Row
from toolwire.server.roles import at_least
from toolwire.server.security import Caller

MOUNT_POINT = "/apps"
_ROUTE = re.compile(inputs.ROUTE)
_NEW: Mapping[str, Any] = {
    "description": "",
    "category_id": None,
    "app_type": "flash",
    "source_code": "",
    "config": {},
    "icon": None,
    "status": "draft",
}


async def listed(context: CallContext, page: Page) -> ServiceResult:
    found = await context.hub.store.query(lambda connection: rows.select(connection, APPS, context.caller, page))
    return ServiceResult({"apps": found}, f"共 {len(found)} 个应用")


async def detail(context: CallContext, app_id: str) -> ServiceResult:
    """An app, with the routes it is published under."""
    caller = context.caller

    def work(connection: sqlite3.Connection) -> dict[str, Any]:
        app = rows.one(connection, APPS, caller, app_id)
        routes = rows.select(connection, ROUTES, caller, Page({"app_id": f"eq.{app_id}"}))
        return {"app": app, "routes": routes}

    return ServiceResult(await context.hub.store.query(work), "应用详情")


async def create(context: CallContext, fields: Mapping[str, Any]) -> ServiceResult:
    caller = context.caller
    app_id = check_app_id(fields.get("id") or str(uuid.uuid4()), "id")
    _check_status(caller, fields.get("status"))

    def work(connection: sqlite3.Connection, at: str) -> ServiceResult:
        taken = connection.execute("SELECT 1 FROM flash_apps WHERE tenant = ? AND id = ?", (caller.tenant, app_id))
        if taken.fetchone() is not None:
            raise FlashError("CONFLICT", f"id: 已存在 {app_id!r}", field="id")
        app: Row = {**_NEW, **fields, "id": app_id, "version": 1}
        app |= {"created_by": caller.name, "created_at": at, "updated_by": caller.name, "updated_at": at}
        rows.insert(connection, APPS, caller.tenant, app)
        return ServiceResult({"app": {name: app[name] for name in APPS.columns}}, "应用已创建", rows_affected=1)

    return await effects.write(context, "flash.app.create", _told(app_id, fields), work)


async def save(
    context: CallContext, app_id: str, changes: Mapping[str, Any], expected_version: int | None
) -> ServiceResult:
    """Change an app; each change is a new version. `expected_version` refuses to write over another's change."""
    caller = context.caller
    _check_status(caller, changes.get("status"))

    def work(connection: sqlite3.Connection, at: str) -> ServiceResult:
        app = rows.one(connection, APPS, caller, app_id, write=True)
        if expected_version is not None and app["version"] != expected_version:
            raise FlashError(
                "CONFLICT",
                f"应用已被修改: 版本 {app['version']}, 期望 {expected_version}",
                field="expected_version",
                hint="read it again, then save",
            )
        if not changes:
            return ServiceResult({"app": app}, "应用没有变化", rows_affected=0)
        app |= {name: _NEW[name] if value is None else value for name, value in changes.items()}
        app |= {"version": app["version"] + 1, "updated_by": caller.name, "updated_at": at}
        rows.update(connection, APPS, caller.tenant, app_id, app)
        return ServiceResult({"app": app}, "应用已保存", rows_affected=1)

    return await effects.write(context, "flash.app.save", _told(app_id, changes), work)


async def publish(
    context: CallContext, app_id: str, route_path: str | None, mount_point: str | None
) -> ServiceResult:
    """The app is published and its route active, or neither."""
    caller = context.caller
    path = check_route(route_path or f"/{app_id}")
    route_id = str(uuid.uuid4())

    def work(connection: sqlite3.Connection, at: str) -> ServiceResult:
        app = rows.one(connection, APPS, caller, app_id, write=True)
        app |= {"status": "published", "updated_by": caller.name, "updated_at": at}
        rows.update(connection, APPS, caller.tenant, app_id, app)
        wanted = {"app_id": app_id, "route_path": path, "mount_point": mount_point, "is_active": True}
        route = _upsert(connection, caller, route_id, wanted, at)
        return ServiceResult({"app": app, "route": route}, "应用已发布", rows_affected=2)

    return await effects.write(context, "flash.app.publish", {"id": app_id, "route_path": path}, work)


async def routes_listed(context: CallContext, page: Page) -> ServiceResult:
    found = await context.hub.store.query(lambda connection: rows.select(connection, ROUTES, context.caller, page))
    return ServiceResult({"routes": found}, f"共 {len(found)} 条路由")


async def route_upsert(context: CallContext, fields: Mapping[str, Any]) -> ServiceResult:
    """Make a route, or change the one at that path."""
    caller = context.caller
    check_route(fields["route_path"])
    route_id = str(uuid.uuid4())

    def work(connection: sqlite3.Connection, at: str) -> ServiceResult:
        rows.one(connection, APPS, caller, fields["app_id"], field="app_id", write=True)
        route = _upsert(connection, caller, route_id, fields, at)
        return ServiceResult({"route": route}, "路由已保存", rows_affected=1)

    return await effects.write(context, "flash.route.upsert", dict(fields), work)


async def route_update(context: CallContext, route_id: str, changes: Mapping[str, Any]) -> ServiceResult:
    """Change a route by its id."""
    caller = context.caller
    if "route_path" in changes:
        check_route(changes["route_path"])
    if changes.get("mount_point", "") is None:
        changes = {**changes, "mount_point": MOUNT_POINT}

    def work(connection: sqlite3.Connection, at: str) -> ServiceResult:
        route = rows.one(connection, ROUTES, caller, route_id, write=True)
        if not changes:
            return ServiceResult({"route": route}, "路由没有变化", rows_affected=0)
        if "app_id" in changes:
            rows.one(connection, APPS, caller, changes["app_id"], field="app_id", write=True)
        at_path = _route_at(connection, caller.tenant, changes.get("route_path", route["route_path"]))
        if at_path is not None and at_path[0] != route_id:
            raise _taken(changes["route_path"])
        route |= changes
        rows.update(connection, ROUTES, caller.tenant, route_id, {**changes})
        return ServiceResult({"route": route}, "路由已保存", rows_affected=1)

    return await effects.write(context, "flash.route.update", {"id": route_id, **changes}, work)


async def resolve(context: CallContext, route_path: str) -> ServiceResult:
    """Which app answers at a path: the active route, and its app."""
    caller = context.caller

    def work(connection: sqlite3.Connection) -> dict[str, Any]:
        found = _route_at(connection, caller.tenant, route_path)
        if found is None:
            raise rows.missing(caller, "route_path", route_path)
        route = rows.one(connection, ROUTES, caller, found[0], field="route_path")
        if not route["is_active"]:
            raise rows.missing(caller, "route_path", route_path)
        return {"route": route, "app": rows.one(connection, APPS, caller, route["app_id"], field="app_id")}

    return ServiceResult(await context.hub.store.query(work), "路由已解析")


def check_route(path: str) -> str:
    if not _ROUTE.fullmatch(path):
        raise FlashError("VALIDATION_FAILED", f"route_path: 不是有效的路径 {path[:100]!r}", field="route_path")
    return path


def _upsert(connection: sqlite3.Connection, caller: Caller, fresh: str, fields: Mapping[str, Any], at: str) -> Row:
    """The route at that path, made or changed. A path that belongs to another app is taken."""
    path, tenant = fields["route_path"], caller.tenant
    given = {name: value for name, value in fields.items() if value is not None}
    found = _route_at(connection, tenant, path)
    if found is None:
        route = {"mount_point": MOUNT_POINT, "is_active": True, **given, "id": fresh, "created_at": at}
        rows.insert(connection, ROUTES, tenant, {**route, "owner": caller.name})
        return {name: route[name] for name in ROUTES.columns}
    if found[1] != fields["app_id"]:
        raise _taken(path)
    rows.update(connection, ROUTES, tenant, found[0], given)
    return rows.one(connection, ROUTES, caller, found[0], field="route_path")


def _route_at(connection: sqlite3.Connection, tenant: str, path: str) -> tuple[str, str] | None:
    found: tuple[str, str] | None = connection.execute(
        "SELECT id, app_id FROM flash_routes WHERE tenant = ? AND route_path = ?", (tenant, path)
    ).fetchone()
    return found


def _taken(path: str) -> FlashError:
    return FlashError("CONFLICT", f"route_path: {path!r} 已被其他应用使用", field="route_path")


def _check_status(caller: Caller, status: str | None) -> None:
    """Saying `published` is publishing, and takes the same role."""
    if status == "published" and not at_least(caller.role, "publisher"):
        raise FlashError("PERMISSION_DENIED", "当前角色无权限发布应用", field="status")


def _told(app_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """For the log: which fields, not a megabyte of source code."""
    return {"id": app_id, "fields": sorted(fields)}
