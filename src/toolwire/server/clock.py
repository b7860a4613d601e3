"""The clock and the entropy that the pure parts are given."""

from __future__ import annotations

import os
import time

from toolwire.core.ids import NODE_BYTES, Ids


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def fresh_ids() -> Ids:
    return Ids(os.urandom(NODE_BYTES))


def fresh_epoch() -> str:
    """The epoch of a new log."""
    return os.urandom(6).hex()
