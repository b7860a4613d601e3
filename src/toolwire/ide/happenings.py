"""What a headless IDE does, as values: a terminal prints them, `--json` writes one a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec


class Happening(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event"):
    """What every one of them has: nothing but its name, in `event`."""


class Connecting(Happening, frozen=True, tag="connecting"):
    url: str


class Connected(Happening, frozen=True, tag="connected"):
    url: str
    session: str
    dialect: str


class Disconnected(Happening, frozen=True, tag="disconnected"):
    reason: str
    retry_in: float
    """Seconds until the next attempt."""


class CallBegun(Happening, frozen=True, tag="call"):
    call_id: str
    tool: str
    arguments: Mapping[str, Any]


class CallAnswered(Happening, frozen=True, tag="result"):
    call_id: str
    tool: str
    ok: bool
    ms: int
    error: str = ""
    replayed: bool = False
    """From the ledger: it was asked before and not run again."""


class Heard(Happening, frozen=True, tag="message"):
    """Any other message of the gateway, as it came."""

    message: Any


class Warned(Happening, frozen=True, tag="warning"):
    text: str


class Closed(Happening, frozen=True, tag="closed"):
    reason: str = ""


AnyHappening = Connecting | Connected | Disconnected | CallBegun | CallAnswered | Heard | Warned | Closed
Tell = Callable[[AnyHappening], None]
