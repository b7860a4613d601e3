"""Document 4 over HTTP: every edit of a session in its envelope, a JSON line each, as they happen."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from toolwire.core.events import AnyEvent, CallRequested, CallSettled
from toolwire.dialects import backend_only
from toolwire.errors import ToolError
from toolwire.server.http.errors import as_json
from toolwire.server.http.following import follow
from toolwire.server.http.health import hub_of
from toolwire.server.http.sessions import caller_of, find
from toolwire.server.hub import Hub
from toolwire.tools import notebook_edit_cell, raw
from toolwire.tools.known import known

router = APIRouter(tags=["sessions"])

NDJSON = "application/x-ndjson"
_NAMESPACE = uuid.UUID("6f0d4a52-3b1f-5c0e-9a55-7a1c5b0e4d21")
"""An edit's uuid is made from its call id, so that it is the same whenever it is read."""


@router.get(
    "/api/sessions/{name:path}/edits",
    response_class=StreamingResponse,
    responses={404: as_json("No such session"), 200: {"content": {NDJSON: {}}}},
)
async def edits(
    request: Request, name: str, follow_live: Annotated[bool, Query(alias="follow")] = True
) -> StreamingResponse:
    """Every edit of a session, in order; with `follow=false` it ends at the last so far."""
    hub, caller = hub_of(request), caller_of(request)
    record = await find(hub, caller, name)

    async def lines() -> AsyncIterator[bytes]:
        envelopes = Envelopes(hub)
        async for events in follow(hub, caller, record, 0, live=follow_live):
            for event in events:
                for line in envelopes.of(event):
                    yield line

    return StreamingResponse(lines(), media_type=NDJSON)


class Envelopes:
    """Turns the events of a session, in order, into document 4's lines."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._asked: dict[str, CallRequested] = {}

    def of(self, event: AnyEvent) -> Iterator[bytes]:
        if isinstance(event, CallRequested) and event.tool in raw.WRITING:
            self._asked[event.call_id] = event
        elif isinstance(event, CallSettled) and (asked := self._asked.pop(event.call_id, None)) is not None:
            fresh = str(uuid.uuid5(_NAMESPACE, event.call_id))
            data = self._data(asked, event)
            yield backend_only.result(event.tool, event.asked_as or event.call_id, fresh, data) + b"\n"

    def _data(self, asked: CallRequested, event: CallSettled) -> raw.Data:
        if event.outcome != "ok":
            return _failure(asked, event.error)
        text = event.result if isinstance(event.result, str) else ""
        fields = event.details or (event.result if isinstance(event.result, dict) else {})
        if event.tool not in raw.EDITING and text:
            fields = {"content": text, **fields}
        whole = raw.from_object(event.tool, self._whole(asked.project, fields))
        return whole if whole is not None else known(event.tool, asked.arguments, fields, text)

    def _whole(self, project: str, fields: dict[str, Any]) -> dict[str, Any]:
        """A result that was cut for size, in full, if it is still kept here."""
        ref = fields.get("ref")
        if not fields.get("truncated") or not isinstance(ref, str) or project not in self._hub.projects.roots:
            return fields
        try:
            whole: dict[str, Any] = orjson.loads(self._hub.projects.workspace(project).results.whole(ref))
        except (ToolError, orjson.JSONDecodeError):
            return fields
        return whole


def _failure(asked: CallRequested, message: str) -> raw.Data:
    if asked.tool == "NotebookEditCell":
        return notebook_edit_cell.failure(asked.arguments, ToolError("io_error"), message)
    return message if message.startswith("Error in edit ") else f"Error: {message}"
