"""An IDE running beside a test, with tools that the test can hold and count."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.patience import PATIENCE
from toolwire.dialects.base import DialectName
from toolwire.ide.address import Address
from toolwire.ide.happenings import AnyHappening
from toolwire.ide.ide import Ide
from toolwire.ide.opening import open_ide
from toolwire.settings import Settings
from toolwire.tools.base import Context, Tool, ToolInput, ToolOutput
from toolwire.tools.registry import MODULES, Registry

QUICK = Settings(reconnect_first=0.01, reconnect_most=0.05, shutdown_grace=2.0, heartbeat=30.0)


class Nothing(ToolInput):
    note: str = ""


class Done(ToolOutput):
    note: str


@dataclass
class Bench:
    """A tool that writes (`mark`) and one that only reads (`wait`): both count, and wait while `gate` is shut."""

    gate: threading.Event = field(default_factory=threading.Event)
    runs: list[str] = field(default_factory=list)
    threads: set[str] = field(default_factory=set)
    _entered: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def registry(self) -> Registry:
        return Registry(MODULES, [self._tool("mark", reads=False), self._tool("wait", reads=True)])

    async def entered(self, count: int) -> None:
        """Wait until so many runs are, or have been, inside a tool."""
        for _ in range(count):
            assert await asyncio.to_thread(self._entered.acquire, timeout=PATIENCE)

    def _tool(self, name: str, *, reads: bool) -> Tool:
        def run(context: Context, asked: Nothing) -> Done:
            self.runs.append(f"{name} {asked.note}".strip())
            self.threads.add(threading.current_thread().name)
            self._entered.release()
            assert self.gate.wait(PATIENCE)
            return Done(note=asked.note)

        return Tool(
            name=name,
            input=Nothing,
            output=Done,
            run=run,
            markdown=lambda done, _: f"**{done.note}**",
            title_zh=name,
            title_en=name,
            intent="test",
            object="note",
            reads=reads,
        )


class Told:
    """What the IDE told, to wait for."""

    def __init__(self) -> None:
        self.all: list[AnyHappening] = []
        self._news = asyncio.Event()

    def __call__(self, happening: AnyHappening) -> None:
        self.all.append(happening)
        self._news.set()

    def of(self, kind: type[Any]) -> list[Any]:
        return [happening for happening in self.all if isinstance(happening, kind)]

    async def until(self, kind: type[Any], count: int = 1) -> Any:
        async with asyncio.timeout(PATIENCE):
            while len(self.of(kind)) < count:
                self._news.clear()
                await self._news.wait()
        return self.of(kind)[count - 1]


@dataclass
class Running:
    ide: Ide
    told: Told
    task: asyncio.Task[None]

    async def ended(self) -> None:
        """Wait until it has stopped; raises what stopped it."""
        async with asyncio.timeout(PATIENCE):
            await asyncio.shield(self.task)


@asynccontextmanager
async def running_ide(
    root: Path,
    url: str,
    *,
    dialect: DialectName = "gateway",
    session: str = "s1",
    bench: Bench | None = None,
    settings: Settings = QUICK,
    **more: Any,
) -> AsyncIterator[Running]:
    told = Told()
    address = Address(url, dialect, session, project="demo", token=more.pop("token", ""))
    registry = bench.registry() if bench else None
    state = root.parent / "state"
    with open_ide(root, address, tell=told, settings=settings, registry=registry, state=state, **more) as ide:
        task = asyncio.create_task(ide.run())
        try:
            yield Running(ide, told, task)
        finally:
            if bench:
                bench.gate.set()
            ide.stop()
            await asyncio.wait((task,), timeout=PATIENCE)
            task.cancel()
