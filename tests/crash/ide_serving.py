"""A gateway and an IDE in processes of their own, each of which kills itself at a named place of a write.

The places are seams, wrapped from outside: the product knows nothing of this.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from crash.serving import PLACES as CALL_PLACES
from crash.serving import _processes, after, before, die
from ide.running_ide import QUICK
from support.patience import PATIENCE
from toolwire.core.events import CallSettled
from toolwire.dialects.base import DialectName
from toolwire.ide.address import Address
from toolwire.ide.client import Client
from toolwire.ide.ledger import Ledger
from toolwire.ide.opening import open_ide
from toolwire.server import app
from toolwire.server.config import GatewayConfig
from toolwire.server.execution import Execution
from toolwire.server.live import LiveSession
from toolwire.server.routing import Routing
from toolwire.server.websocket import PicowsWire
from toolwire.tools import inverses
from toolwire.tools.workspace import Workspace

TOOL = "Edit"


def _wrapped(owner: Any, name: str, matters: Callable[..., bool], *, first: bool) -> None:
    """Die before or after a call of `owner.name` that matters."""
    real: Callable[..., Any] = getattr(owner, name)

    def dying(*arguments: Any, **more: Any) -> Any:
        if first and matters(*arguments):
            die()
        given = real(*arguments, **more)
        if matters(*arguments):
            die()
        return given

    setattr(owner, name, dying)


def _for_the_write(_: object, call: Any, *__: object) -> bool:
    return bool(call.tool == TOOL)


def _tells_of_it(_: object, messages: list[bytes]) -> bool:
    return any(f'"{TOOL}"'.encode() in message for message in messages)


def _answers_it(_: object, command: Any) -> bool:
    return str(command.call_id).startswith(TOOL)


def _outcome_is_in(_: object, events: list[Any]) -> bool:
    return any(isinstance(event, CallSettled) and event.tool == TOOL for event in events)


def _executes_it(execution: Any) -> bool:
    return bool(execution._asked.entry.tool_id == TOOL)


def _posts_it(_: object, message: bytes, key: str = "") -> bool:
    return key.startswith(TOOL)


GATEWAY_PLACES: dict[str, Callable[[], None]] = {
    "before the call is sent": lambda: _wrapped(Routing, "offer", _for_the_write, first=True),
    "when the call waits to be sent": lambda: _wrapped(Routing, "offer", _for_the_write, first=False),
    "after the call is sent": lambda: _wrapped(PicowsWire, "write", _tells_of_it, first=False),
    "before the result is heard": lambda: _wrapped(LiveSession, "handle_tool_result", _answers_it, first=True),
    "before the result is committed": lambda: _wrapped(LiveSession, "handle_tool_result", _answers_it, first=False),
    "after the result is committed": lambda: _wrapped(LiveSession, "committed", _outcome_is_in, first=True),
}
IDE_PLACES: dict[str, Callable[[], None]] = {
    "before the ledger knows": lambda: _wrapped(Ledger, "begin", _for_the_write, first=True),
    "after the ledger knows": lambda: _wrapped(Ledger, "begin", _for_the_write, first=False),
    "before the intent": lambda: before(inverses.UndoLog, "begin"),
    "after the intent": lambda: after(inverses.UndoLog, "begin"),
    "before the file is written": lambda: before(Workspace, "write_bytes"),
    "after the file is written": lambda: after(Workspace, "write_bytes"),
    "after the write is marked done": lambda: after(inverses.UndoLog, "done"),
    "before the outcome is in the ledger": lambda: _wrapped(Ledger, "finish", _for_the_write, first=True),
    "after the outcome is in the ledger": lambda: _wrapped(Ledger, "finish", _for_the_write, first=False),
    "before the answer is sent": lambda: _wrapped(Client, "post", _posts_it, first=False),
}
PROGRAM_PLACES = {
    "before the claim is committed": CALL_PLACES["before the claim is committed"],
    "after the claim": lambda: _wrapped(Execution, "run", _executes_it, first=True),
    **GATEWAY_PLACES,
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _serve(folder: Path, port: int, agent: str, place: str, ports: Connection) -> None:
    os.environ["XDG_STATE_HOME"] = str(folder / "gateway-state")
    if place:
        {**CALL_PLACES, **PROGRAM_PLACES}[place]()
    config = GatewayConfig(
        projects={"demo": folder / "gateway"}, port=port, store=f"sqlite:///{folder}/store.db", agent=agent
    )
    app.run(config, ports.send)


def _work(folder: Path, url: str, dialect: DialectName, place: str) -> None:
    os.environ["XDG_STATE_HOME"] = str(folder / "state-home")
    if place:
        IDE_PLACES[place]()

    async def main() -> None:
        address = Address(url, dialect, "s1", project="demo")
        state = folder / "state"
        with open_ide(folder / "project", address, tell=lambda _: None, settings=QUICK, state=state) as ide:
            await ide.run()

    asyncio.run(main())


class Child:
    def __init__(self, process: Any) -> None:
        self._process = process

    async def stop(self, *, kindly: bool) -> None:
        """End it from outside: by SIGTERM, or by SIGKILL."""
        (self._process.terminate if kindly else self._process.kill)()
        await asyncio.to_thread(self._process.join, PATIENCE)
        assert self._process.exitcode is not None

    @property
    def sentinel(self) -> int:
        """To wait on beside others: it is ready when the process has ended."""
        sentinel: int = self._process.sentinel
        return sentinel

    async def died(self) -> None:
        """Wait until it has killed itself."""
        await asyncio.to_thread(self._process.join, PATIENCE)
        assert self._process.exitcode == -9, f"it has not killed itself: {self._process.exitcode}"


@contextmanager
def _child(target: Callable[..., None], *arguments: Any) -> Iterator[Child]:
    process = _processes.Process(target=target, args=arguments, daemon=True)
    process.start()
    try:
        yield Child(process)
    finally:
        process.kill()
        process.join(PATIENCE)


@contextmanager
def gateway(folder: Path, port: int, agent: str, place: str = "") -> Iterator[Child]:
    """A gateway in a process of its own, ready."""
    mine, its = _processes.Pipe(duplex=False)
    with _child(_serve, folder, port, agent, place, its) as child:
        assert mine in wait([mine, child.sentinel], PATIENCE), "the gateway did not start"
        yield child


@contextmanager
def ide(folder: Path, url: str, dialect: DialectName, place: str = "") -> Iterator[Child]:
    """A headless IDE in a process of its own."""
    with _child(_work, folder, url, dialect, place) as child:
        yield child
