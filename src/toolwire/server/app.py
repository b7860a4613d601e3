"""The gateway as one application: built from a config, served by uvicorn with picows for its sockets."""

from __future__ import annotations

import contextlib
import errno
import gc
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator

import uvicorn
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from prometheus_client import CollectorRegistry

import toolwire
from toolwire.agents import open_agents
from toolwire.errors import ConfigError, ToolwireError
from toolwire.server.asgi import WebSocketEndpoint
from toolwire.server.config import GatewayConfig, controlled_folder
from toolwire.server.gateway import FLASH_PATH
from toolwire.server.http import (
    approvals,
    console,
    edits,
    errors,
    flash_calls,
    flash_resources,
    flash_rows,
    health,
    results,
    sessions,
)
from toolwire.server.http.call_door import CallDoor
from toolwire.server.http.guarding import Guarding, cross_origin
from toolwire.server.http.heads import HeadAsGet
from toolwire.server.hub import Hub
from toolwire.server.metrics import MetricsCollector
from toolwire.server.projects import Projects
from toolwire.server.registered import whole
from toolwire.server.request_head import http_protocol_class
from toolwire.server.security import Guard
from toolwire.server.websocket import protocol_class
from toolwire.store import default_url, open_store

BACKLOG = 2048
SWITCH_INTERVAL = 0.0005
"""Seconds a thread may keep the interpreter while another waits: the store's writer must not wait for the loop."""
GC_THRESHOLDS = (50_000, 20, 50)
"""Events and messages die young, by reference count: cycles need not be looked for after every 700 objects."""


ROUTERS = (
    health.router,
    sessions.router,
    edits.router,
    results.router,
    flash_calls.router,
    approvals.router,
    flash_resources.router,
    flash_rows.router,
    console.router,
)


class Gateway:
    """A gateway and the app in front of it. The hub lives as long as the app's lifespan."""

    def __init__(self, config: GatewayConfig) -> None:
        self.config = config
        self.guard = Guard(config)
        self.agents = open_agents(config.agent, config.settings)
        self.store = open_store(config.store or default_url(), config.settings)
        self.registry, self.catalogue = whole(config)
        self.metrics_registry = CollectorRegistry()
        self.failure: ToolwireError | None = None
        """Why it could not start, in words for whoever started it."""
        self._hub: Hub | None = None

    @property
    def hub(self) -> Hub:
        if self._hub is None:
            raise ConfigError("the gateway has not started")
        return self._hub

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Hub]:
        """The hub, started, and stopped at the end."""
        settings = self.config.settings
        hub = Hub(
            store=self.store,
            agents=self.agents,
            registry=self.registry,
            catalogue=self.catalogue,
            approve=self.config.approve,
            projects=Projects(self.config.projects, settings),
            guard=self.guard,
            settings=settings,
            controlled=controlled_folder(self.config),
        )
        await hub.start()
        self._hub = hub
        gauges: dict[str, tuple[str, Callable[[], float]]] = {
            "connections": ("Open WebSocket connections", lambda: len(hub.connections)),
            "sessions": ("Live sessions", lambda: len(hub.sessions)),
            "store_backlog": ("Events waiting for the store", lambda: hub.store.backlog),
        }
        self.metrics_registry.register(MetricsCollector(hub.metrics, gauges))
        try:
            yield hub
        finally:
            await hub.stop()


def create_app(config: GatewayConfig) -> FastAPI:
    """The ASGI app: HTTP routes, and the sockets as an ASGI endpoint for whoever embeds it."""
    gateway = Gateway(config)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            async with gateway.running():
                yield
        except ToolwireError as error:
            gateway.failure = error
            raise

    app = FastAPI(title="Toolwire", version=toolwire.__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.gateway = gateway
    errors.install(app, ROUTERS)
    errors.describe(app)
    for router in ROUTERS:
        app.include_router(router)
    sockets = WebSocketEndpoint(lambda: gateway.hub)
    for path in ("/ws/{path:path}", FLASH_PATH):
        app.router.add_websocket_route(path, sockets)  # type: ignore[arg-type]
    app.add_middleware(CallDoor)
    app.add_middleware(HeadAsGet)
    app.add_middleware(Guarding, guard_of=lambda: gateway.guard)
    if config.allow_origins:
        app.add_middleware(CORSMiddleware, **cross_origin(config.allow_origins))
    return app


class Server(uvicorn.Server):
    """uvicorn, saying when it listens, and leaving with our own exit code instead of the signal's."""

    def __init__(
        self, config: uvicorn.Config, announce: Callable[[int], None], stop: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(config)
        self._announce = announce
        self._stop = stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        if sockets:
            self._announce(sockets[0].getsockname()[1])

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """uvicorn waits for what is under way: streams that follow a session must hear that it is over."""
        self._stop()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def make_server(
    app: FastAPI, config: GatewayConfig, announce: Callable[[int], None], *, embedded: bool = False
) -> Server:
    """uvicorn with picows on its sockets; `embedded` goes through ASGI instead, as inside another app."""
    return Server(
        uvicorn.Config(
            app,
            loop="uvloop",
            http=http_protocol_class(config.settings),
            ws="websockets-sansio" if embedded else protocol_class(lambda: app.state.gateway.hub),
            ws_max_size=config.settings.frame_limit,
            ws_per_message_deflate=False,
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=int(config.settings.shutdown_grace) + 1,
            ssl_certfile=config.cert,
            ssl_keyfile=str(config.key) if config.key else None,
            backlog=BACKLOG,
        ),
        announce,
        lambda: app.state.gateway.hub.begin_stop(),
    )


def run(config: GatewayConfig, announce: Callable[[int], None] = lambda _: None) -> int:
    """Serve until a signal; gives the exit code. `announce` is told the port once it listens."""
    app = create_app(config)
    gateway: Gateway = app.state.gateway
    sys.setswitchinterval(SWITCH_INTERVAL)
    # A failure that has words of its own is told in those alone, not in uvicorn's with a traceback.
    logging.getLogger("uvicorn.error").addFilter(lambda _: gateway.failure is None)
    with contextlib.closing(listen(config.host, config.port)) as listener:
        try:
            make_server(app, config, announce).run(sockets=[listener])
        except SystemExit as exit_:  # uvicorn's way of saying that the lifespan failed
            if gateway.failure is not None:
                raise gateway.failure from None
            return exit_.code if isinstance(exit_.code, int) else 1
    return 0


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family, backlog=BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(
                f"port {port} on {host} is taken", field="port", hint=f"stop what uses it, or pass --port {port + 1}"
            ) from None
        raise ConfigError(f"can't listen on {host}:{port}: {error.strerror}", field="host") from None
