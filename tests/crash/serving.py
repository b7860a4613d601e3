"""`python serving.py FOLDER [PLACE]`: a gateway in a process of its own, which kills itself at a named place.

The places are seams of the call service, wrapped from outside: the product knows nothing of this.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from toolwire.server import app
from toolwire.server.catalogue import CallContext, Catalogue, Entry, ServiceResult
from toolwire.server.config import GatewayConfig
from toolwire.server.execution import Execution
from toolwire.server.hub import Hub
from toolwire.server.toolroom import Toolroom
from toolwire.settings import Settings
from toolwire.store.call_records import CallRecords
from toolwire.tools import inverses
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


def add_counter(folder: Path) -> None:
    """A service without a content hash: nothing can tell afterwards whether it has run."""

    async def count(_: CallContext, __: dict[str, Any]) -> ServiceResult:
        with (folder / "counted").open("a") as file:
            file.write("x")
        return ServiceResult({"counted": True})

    anything = {"type": "object"}
    entry = Entry(
        *("test.count", "计数", "Count", "add", "counter", "medium", False, "editor", anything, anything),
        placement="service",
        api=None,
        run=count,
    )
    plain = Hub.__init__

    def with_counter(hub: Hub, **parts: Any) -> None:
        plain(hub, **parts)
        catalogue: Catalogue = hub.calls.catalogue
        catalogue.add(entry)

    Hub.__init__ = with_counter  # type: ignore[method-assign]


def main(folder: Path, place: str) -> int:
    add_counter(folder)
    if place:
        PLACES[place]()
    config = GatewayConfig(
        projects={"demo": folder / "demo"},
        port=0,
        store=f"sqlite:///{folder}/store.db",
        settings=Settings.load(os.environ),
    )
    return app.run(config, lambda port: print(port, flush=True))  # noqa: T201 - what the test waits for


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""))
