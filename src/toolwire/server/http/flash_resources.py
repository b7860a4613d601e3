"""Drafts and attachments over plain HTTP: `/agent/flash/draft`, `/agent/flash/attachments` (spec README)."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from toolwire.errors import FlashError
from toolwire.server.flash import attachments, inputs, outputs
from toolwire.server.flash.tools import ATTACHMENTS, DRAFT
from toolwire.server.http.bodies import object_of
from toolwire.server.http.flash_door import (
    FAILURES,
    body_schema,
    number_of,
    parameters,
    plain,
    refuse,
    through,
)
from toolwire.server.http.health import hub_of
from toolwire.server.http.sessions import caller_of

router = APIRouter(tags=["flash"])
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-cache",
}
"""A stranger's file is never shown as a page of ours."""


class DraftAnswer(outputs.Draft):
    ok: bool


class DraftSavedAnswer(outputs.DraftSaved):
    ok: bool


class DraftVersionsAnswer(outputs.DraftVersions):
    ok: bool


class FileAnswer(outputs.OneFile):
    ok: bool


class FilesAnswer(outputs.Files):
    ok: bool


@router.get(DRAFT, response_model=DraftAnswer, responses=FAILURES, openapi_extra=parameters("appId"))
async def read_draft(request: Request) -> Response:
    """The draft of an app."""
    return await _asked(request, "flash.draft.read", "appId")


@router.post(DRAFT, response_model=DraftSavedAnswer, responses=FAILURES, openapi_extra=body_schema(inputs.DraftWrite))
async def write_draft(request: Request) -> Response:
    """Save the draft of an app."""
    return await _with_body(request, "flash.draft.write")


@router.get(
    f"{DRAFT}/history",
    response_model=DraftVersionsAnswer,
    responses=FAILURES,
    openapi_extra=parameters("appId", limit=1, version=1),
)
async def draft_history(request: Request) -> Response:
    """The versions a draft had, the newest first; with `version`, that one with its content."""
    return await _asked(request, "flash.draft.history", "appId", limit=1, version=1)


@router.post(ATTACHMENTS, response_model=FileAnswer, responses=FAILURES, openapi_extra=body_schema(inputs.Upload))
async def upload(request: Request) -> Response:
    """Upload a file."""
    return await _with_body(request, "flash.attachment.upload")


@router.get(
    ATTACHMENTS,
    response_model=FilesAnswer,
    responses=FAILURES,
    openapi_extra=parameters("appId", "conversationId", limit=1, offset=0),
)
async def list_attachments(request: Request) -> Response:
    """Uploaded files, the newest first."""
    return await _asked(request, "flash.attachment.list", "appId", "conversationId", limit=1, offset=0)


@router.get(
    f"{ATTACHMENTS}/{{file_id}}",
    response_class=Response,
    responses={**FAILURES, 200: {"content": {"application/octet-stream": {}}}},
)
async def download(request: Request, file_id: str) -> Response:
    """An uploaded file, as it was."""
    try:
        file, data = await attachments.content(hub_of(request), caller_of(request), file_id)
    except FlashError as error:
        return refuse(request, error)
    name = quote(file["name"], safe="")
    headers = {**SAFE, "Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(data, media_type="application/octet-stream", headers=headers)


async def _asked(request: Request, tool_id: str, *texts: str, **numbers: int) -> Response:
    """What a query asks for, as the arguments of a tool."""
    query = request.query_params
    arguments: dict[str, Any] = {name: query[name] for name in texts if query.get(name)}
    try:
        arguments |= {name: number_of(name, query[name]) for name in numbers if name in query}
    except FlashError as error:
        return refuse(request, error, tool_id)
    return await _answered(request, tool_id, arguments)


async def _with_body(request: Request, tool_id: str) -> Response:
    try:
        asked = await object_of(request)
    except FlashError as error:
        return refuse(request, error, tool_id)
    if app := request.query_params.get("appId"):
        asked = {"appId": app, **asked}
    return await _answered(request, tool_id, asked)


async def _answered(request: Request, tool_id: str, arguments: dict[str, Any]) -> Response:
    response, status = await through(request, tool_id, arguments)
    return plain(response, status, {"ok": True, **(response.get("data") or {})})
