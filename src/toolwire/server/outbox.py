"""What waits to be written to one connection: bounded, in order, and flushed once per turn of the event loop.

A reader that lets it fill up is cut with 1013 instead of being buffered without end.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from toolwire.settings import Settings

SLOW_READER = 1013


class Wire(Protocol):
    """A transport as a connection sees it; one per WebSocket implementation."""

    def write(self, messages: list[bytes]) -> None:
        """Send text messages, in order."""

    def ping(self) -> None:
        """Send a WebSocket ping."""

    def pause_reading(self) -> None:
        """Take nothing more from the peer for now; what has been read already still comes."""

    def resume_reading(self) -> None:
        """Go on."""

    def close(self, code: int, reason: str) -> None:
        """Send a close frame after what was written, then let go of the socket within a bounded time."""


class Flusher:
    """Flushes every outbox that was written to, together, at the next turn of the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._dirty: list[Outbox] = []

    def schedule(self, outbox: Outbox) -> None:
        if not self._dirty:
            self._loop.call_soon(self._flush)
        self._dirty.append(outbox)

    def _flush(self) -> None:
        dirty, self._dirty = self._dirty, []
        for outbox in dirty:
            outbox.flush()


class Outbox:
    """The queue of one connection."""

    __slots__ = (
        "_bytes",
        "_flusher",
        "_limit_bytes",
        "_limit_messages",
        "_queue",
        "_relief",
        "_scheduled",
        "_wire",
        "closed",
        "paused_at",
    )

    def __init__(self, wire: Wire, flusher: Flusher, settings: Settings) -> None:
        self._wire = wire
        self._flusher = flusher
        self._limit_messages = settings.outbox_messages
        self._limit_bytes = settings.outbox_bytes
        self._queue: list[bytes] = []
        self._bytes = 0
        self._scheduled = False
        self._relief: asyncio.Future[None] | None = None
        self.closed = False
        self.paused_at: float | None = None
        """Since when (loop time) the reader takes nothing; None while it keeps up."""

    @property
    def congested(self) -> bool:
        """Half full: whoever produces should wait."""
        return len(self._queue) * 2 > self._limit_messages or self._bytes * 2 > self._limit_bytes

    async def relieved(self) -> None:
        """Wait while it is congested."""
        while self.congested:
            if self._relief is None:
                self._relief = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._relief)

    def push(self, message: bytes) -> None:
        if self.closed:
            return
        self._queue.append(message)
        self._bytes += len(message)
        if len(self._queue) > self._limit_messages or self._bytes > self._limit_bytes:
            self.cut("too slow: more is waiting for this reader than the gateway keeps")
        elif not self._scheduled and self.paused_at is None:
            self._scheduled = True
            self._flusher.schedule(self)

    def flush(self) -> None:
        """Hand everything to the wire, unless its reader is behind."""
        self._scheduled = False
        if self.closed or self.paused_at is not None or not self._queue:
            return
        queue, self._queue, self._bytes = self._queue, [], 0
        self._wire.write(queue)
        self._let_go()

    def pause(self, now: float) -> None:
        """The transport has enough for now."""
        if self.paused_at is None:
            self.paused_at = now

    def resume(self) -> None:
        self.paused_at = None
        self.flush()

    def cut(self, reason: str) -> None:
        self.discard()
        self._wire.close(SLOW_READER, reason)

    def discard(self) -> None:
        """Nothing more goes out."""
        self.closed = True
        self._queue = []
        self._bytes = 0
        self._let_go()

    def _let_go(self) -> None:
        if self._relief is not None:
            if not self._relief.done():
                self._relief.set_result(None)
            self._relief = None
