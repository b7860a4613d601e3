"""Document 3 over HTTP: the registry and the calls of its tools (sections 3 to 6)."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response

from toolwire.dialects import flash_calls
from toolwire.dialects.flash_calls import Api, RegistryTool, ToolCall, ToolRegistry, ToolResponse
from toolwire.dialects.wire import Model
from toolwire.errors import FLASH_STATUS, FlashError
from toolwire.server import responses
from toolwire.server.catalogue import Catalogue, Entry
from toolwire.server.http.bodies import object_of
from toolwire.server.http.flash_words import TRACE_HEADER
from toolwire.server.http.health import hub_of
from toolwire.server.http.sessions import caller_of
from toolwire.server.roles import ROLES
from toolwire.server.workspace_tools import CALL_API, CALL_PATH

router = APIRouter(tags=["flash"])

REGISTRY_PATH = "/agent/flash/tools/registry"
JSON = "application/json"

_FAILURES: dict[int | str, dict[str, Any]] = {
    status: {"model": ToolResponse, "description": ", ".join(c for c, s in FLASH_STATUS.items() if s == status)}
    for status in sorted(set(FLASH_STATUS.values()) - {200})
}


def _inlined(model: type[Model]) -> dict[str, Any]:
    """A schema that stands alone: what its parts are called means nothing inside the OpenAPI document."""
    schema = model.model_json_schema()
    parts = schema.pop("$defs", {})

    def resolved(value: Any) -> Any:
        if isinstance(value, dict):
            if "$ref" in value:
                return resolved(parts[value["$ref"].rpartition("/")[2]])
            return {name: resolved(part) for name, part in value.items()}
        return [resolved(part) for part in value] if isinstance(value, list) else value

    whole: dict[str, Any] = resolved(schema)
    return whole


_BODY = {"requestBody": {"required": True, "content": {JSON: {"schema": _inlined(ToolCall)}}}}


@router.get(REGISTRY_PATH, response_model=ToolRegistry, responses={304: {"description": "As the client knows it"}})
async def registry(request: Request) -> Response:
    """Every tool that can be called, in the document's shape; the ETag is a digest of it."""
    body = orjson.dumps(flash_calls.encode(describe(hub_of(request).calls.catalogue)))
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    known = [part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")]
    if tag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=JSON, headers=headers)


@router.post(CALL_PATH, response_model=ToolResponse, responses=_FAILURES, openapi_extra=_BODY)
async def call(request: Request) -> Response:
    """Call a tool. A write with an idempotency_key happens once, however often it is sent."""
    hub, caller = hub_of(request), caller_of(request)
    try:
        envelope = await object_of(request)
    except FlashError as error:
        return answer(responses.failure(error, None, None), error.http_status)
    return answer(*await hub.calls.call(envelope, caller))


def answer(response: responses.Response, status: int) -> Response:
    trace_id = response["trace_id"]
    headers = {TRACE_HEADER: trace_id} if trace_id and trace_id.isascii() and trace_id.isprintable() else None
    return Response(orjson.dumps(response), status_code=status, media_type=JSON, headers=headers)


def describe(catalogue: Catalogue) -> ToolRegistry:
    return ToolRegistry(
        registry_version=flash_calls.REGISTRY_VERSION,
        domain=flash_calls.DOMAIN,
        tools=[_described(entry) for entry in catalogue],
    )


def _described(entry: Entry) -> RegistryTool:
    path, method = entry.api or CALL_API
    return RegistryTool(
        tool_id=entry.tool_id,
        tool_name_zh=entry.name_zh,
        tool_name_en=entry.name_en,
        intent=entry.intent,
        object=entry.object,
        risk_level=entry.risk,
        api=Api(path=path, method=method),
        placement=entry.placement,
        access="read" if entry.reads else "write",
        roles=list(ROLES[ROLES.index(entry.role) :]),
        requires_confirmation=entry.confirm,
        input_schema=dict(entry.input_schema),
        output_schema=dict(entry.output_schema),
    )
