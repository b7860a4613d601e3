"""A tool call as an IDE is asked for it, and the one outcome it answers with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import orjson

from toolwire.dialects.agent_chat import ADDRESSES

Form = Literal["markdown", "object"]
"""How a result is written: Markdown for documents 1 and 2, an object for document 5 (spec README, "Result")."""


@dataclass(frozen=True, slots=True)
class Call:
    session: str
    call_id: str
    tool: str
    arguments: Mapping[str, Any]

    def digest(self) -> bytes:
        """What was asked, whatever the order of the arguments: two calls that differ in it are not the same call.

        Over another dialect it is the same call: what document 1 adds says where it goes, not what it does.
        """
        arguments = {name: value for name, value in self.arguments.items() if name not in ADDRESSES}
        asked = orjson.dumps([self.tool, arguments], option=orjson.OPT_SORT_KEYS)
        return sha256(asked).digest()


@dataclass(frozen=True, slots=True)
class Outcome:
    """`result` is Markdown for documents 1 and 2 and an object for document 5; a failure has `error` instead."""

    ok: bool
    result: Any = None
    error: str = ""
    ms: int = 0
    details: dict[str, Any] | None = None
    """The typed fields of a write whose result is Markdown."""
    indeterminate: bool = False
    """Of a failure: it may have taken effect, and nothing can tell."""
    replayed: bool = False
    """True if it comes from the ledger: nothing was run."""

    @property
    def decided(self) -> bool:
        return self is not UNDECIDED


UNDECIDED = Outcome(False, error="begun, and then interrupted", replayed=True)
"""What the ledger knows of a write whose outcome it never heard."""
