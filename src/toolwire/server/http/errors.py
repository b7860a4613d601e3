"""Every error of the HTTP routes has one shape: code, message, field, hint. No traceback leaves the gateway."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from toolwire.errors import ToolwireError
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


def as_json(description: str) -> dict[str, Any]:
    """An error in the description of a route that otherwise answers something else than JSON."""
    return {"description": description, "content": {"application/json": {"schema": ErrorBody.model_json_schema()}}}


def describe(app: FastAPI) -> None:
    """Say in the OpenAPI document what these handlers do: 400 for what does not fit, 401 without a token."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = plain()
            for operation in (one for path in document["paths"].values() for one in path.values()):
                answers = operation["responses"]
                if answers.pop("422", None) is not None:
                    answers.setdefault("400", as_json("The request does not fit; `field` says where"))
                answers.setdefault("401", as_json("A token is needed"))
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]


def install(app: FastAPI) -> None:
    """Teach the app to answer errors in that shape."""

    @app.exception_handler(ToolwireError)
    async def _ours(_: Request, error: ToolwireError) -> JSONResponse:
        status = STATUS.get(error.code, HTTPStatus.INTERNAL_SERVER_ERROR)
        return _answer(status, ErrorBody(code=error.code, message=error.message, field=error.field, hint=error.hint))

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        return _answer(
            HTTPStatus.BAD_REQUEST, ErrorBody(code="INVALID_REQUEST", message=f"{field}: {first['msg']}", field=field)
        )

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: HTTPException) -> JSONResponse:
        status = HTTPStatus(error.status_code)
        return _answer(status, ErrorBody(code=status.name, message=str(error.detail)), error.headers)

    @app.exception_handler(Exception)
    async def _defect(request: Request, error: Exception) -> JSONResponse:
        log.error("a request failed unexpectedly", path=request.url.path, exc_info=error)
        body = ErrorBody(code="INTERNAL_ERROR", message="the gateway failed unexpectedly; its log has the details")
        return _answer(HTTPStatus.INTERNAL_SERVER_ERROR, body)


def _answer(status: HTTPStatus, body: ErrorBody, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse(body.model_dump(exclude_none=True), status_code=status, headers=headers)
