"""A gateway in a process of its own, which kills itself at a named place.

The places are seams of the call service, wrapped from outside: the product knows nothing of this.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import httpx

from support.patience import PATIENCE
from toolwire.server import app
from toolwire.server.catalogue import CallContext, Entry, ServiceResult
from toolwire.server.config import GatewayConfig
from toolwire.server.execution import Execution
from toolwire.server.hub import Hub
from toolwire.server.toolroom import Toolroom
from toolwire.store.call_records import CallRecords
from toolwire.tools import inverses
from toolwire.tools.registry import MODULES
from toolwire.tools.workspace import Workspace


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before(owner: Any, name: str) -> None:
    """Die where `owner.name` is about to be called."""
    setattr(owner, name, lambda *_, **__: die())


def after(owner: Any, name: str) -> None:
    """Die when `owner.name` has returned."""
    real: Callable[..., Any] = getattr(owner, name)

    def dying(*arguments: Any, **more: Any) -> None:
        real(*arguments, **more)
        die()

    setattr(owner, name, dying)


def after_waiting(owner: Any, name: str) -> None:
    real: Callable[..., Awaitable[Any]] = getattr(owner, name)

    async def dying(*arguments: Any, **more: Any) -> None:
        await real(*arguments, **more)
        die()

    setattr(owner, name, dying)


PLACES: dict[str, Callable[[], None]] = {
    "before the claim is committed": lambda: after(CallRecords, "claim"),
    "after the claim": lambda: before(Execution, "run"),
    "after the request is stored": lambda: after_waiting(Execution, "_ask"),
    "before the intent": lambda: before(inverses.UndoLog, "begin"),
    "after the intent": lambda: after(inverses.UndoLog, "begin"),
    "before the file is written": lambda: before(Workspace, "write_bytes"),
    "after the file is written": lambda: after(Workspace, "write_bytes"),
    "before the write is marked done": lambda: before(inverses.UndoLog, "done"),
    "after the write is marked done": lambda: after(inverses.UndoLog, "done"),
    "after the tool has run": lambda: after_waiting(Toolroom, "execute"),
    "before the outcome is committed": lambda: after(CallRecords, "finish"),
    "after the outcome is committed": lambda: after(CallRecords, "tell"),
}


def counter(folder: Path) -> Entry:
    """A service without a content hash: nothing can tell afterwards whether it has run."""

    async def count(_: CallContext, __: dict[str, Any]) -> ServiceResult:
        with (folder / "counted").open("a") as file:
            file.write("x")
        return ServiceResult({"counted": True})

    anything = {"type": "object"}
    return Entry(
        *("test.count", "计数", "Count", "add", "counter", "medium", False, "editor", anything, anything),
        placement="service",
        api=None,
        run=count,
    )


def add_counter(folder: Path) -> None:
    plain = Hub.__init__

    def with_counter(hub: Hub, **parts: Any) -> None:
        plain(hub, **parts)
        hub.calls.catalogue.add(counter(folder))

    Hub.__init__ = with_counter  # type: ignore[method-assign, assignment]


def serve(folder: Path, place: str, ports: Connection) -> None:
    """The child: serves, and tells its port."""
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    add_counter(folder)
    if place:
        PLACES[place]()
    config = GatewayConfig(projects={"demo": folder / "demo"}, port=0, store=f"sqlite:///{folder}/store.db")
    app.run(config, ports.send)


@contextmanager
def gateway(folder: Path, place: str = "") -> Iterator[httpx.AsyncClient]:
    """A gateway in a process of its own, as a client of it; killed at the end if it has not killed itself."""
    (folder / "demo").mkdir(exist_ok=True)
    mine, its = _processes.Pipe(duplex=False)
    process = _processes.Process(target=serve, args=(folder, place, its), daemon=True)
    process.start()
    try:
        assert mine in wait([mine, process.sentinel], PATIENCE), "the gateway did not start"
        yield httpx.AsyncClient(base_url=f"http://127.0.0.1:{mine.recv()}", timeout=PATIENCE, trust_env=False)
    finally:
        process.kill()
        process.join(PATIENCE)


_processes = multiprocessing.get_context("forkserver")
# Imported once, not for every child.
_processes.set_forkserver_preload(
    [
        "httpx",
        "uvloop",
        "toolwire.server.app",
        "toolwire.server.websocket",
        "toolwire.agents.local",
        *MODULES.values(),
    ]
)
