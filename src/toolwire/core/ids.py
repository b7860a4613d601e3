"""Identifiers that never collide and never repeat across restarts, and that sort by time.

Pure: the clock is an argument, and `node` is randomness drawn once by whoever starts the process.
"""

from __future__ import annotations

NODE_BYTES = 6
COUNTER_END = 0x10000
"""The counter has four digits; beyond them the next millisecond is borrowed, so that ids go on sorting."""


class Ids:
    """Makes `<milliseconds>-<counter>-<node>`: ordered within a process, distinct between processes."""

    __slots__ = ("_counter", "_last_ms", "_node")

    def __init__(self, node: bytes) -> None:
        if len(node) != NODE_BYTES:
            raise ValueError(f"node must be {NODE_BYTES} random bytes, not {len(node)}")
        self._node = node.hex()
        self._last_ms = 0
        self._counter = 0

    def next(self, now_ms: int) -> str:
        """A fresh id. A clock that steps back does not break the order."""
        if now_ms > self._last_ms:
            self._last_ms = now_ms
            self._counter = 0
        else:
            self._counter += 1
            if self._counter == COUNTER_END:
                self._last_ms += 1
                self._counter = 0
        return f"{self._last_ms:011x}-{self._counter:04x}-{self._node}"

    def call(self, tool: str, now_ms: int) -> str:
        """The id of a tool call: `<tool>-<time-ordered unique id>` (spec README, "Call ids")."""
        return f"{tool}-{self.next(now_ms)}"
