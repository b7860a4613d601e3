"""Every error of the HTTP routes has one shape: code, message, field, hint; on document 3's paths, that document's.

No traceback leaves the gateway.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from toolwire.errors import FlashError, ToolwireError
from toolwire.server.http.flash_words import TRACE_HEADER, is_flash, refusal
from toolwire.server.logs import log

STATUS = {
    "PROJECT_NOT_FOUND": HTTPStatus.NOT_FOUND,
    "SESSION_NOT_FOUND": HTTPStatus.NOT_FOUND,
    "RESULT_NOT_FOUND": HTTPStatus.NOT_FOUND,
    "INVALID_REQUEST": HTTPStatus.BAD_REQUEST,
    "UNAUTHENTICATED": HTTPStatus.UNAUTHORIZED,
    "QUEUE_FULL": HTTPStatus.TOO_MANY_REQUESTS,
    "STORE_ERROR": HTTPStatus.SERVICE_UNAVAILABLE,
    "APPROVAL_NOT_FOUND": HTTPStatus.NOT_FOUND,
    "APPROVAL_STALE": HTTPStatus.CONFLICT,
    "PERMISSION_DENIED": HTTPStatus.FORBIDDEN,
    "VALIDATION_FAILED": HTTPStatus.BAD_REQUEST,
}
"""Document 2, 4.1: the code table's HTTP column, and the codes this gateway adds."""


class ErrorBody(BaseModel):
    """An error."""

    code: str
    message: str
    field: str | None = None
    hint: str | None = None
    fields: dict[str, str] | None = None
    """Every field at fault, where there may be several."""


def as_json(description: str) -> dict[str, Any]:
    """An error in the description of a route that otherwise answers something else than JSON."""
    return {"description": description, "content": {"application/json": {"schema": ErrorBody.model_json_schema()}}}


_IN_FLASH_WORDS = {
    "description": "A token is needed",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ToolResponse"}}},
}


def describe(app: FastAPI) -> None:
    """Say in the OpenAPI document what these handlers do: 400 for what does not fit, 401 without a token."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = plain()
            for path, operation in ((path, one) for path, ones in document["paths"].items() for one in ones.values()):
                answers = operation["responses"]
                if answers.pop("422", None) is not None:
                    answers.setdefault("400", as_json("The request does not fit; `field` says where"))
                answers.setdefault("401", _IN_FLASH_WORDS if is_flash(path) else as_json("A token is needed"))
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]


def install(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Teach the app, which has these routers, to answer errors in that shape."""

    @app.exception_handler(ToolwireError)
    async def _ours(request: Request, error: ToolwireError) -> JSONResponse:
        status = STATUS.get(error.code, HTTPStatus.INTERNAL_SERVER_ERROR)
        body = ErrorBody(
            code=error.code,
            message=error.message,
            field=error.field,
            hint=error.hint,
            fields=error.more.get("fields") if isinstance(error, FlashError) else None,
        )
        return _answer(request, status, body)

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        body = ErrorBody(code="INVALID_REQUEST", message=f"{field}: {first['msg']}", field=field)
        return _answer(request, HTTPStatus.BAD_REQUEST, body)

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> JSONResponse:
        status = HTTPStatus(error.status_code)
        headers = dict(error.headers or {})
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(_methods(routers, request))
        return _answer(request, status, ErrorBody(code=status.name, message=str(error.detail)), headers)

    @app.exception_handler(Exception)
    async def _defect(request: Request, error: Exception) -> JSONResponse:
        log.error("a request failed unexpectedly", path=request.url.path, exc_info=error)
        body = ErrorBody(code="INTERNAL_ERROR", message="the gateway failed unexpectedly; its log has the details")
        return _answer(request, HTTPStatus.INTERNAL_SERVER_ERROR, body)


def _methods(routers: Sequence[APIRouter], request: Request) -> list[str]:
    """What the path does take: each method may have a route of its own."""
    routes = (route for router in routers for route in router.routes if isinstance(route, Route))
    taken = (route.methods or () for route in routes if route.matches(request.scope)[0] != Match.NONE)
    return sorted({method for methods in taken for method in methods})


def _answer(
    request: Request, status: HTTPStatus, body: ErrorBody, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    if is_flash(request.url.path):
        told = refusal(status, body.message, reason=body.code, trace=request.headers.get(TRACE_HEADER))
        return JSONResponse(told, status_code=status, headers=headers)
    return JSONResponse(body.model_dump(exclude_none=True), status_code=status, headers=headers)
