"""The outbox: in order, once per turn of the loop, and never without bound."""

from __future__ import annotations

import asyncio

import pytest

from support.patience import PATIENCE
from toolwire.server.outbox import Flusher, Outbox
from toolwire.settings import Settings


class Recorder:
    """A wire that remembers."""

    def __init__(self) -> None:
        self.writes: list[list[bytes]] = []
        self.closed: tuple[int, str] | None = None

    def write(self, messages: list[bytes]) -> None:
        self.writes.append(messages)

    def ping(self) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def close(self, code: int, reason: str) -> None:
        self.closed = (code, reason)


@pytest.fixture
async def wire() -> Recorder:
    return Recorder()


def outbox(wire: Recorder, **limits: int) -> Outbox:
    return Outbox(wire, Flusher(asyncio.get_running_loop()), Settings(**limits))  # type: ignore[arg-type]


async def test_messages_of_one_moment_are_written_together_and_in_order(wire: Recorder) -> None:
    box = outbox(wire)
    for number in range(3):
        box.push(b"%d" % number)
    assert wire.writes == []
    await asyncio.sleep(0)
    assert wire.writes == [[b"0", b"1", b"2"]]


async def test_a_paused_reader_gets_the_rest_when_it_reads_again(wire: Recorder) -> None:
    box = outbox(wire)
    box.pause(0.0)
    box.push(b"a")
    await asyncio.sleep(0)
    assert wire.writes == []
    box.resume()
    assert wire.writes == [[b"a"]]


async def test_a_reader_that_is_too_slow_is_cut_with_1013(wire: Recorder) -> None:
    box = outbox(wire, outbox_messages=3)
    box.pause(0.0)
    for _ in range(4):
        box.push(b"x")
    assert wire.closed is not None
    assert wire.closed[0] == 1013
    box.push(b"more")
    box.resume()
    assert wire.writes == []


async def test_bytes_are_bounded_too(wire: Recorder) -> None:
    box = outbox(wire, outbox_bytes=10)
    box.pause(0.0)
    box.push(b"x" * 11)
    assert wire.closed is not None


async def test_whoever_waits_for_relief_is_woken_when_the_reader_catches_up(wire: Recorder) -> None:
    box = outbox(wire, outbox_messages=4)
    box.pause(0.0)
    for _ in range(3):
        box.push(b"x")
    assert box.congested
    waiting = asyncio.create_task(box.relieved())
    await asyncio.sleep(0)
    assert not waiting.done()
    box.resume()
    await asyncio.wait_for(waiting, PATIENCE)


async def test_whoever_waits_for_relief_is_woken_when_the_reader_is_gone(wire: Recorder) -> None:
    box = outbox(wire, outbox_messages=4)
    box.pause(0.0)
    for _ in range(3):
        box.push(b"x")
    waiting = asyncio.create_task(box.relieved())
    await asyncio.sleep(0)
    box.discard()
    await asyncio.wait_for(waiting, PATIENCE)
