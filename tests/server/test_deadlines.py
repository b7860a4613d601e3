"""Limits that are looked at now and then: they end what takes too long, and leave other cancellations alone."""

from __future__ import annotations

import asyncio

import pytest

from toolwire.server.deadlines import Deadlines


async def kept(deadlines: Deadlines, seconds: float, until: asyncio.Event) -> str:
    try:
        with deadlines.within(seconds):
            await until.wait()
    except TimeoutError:
        return "late"
    await asyncio.sleep(0)  # a cancellation that is left over would show here
    return "in time"


async def test_what_ends_in_time_is_left_alone() -> None:
    deadlines, over = Deadlines(asyncio.get_running_loop()), asyncio.Event()
    task = asyncio.create_task(kept(deadlines, 5, over))
    await asyncio.sleep(0)
    over.set()
    assert await task == "in time"
    deadlines.look(float("inf"))
    await asyncio.sleep(0)


async def test_what_takes_too_long_is_ended_at_the_next_look_and_the_task_goes_on() -> None:
    loop = asyncio.get_running_loop()
    deadlines, over = Deadlines(loop), asyncio.Event()
    short, long = (asyncio.create_task(kept(deadlines, seconds, over)) for seconds in (5, 500))
    await asyncio.sleep(0)
    deadlines.look(loop.time() + 4)
    deadlines.look(loop.time() + 6)
    assert await short == "late"
    over.set()
    assert await long == "in time"


async def test_somebody_elses_cancellation_stays_one() -> None:
    deadlines = Deadlines(asyncio.get_running_loop())
    task = asyncio.create_task(kept(deadlines, 5, asyncio.Event()))
    await asyncio.sleep(0)
    task.cancel()
    deadlines.look(float("inf"))
    with pytest.raises(asyncio.CancelledError):
        await task
