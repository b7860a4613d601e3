"""A process to be killed: appends to a few sessions without end, and prints what it was told is committed."""

from __future__ import annotations

import asyncio
import sys
from functools import partial

from toolwire.core.events import AnyEvent, CallRequested, CallSettled, Said, TurnAsked, TurnEnded
from toolwire.errors import StoreError
from toolwire.store import Store, open_store


def event(seq: int, text: str) -> AnyEvent:
    """A turn of nine events, over and over."""
    at, turn = 1000 + seq, f"t{(seq - 1) // 9}"
    match (seq - 1) % 9:
        case 0:
            return TurnAsked(seq, at, turn, turn, "why?", "c")
        case 3:
            return CallRequested(seq, at, turn, turn, f"grep-{seq}", "grep_file", {"n": seq})
        case 4:
            return CallSettled(seq, at, turn, turn, f"grep-{seq - 1}", "grep_file", "ok", {"content": text})
        case 8:
            return TurnEnded(seq, at, turn, turn, "c", "completed", "why?", str(seq), rounds=1)
        case _:
            return Said(seq, at, turn, turn, text, 0)


def told(name: str, events: list[AnyEvent]) -> None:
    sys.stdout.write(f"{name} {events[-1].seq}\n")
    sys.stdout.flush()


def lost(events: list[AnyEvent], error: StoreError) -> None:
    sys.stdout.write(f"failed {error}\n")
    sys.stdout.flush()


async def go_on(store: Store, name: str, epoch: str) -> None:
    record = await store.open_session("", name, epoch=epoch, now=1)
    seq = record.last
    while True:
        for count in (1, 2, 5):
            events = [event(number, f"piece {number} of {name}") for number in range(seq + 1, seq + count + 1)]
            seq += count
            store.append(record.number, events, partial(told, name), lost)
        await store.drained()


async def main(url: str, epoch: str) -> None:
    store = open_store(url)
    await store.start()
    await asyncio.gather(*(go_on(store, name, epoch) for name in ("one", "two", "three")))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
