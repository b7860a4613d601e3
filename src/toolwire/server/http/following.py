"""Reading a session's log as it grows: what is there, then what comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from toolwire.core.events import AnyEvent
from toolwire.server.hub import Hub
from toolwire.server.security import Caller
from toolwire.store.base import SessionRecord

PAGE = 500
KEEP_ALIVE = 15.0
"""Seconds after which a quiet log gives an empty page, so that a stream can say it is still there."""


class _Bell:
    """A follower that only rings: the reader then looks into the store."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def deliver(self, _: AnyEvent) -> None:
        self.ring()

    def ring(self) -> None:
        self._rung.set()

    async def wait(self) -> None:
        try:
            async with asyncio.timeout(KEEP_ALIVE):
                await self._rung.wait()
        except TimeoutError:
            return
        self._rung.clear()


async def follow(
    hub: Hub, caller: Caller, record: SessionRecord, after: int, *, live: bool = True
) -> AsyncIterator[list[AnyEvent]]:
    """Pages of events after a sequence number; with `live` it goes on until the gateway stops."""
    async with hub.visit(caller.tenant, record.name) as session:
        bell = _Bell()
        session.follow(bell)
        hub.stop_bells.add(bell.ring)
        try:
            while not hub.stopping and hub.guard.still_knows(caller):
                page = await hub.store.read(record.number, after=after, limit=PAGE)
                if page:
                    after = page[-1].seq
                    yield page
                elif not live:
                    return
                else:
                    await bell.wait()
                    yield []
        finally:
            hub.stop_bells.discard(bell.ring)
            session.unfollow(bell)
