"""Sessions that programs have just used stay live for a moment: opening one costs more than a call in it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolwire.server.hub import Hub
    from toolwire.server.live import LiveSession


class Lingering:
    """The sessions held, the longest unused first; each until so many seconds after its last use."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._held: dict[LiveSession, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def hold(self, live: LiveSession) -> None:
        if self._held.pop(live, None) is None:
            live.visitors += 1
        self._held[live] = self._hub.loop.time() + self._hub.settings.linger_seconds
        if len(self._held) > self._hub.settings.linger_sessions:
            self._release(next(iter(self._held)))
        if self._timer is None:
            self._timer = self._hub.loop.call_later(self._hub.settings.linger_seconds, self._sweep)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for live in list(self._held):
            self._release(live)

    def _sweep(self) -> None:
        self._timer = None
        now = self._hub.loop.time()
        for live in [live for live, until in self._held.items() if until <= now or live.broken]:
            self._release(live)
        if self._held:
            self._timer = self._hub.loop.call_later(self._hub.settings.linger_seconds, self._sweep)

    def _release(self, live: LiveSession) -> None:
        del self._held[live]
        live.visitors -= 1
        self._hub.consider(live)
