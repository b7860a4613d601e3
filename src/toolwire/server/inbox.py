"""What a peer has sent and nobody could attend to yet: bounded by not reading from the peer, never by cutting it."""

from __future__ import annotations

from collections import deque

from toolwire.server.outbox import Wire

LIMIT = 256
"""Messages that may wait before nothing more is read."""


class Inbox:
    """Messages that wait for the connection to be open, or for a large one before them."""

    __slots__ = ("_bytes", "_held", "_limit_bytes", "_queue", "_wire")

    def __init__(self, wire: Wire, limit_bytes: int) -> None:
        self._wire = wire
        self._limit_bytes = limit_bytes
        self._queue: deque[bytes] = deque()
        self._bytes = 0
        self._held = False
        """Whether the peer is not read from."""

    def put(self, message: bytes) -> None:
        self._queue.append(message)
        self._bytes += len(message)
        full = len(self._queue) >= LIMIT or self._bytes >= self._limit_bytes
        if full and not self._held:
            self._held = True
            self._wire.pause_reading()

    def take(self) -> bytes | None:
        """The next one; with None, that all of them are done, the peer is read from again."""
        if self._queue:
            message = self._queue.popleft()
            self._bytes -= len(message)
            return message
        if self._held:
            self._held = False
            self._wire.resume_reading()
        return None
