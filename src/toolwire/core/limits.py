"""How much a session takes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    queue: int
    calls: int
    tool_timeout_ms: int
