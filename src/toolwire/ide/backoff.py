"""How long to wait before connecting again: doubling, bounded, and never the same for two clients."""

from __future__ import annotations

from random import Random


class Backoff:
    """After a gateway restarts, its clients must not come back all at once: each waits a random part of the time."""

    def __init__(self, first: float, most: float, random: Random) -> None:
        self._first = first
        self._most = most
        self._random = random
        self._failures = 0

    def reset(self) -> None:
        """The connection works."""
        self._failures = 0

    def next(self) -> float:
        """Seconds to wait after one more failure."""
        longest: float = min(self._most, self._first * 2.0 ** min(self._failures, 30))
        self._failures += 1
        return longest * self._random.uniform(0.5, 1.0)
