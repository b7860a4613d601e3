"""What a peer can ask for. A dialect decodes a message into one of these; a session turns it into events."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from toolwire.core.events import Attachment, Message, Mode, Role


class Prompt(msgspec.Struct, frozen=True):
    """Ask the agent something. `busy` says what happens when a turn runs already."""

    text: str
    busy: Literal["queue", "override", "refuse"] = "queue"
    request: str = ""
    """The id a client will know the turn by; empty: the turn's own."""
    conversation: str = ""
    """Whose history it continues; empty: the session's."""
    project: str = ""
    mode: Mode = "agent"
    agent: str = ""
    history: tuple[Message, ...] = ()
    """What the client says was said before; given to the agent in place of the kept history."""
    attachments: tuple[Attachment, ...] = ()
    trace: str = ""
    """Document 3's trace_id, if the peer brought one."""


class Answer(msgspec.Struct, frozen=True):
    """The result of a tool call, from the client that ran it."""

    call_id: str
    ok: bool
    result: Any = None
    error: str = ""
    details: dict[str, Any] | None = None
    """What a result told in words means, field by field, if the client says."""
    indeterminate: bool = False
    """Of a failure: the client says that it may have taken effect, and that nothing can tell."""


class AnswerWithFaults(Answer, frozen=True, kw_only=True):
    """An answer that counts, beside something in the message that does not fit."""

    faults: dict[str, str]
    """Field → what is wrong with it."""


class AddMessage(msgspec.Struct, frozen=True):
    """Add to the history without asking anything."""

    role: Role
    text: str


class RunTool(msgspec.Struct, frozen=True):
    """A client asks the gateway to run a tool in the gateway's own workspace (document 1, manual test)."""

    asked_as: str
    tool: str
    arguments: dict[str, Any]


class Stop(msgspec.Struct, frozen=True):
    """End the running turn and what waits behind it."""


class Reset(msgspec.Struct, frozen=True):
    """Stop, and forget the conversation so far."""


class Report(msgspec.Struct, frozen=True):
    """An error on the client's side, to be recorded."""

    text: str


class Decide(msgspec.Struct, frozen=True):
    """A person's word on a call that waits for it. `arguments` are used instead of those that were asked for."""

    approval: str
    decision: Literal["approve", "reject"]
    reason: str = ""
    arguments: dict[str, Any] | None = None
    digest: str | None = None


class Ping(msgspec.Struct, frozen=True):
    """The dialect's own heartbeat; answered with the same timestamp by the connection, not by the session."""

    timestamp: int | float | None = None


class Authenticate(msgspec.Struct, frozen=True):
    """A token sent as a message, for a connection opened without one."""

    token: str


SessionCommand = Prompt | Answer | AddMessage | RunTool | Stop | Reset | Report
Command = SessionCommand | Decide | Ping | Authenticate
