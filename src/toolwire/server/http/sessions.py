"""Sessions over HTTP: list them, read their events (at once, or as they come), stop what runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from toolwire.core import events, recovery
from toolwire.errors import PeerError
from toolwire.server.http.errors import ErrorBody
from toolwire.server.http.following import PAGE, follow
from toolwire.server.http.health import hub_of
from toolwire.server.hub import Hub
from toolwire.server.security import OWNER, Caller
from toolwire.store.base import SessionRecord

router = APIRouter(prefix="/api/sessions", tags=["sessions"])

EVENT_STREAM = "text/event-stream"
LAST = 2**63 - 1
"""No log has a number beyond this."""


class SessionNotFound(PeerError):
    code = "SESSION_NOT_FOUND"


class SessionLine(BaseModel):
    """A session in the list."""

    name: str
    epoch: str
    created: int
    updated: int
    turns: int
    open: int
    last: int
    last_prompt: str
    live: bool
    """Whether anybody is connected, or a turn runs."""


class SessionList(BaseModel):
    sessions: list[SessionLine]


class EventPage(BaseModel):
    """Events in order; ask again with `after` = `last` for more."""

    epoch: str
    after: int
    last: int
    more: bool
    events: list[dict[str, Any]]


class StopAnswer(BaseModel):
    stopped: bool
    """Whether anything was running."""


def caller_of(request: Request) -> Caller:
    caller: Caller = getattr(request.state, "caller", None) or OWNER
    return caller


@router.get("")
async def list_sessions(request: Request, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> SessionList:
    """The caller's sessions, the most recently used first."""
    hub, caller = hub_of(request), caller_of(request)
    summaries = await hub.store.sessions(caller.tenant, limit=limit)
    lines = [
        SessionLine(
            **{name: value for name, value in msgspec.structs.asdict(summary).items() if name != "tenant"},
            live=(summary.tenant, summary.name) in hub.sessions,
        )
        for summary in summaries
    ]
    return SessionList(sessions=lines)


@router.get(
    "/{name:path}/events",
    response_model=EventPage,
    responses={404: {"model": ErrorBody}, 200: {"content": {EVENT_STREAM: {}}}},
)
async def read_events(
    request: Request,
    name: str,
    after: Annotated[int, Query(ge=0, le=LAST)] = 0,
    limit: Annotated[int, Query(ge=1, le=5000)] = PAGE,
    accept: Annotated[str, Header()] = "",
    last_event_id: Annotated[str | None, Header()] = None,
) -> EventPage | StreamingResponse:
    """A page of a session's log as JSON or, with `Accept: text/event-stream`, all of it as it grows."""
    hub, caller = hub_of(request), caller_of(request)
    record = await find(hub, caller, name)
    if EVENT_STREAM in accept:
        if last_event_id is not None:
            where = recovery.resume(last_event_id, epoch=record.epoch, last=record.last)
            if isinstance(where, recovery.Lost):
                raise PeerError(where.reason, field="Last-Event-ID", hint="read again from the start")
            after = where.after
        return StreamingResponse(_stream(hub, caller, record, after), media_type=EVENT_STREAM)
    page = await hub.store.read(record.number, after=after, limit=limit)
    last = page[-1].seq if page else after
    return EventPage(
        epoch=record.epoch,
        after=after,
        last=last,
        more=last < record.last,
        events=[msgspec.to_builtins(event) for event in page],
    )


@router.post("/{name:path}/stop", responses={404: {"model": ErrorBody}})
async def stop(request: Request, name: str) -> StopAnswer:
    """End the running turn of a session, and what waits behind it."""
    hub, caller = hub_of(request), caller_of(request)
    await find(hub, caller, name)
    async with hub.visit(caller.tenant, name) as live:
        running = not live.core.at_rest
        if running:
            live.stop()
        return StopAnswer(stopped=running)


async def find(hub: Hub, caller: Caller, name: str) -> SessionRecord:
    """The caller's session of that name; raises SessionNotFound."""
    record = await hub.store.find_session(caller.tenant, name)
    if record is None:
        raise SessionNotFound(f"no session {name!r}", field="name", hint="GET /api/sessions lists them")
    return record


async def _stream(hub: Hub, caller: Caller, record: SessionRecord, after: int) -> AsyncIterator[bytes]:
    async for page in follow(hub, caller, record, after):
        for event in page:
            cursor = recovery.cursor(record.epoch, event.seq)
            yield b"id: %b\ndata: %b\n\n" % (cursor.encode(), events.encode(event))
        if not page:
            yield b": still here\n\n"
