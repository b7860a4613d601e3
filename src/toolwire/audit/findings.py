"""What verifying finds."""

from __future__ import annotations

from typing import Literal

import msgspec

Part = Literal[
    "log", "ledger", "responses", "execution logs", "approvals", "messages", "places", "heads", "inverses", "export"
]


class Finding(msgspec.Struct, frozen=True):
    """A record that is not as it was stored."""

    part: Part
    record: str
    """Which one, in words that let it be found."""
    problem: str

    def __str__(self) -> str:
        return f"{self.part}: {self.record}: {self.problem}"


class Report(msgspec.Struct, frozen=True):
    """The outcome of verifying: whole, or broken and where first."""

    whole: bool
    checked: dict[str, int]
    """How much was looked at, by kind."""
    broken: list[Finding]
    """The first is the first; of many, only so many are listed."""
    more: int
    """Broken records beyond those listed."""
    remarks: list[str]
    """What is good to know and breaks nothing."""
