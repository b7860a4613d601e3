"""Is it alive, is it ready, how much does it do, what does it speak."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

import toolwire
from toolwire.server.hub import Hub

router = APIRouter(tags=["gateway"])


class Health(BaseModel):
    status: str


class Readiness(BaseModel):
    ready: bool
    store: str
    agent: str
    """`ok`, or what is missing."""


class About(BaseModel):
    """What is running here."""

    version: str
    agent: str
    projects: list[str]
    default_project: str
    sessions: int
    connections: int
    token_required: bool


def hub_of(request: Request) -> Hub:
    hub: Hub = request.app.state.gateway.hub
    return hub


@router.get("/healthz")
async def healthz() -> Health:
    """The process answers."""
    return Health(status="ok")


@router.get("/readyz", responses={503: {"model": Readiness}})
async def readyz(request: Request, response: Response) -> Readiness:
    """It can take on work: the store answers and an agent is there."""
    hub = hub_of(request)
    store = await _store_state(hub)
    agent = await hub.agents.ready() or "ok"
    ready = store == agent == "ok" and not hub.stopping
    if not ready:
        response.status_code = 503
    return Readiness(ready=ready, store=store, agent=agent)


async def _store_state(hub: Hub) -> str:
    try:
        await hub.store.sessions(limit=1)
    except Exception as error:  # whatever the store says is what the operator must read
        return str(error) or type(error).__name__
    return "ok"


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request) -> Response:
    """Prometheus metrics."""
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

    return Response(generate_latest(request.app.state.gateway.metrics_registry), media_type=CONTENT_TYPE_LATEST)


@router.get("/asyncapi.json")
async def asyncapi() -> dict[str, Any]:
    """The WebSocket dialects, machine-readable."""
    from toolwire.dialects.asyncapi import document

    return document(toolwire.__version__)


@router.get("/api/about")
async def about(request: Request) -> About:
    """What is running here."""
    hub = hub_of(request)
    return About(
        version=toolwire.__version__,
        agent=hub.agents.name,
        projects=list(hub.projects.roots),
        default_project=next(iter(hub.projects.roots), ""),
        sessions=len(hub.sessions),
        connections=len(hub.connections),
        token_required=hub.guard.needs_token,
    )
