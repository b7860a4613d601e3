"""The whole of a tool result that was cut for size."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from toolwire.errors import PeerError, ToolError
from toolwire.server.http.errors import as_json
from toolwire.server.http.health import hub_of

router = APIRouter(tags=["results"])


class ResultNotFound(PeerError):
    code = "RESULT_NOT_FOUND"


@router.get("/api/results/{ref}", response_class=PlainTextResponse, responses={404: as_json("No such result")})
def whole(request: Request, ref: str) -> PlainTextResponse:
    """A result by the reference that its cut form names."""
    hub = hub_of(request)
    for key in hub.projects.roots:
        try:
            return PlainTextResponse(hub.projects.workspace(key).results.whole(ref))
        except ToolError:
            continue
    raise ResultNotFound(
        f"no result {ref[:64]!r}", field="ref", hint="results are kept for a while only; run the tool again"
    )
