"""The plain routes of document 3 go through the one door for calls: the same checks, codes, idempotency and record.

A route makes the envelope its caller did not write: a trace_id unless `X-Trace-Id` brings one, an idempotency_key
unless `Idempotency-Key` does (spec README, "Resources").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from fastapi import Request, Response
from pydantic import BaseModel

from toolwire.dialects.flash_calls import ToolResponse
from toolwire.errors import FLASH_STATUS, FlashError
from toolwire.server import responses
from toolwire.server.clock import now_ms
from toolwire.server.flash.rows import OPERATORS
from toolwire.server.http.flash_calls import JSON, answer
from toolwire.server.http.flash_words import TRACE_HEADER, is_trace
from toolwire.server.http.health import hub_of
from toolwire.server.http.sessions import caller_of

KEY_HEADER = "Idempotency-Key"
REPLAY_HEADER = "Idempotent-Replay"
PAGING = ("order", "limit", "offset", "select")
"""Names in a query that are no columns. (`select` is what clients of PostgREST send; every column is given.)"""

FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": ToolResponse, "description": ", ".join(c for c, s in FLASH_STATUS.items() if s == status)}
    for status in sorted(set(FLASH_STATUS.values()) - {200})
}


async def through(
    request: Request, tool_id: str, arguments: Mapping[str, Any], *, app_id: str | None = None
) -> tuple[responses.Response, int]:
    """Call a tool for a plain route."""
    hub = hub_of(request)
    envelope = {
        "trace_id": request.headers.get(TRACE_HEADER) or _fresh_trace(request),
        "idempotency_key": request.headers.get(KEY_HEADER) or f"auto_{hub.ids.next(now_ms())}",
        "tool_id": tool_id,
        "app_id": app_id,
        "arguments": dict(arguments),
    }
    return await hub.calls.call(envelope, caller_of(request))


def plain(response: responses.Response, status: int, body: Any, created: bool = False) -> Response:
    """The route's own body if the call went well, else the document's failure."""
    if not response["ok"]:
        return answer(response, status)
    headers = {TRACE_HEADER: response["trace_id"]}
    if response["meta"].get("idempotent_replay"):
        headers[REPLAY_HEADER] = "true"
    return Response(orjson.dumps(body), status_code=201 if created else 200, media_type=JSON, headers=headers)


def refuse(request: Request, error: FlashError, tool_id: str | None = None) -> Response:
    """A refusal before anything was called; it has a trace all the same."""
    trace = request.headers.get(TRACE_HEADER) or ""
    return answer(
        responses.failure(error, tool_id, trace if is_trace(trace) else _fresh_trace(request)), error.http_status
    )


def _fresh_trace(request: Request) -> str:
    return f"tr_{hub_of(request).ids.next(now_ms())}"


def listing_of(request: Request) -> dict[str, Any]:
    """`?field=eq.value&order=…&limit=…&offset=…` as the arguments of a listing tool."""
    query = request.query_params
    arguments: dict[str, Any] = {"filters": {name: value for name, value in query.items() if name not in PAGING}}
    if query.get("order"):
        arguments["order"] = query["order"]
    for name in ("limit", "offset"):
        if name in query:
            arguments[name] = number_of(name, query[name])
    return arguments


def number_of(name: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise FlashError("VALIDATION_FAILED", f"{name}: 应为非负整数", field=name)
    return int(text)


def row_asked_for(request: Request) -> str:
    """The id in `?id=eq.value`: what a PATCH is about."""
    operator, dot, value = request.query_params.get("id", "").partition(".")
    if operator != "eq" or not dot or not value:
        raise FlashError("VALIDATION_FAILED", "id: 请用 ?id=eq.值 指明要修改的行", field="id")
    return value


def wants_list(request: Request) -> bool:
    """PostgREST's way of asking for the rows that were written: a list of them."""
    return "return=representation" in request.headers.get("prefer", "")


def body_schema(model: type[BaseModel]) -> dict[str, Any]:
    """For OpenAPI: the body is read by hand, so that what does not fit is told in the document's words."""
    schema = model.model_json_schema()
    return {"requestBody": {"required": True, "content": {JSON: {"schema": schema}}}}


def parameters(*texts: str, columns: Iterable[str] = (), **numbers: int) -> dict[str, Any]:
    """For OpenAPI: names in a query, all optional; of a number, its least value."""
    condition = f"^({'|'.join(OPERATORS)})\\."
    named: list[tuple[str, dict[str, Any]]] = [(name, {"type": "string", "pattern": condition}) for name in columns]
    named += [(name, {"type": "string"}) for name in texts]
    for name, least in numbers.items():
        named.append((name, {"type": "integer", "minimum": least, "maximum": 1000 if name == "limit" else 2**31}))
    return {
        "parameters": [{"name": name, "in": "query", "required": False, "schema": schema} for name, schema in named]
    }


def listing_schema(columns: Iterable[str]) -> dict[str, Any]:
    """For OpenAPI: the query of a listing. A column is asked for as `eq.value`."""
    return parameters("order", "select", columns=columns, limit=1, offset=0)
