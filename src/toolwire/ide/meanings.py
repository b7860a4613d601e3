"""What a gateway's messages mean to its client, whatever the dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Ending = Literal["completed", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Greeted:
    """The connection is taken."""


@dataclass(frozen=True, slots=True)
class Prompted:
    """A question was asked in the session, by this client or another; told to watching connections."""

    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A tool call: to be run, or, on a connection that only watches, to be seen."""

    call_id: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answered:
    """The outcome of a call, as a watching connection sees it."""

    call_id: str
    ok: bool
    result: Any = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of text. `final` ends a run of text, not the turn."""

    text: str
    final: bool = False


@dataclass(frozen=True, slots=True)
class Thought:
    text: str
    stage: str = ""
    percent: int | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn is over. `text` is the whole of it, where the document's last message carries that."""

    outcome: Ending
    text: str = ""
    message: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """An error that does not say it ends a turn."""

    message: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Other:
    """Nothing a client has to act on: a pong, say, or a kind that is not known here."""

    kind: str
    known: bool = True


Meaning = Greeted | Prompted | Asked | Answered | Said | Thought | Ended | Failed | Other


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it came, what it means, and the cursor it carried, if any (design, "Resume")."""

    meaning: Meaning
    body: Mapping[str, Any]
    cursor: str = ""
