"""How much a session takes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    queue: int
    calls: int
    tool_timeout_ms: int
    ledger_patience_ms: int = 0
    """How long a write cut by a restart waits for the client whose ledger knows about it."""
