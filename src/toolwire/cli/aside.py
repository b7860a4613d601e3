"""Blocking work beside an event loop that somebody may want to leave: unlike the loop's own threads, nothing waits
for these at the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def aside(work: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
    """Its result, or what it raises."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: Exception | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: T | None = None
        problem: Exception | None = None
        try:
            result = work(*args, **more)
        except Exception as error:
            problem = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, problem)

    threading.Thread(target=run, name="aside", daemon=True).start()
    return await done
