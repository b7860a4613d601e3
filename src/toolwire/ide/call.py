"""A tool call as an IDE is asked for it, and the one outcome it answers with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import orjson

Form = Literal["markdown", "object"]
"""How a result is written: Markdown for documents 1 and 2, an object for document 5 (spec README, "Result")."""


@dataclass(frozen=True, slots=True)
class Call:
    session: str
    call_id: str
    tool: str
    arguments: Mapping[str, Any]

    def digest(self) -> bytes:
        """What was asked, whatever the order of the arguments: two calls that differ in it are not the same call."""
        asked = orjson.dumps([self.tool, dict(self.arguments)], option=orjson.OPT_SORT_KEYS)
        return sha256(asked).digest()


@dataclass(frozen=True, slots=True)
class Outcome:
    """`result` is Markdown for documents 1 and 2 and an object for document 5; a failure has `error` instead."""

    ok: bool
    result: Any = None
    error: str = ""
    ms: int = 0
    replayed: bool = False
    """True if it comes from the ledger: nothing was run."""

    @property
    def decided(self) -> bool:
        return self is not UNDECIDED


UNDECIDED = Outcome(False, error="begun, and then interrupted", replayed=True)
"""What the ledger knows of a write whose outcome it never heard."""
