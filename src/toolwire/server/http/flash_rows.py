"""Apps, their routes and the execution log over plain HTTP: `/api/apps`, `/api/published_routes`,
`/api/execution_logs` (spec README, "Resources"). GET filters with `?field=eq.value`; logs are append-only.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from toolwire.errors import FlashError
from toolwire.server.flash import inputs, outputs, rows
from toolwire.server.flash.tools import APPS, LOGS, ROUTES
from toolwire.server.http.bodies import object_of
from toolwire.server.http.flash_door import (
    FAILURES,
    body_schema,
    listing_of,
    listing_schema,
    plain,
    refuse,
    row_asked_for,
    through,
    wants_list,
)

router = APIRouter(tags=["flash"])
ONE_ROW: dict[str, Any] = {
    "parameters": [
        {
            "name": "id",
            "in": "query",
            "required": True,
            "schema": {"type": "string", "pattern": r"^eq\..+"},
            "description": "`eq.value`: the row to change",
        }
    ]
}


def _filters(table: rows.Table) -> dict[str, Any]:
    return listing_schema(column for column in table.columns if column not in table.objects)


@router.get(APPS, response_model=list[outputs.App], responses=FAILURES, openapi_extra=_filters(rows.APPS))
async def list_apps(request: Request) -> Response:
    """Apps the caller may see."""
    return await _listed(request, "flash.app.list", "apps")


@router.post(
    APPS,
    status_code=201,
    response_model=outputs.App | list[outputs.App],
    responses=FAILURES,
    openapi_extra=body_schema(inputs.AppCreate),
)
async def create_app(request: Request) -> Response:
    """Create an app."""
    return await _written(request, "flash.app.create", "app", created=True)


@router.patch(
    APPS,
    response_model=outputs.App | list[outputs.App],
    responses=FAILURES,
    openapi_extra={**body_schema(inputs.AppSave), **ONE_ROW},
)
async def save_app(request: Request) -> Response:
    """Change the app that `?id=eq.value` names."""
    return await _changed(request, "flash.app.save", "app")


@router.get(ROUTES, response_model=list[outputs.Route], responses=FAILURES, openapi_extra=_filters(rows.ROUTES))
async def list_routes(request: Request) -> Response:
    """Routes the caller may see."""
    return await _listed(request, "flash.route.list", "routes")


@router.post(
    ROUTES,
    status_code=201,
    response_model=outputs.Route | list[outputs.Route],
    responses=FAILURES,
    openapi_extra=body_schema(inputs.RouteUpsert),
)
async def upsert_route(request: Request) -> Response:
    """Make a route of an app, or change the one at that path."""
    return await _written(request, "flash.route.upsert", "route", created=True)


@router.patch(
    ROUTES,
    response_model=outputs.Route | list[outputs.Route],
    responses=FAILURES,
    openapi_extra={**body_schema(inputs.RouteFields), **ONE_ROW},
)
async def change_route(request: Request) -> Response:
    """Change the route that `?id=eq.value` names."""
    return await _changed(request, "flash.route.update", "route")


@router.get(LOGS, response_model=list[outputs.Log], responses=FAILURES, openapi_extra=_filters(rows.LOGS))
async def query_logs(request: Request) -> Response:
    """Lines of the execution log that the caller may see."""
    return await _listed(request, "flash.audit.query", "logs")


@router.post(
    LOGS,
    status_code=201,
    response_model=outputs.Log | list[outputs.Log],
    responses=FAILURES,
    openapi_extra=body_schema(inputs.AuditAppend),
)
async def append_log(request: Request) -> Response:
    """Add a line to the execution log. It can't be changed afterwards."""
    return await _written(request, "flash.audit.append", "log", created=True)


async def _listed(request: Request, tool_id: str, part: str) -> Response:
    try:
        asked = listing_of(request)
    except FlashError as error:
        return refuse(request, error, tool_id)
    response, status = await through(request, tool_id, asked)
    return plain(response, status, (response.get("data") or {}).get(part))


async def _changed(request: Request, tool_id: str, part: str) -> Response:
    try:
        row = row_asked_for(request)
    except FlashError as error:
        return refuse(request, error, tool_id)
    return await _written(request, tool_id, part, {"id": row})


async def _written(
    request: Request, tool_id: str, part: str, more: dict[str, Any] | None = None, *, created: bool = False
) -> Response:
    try:
        asked = await object_of(request)
    except FlashError as error:
        return refuse(request, error, tool_id)
    response, status = await through(request, tool_id, {**asked, **(more or {})})
    row = (response.get("data") or {}).get(part)
    return plain(response, status, [row] if wants_list(request) else row, created)
