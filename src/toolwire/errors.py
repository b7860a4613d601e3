"""One tree of errors. Each carries a code, a human sentence, the field or path at fault, and what to do.

    ToolwireError
    ├── PeerError              the other side sent something we refuse; their fault
    │   ├── InvalidMessage     does not fit its dialect (the field is named)
    │   ├── MessageTooLarge    over the message limit
    │   ├── HandshakeRefused   the connection can't be opened as asked
    │   ├── NotAuthenticated   no token, or a wrong one
    │   └── QueueFull          too many prompts are waiting already
    ├── ToolError              a tool was asked for something it can't do; told to agent and user
    ├── AgentError             the agent behind a turn failed
    ├── TurnOver               told to an agent whose turn has ended meanwhile
    └── OurError               a defect or an outage on this side
        ├── StoreError         the record can't be read or written
        └── ConfigError        the settings we were started with make no sense

Errors are raised where the cause is known and turned into a dialect's words in one place, that dialect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

Fault = Literal["peer", "ours", "upstream"]


class ToolwireError(Exception):
    """The root: `code` for programs, `message` for people."""

    code: str = "INTERNAL_ERROR"
    fault: ClassVar[Fault] = "ours"
    retryable: bool = False

    def __init__(
        self, message: str, *, code: str | None = None, field: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code
        self.field = field
        self.hint = hint


class PeerError(ToolwireError):
    code = "INVALID_REQUEST"
    fault = "peer"


class InvalidMessage(PeerError):
    """A message that does not fit its dialect. `fields` maps each field at fault to what is wrong with it."""

    def __init__(self, message: str, *, fields: Mapping[str, str] | None = None, **more: Any) -> None:
        self.fields = dict(fields or {})
        if more.get("field") is None and self.fields:
            more["field"] = next(iter(self.fields))
        super().__init__(message, **more)


class MessageTooLarge(PeerError):
    code = "MESSAGE_TOO_LARGE"


class HandshakeRefused(PeerError):
    pass


class NotAuthenticated(PeerError):
    code = "UNAUTHENTICATED"


class QueueFull(PeerError):
    code = "QUEUE_FULL"
    retryable = True


class ToolError(ToolwireError):
    """A tool's refusal. `kind` picks the sentence from `tools.texts`; `facts` fill it in either language."""

    code = "TOOL_EXECUTION_FAILED"
    fault = "upstream"

    def __init__(self, kind: str, /, *, hint: str | None = None, field: str | None = None, **facts: Any) -> None:
        self.kind = kind
        self.facts = facts
        rest = ", ".join(f"{name}={value}" for name, value in facts.items())
        super().__init__(f"{kind}: {rest}" if rest else kind, field=field, hint=hint)


class AgentError(ToolwireError):
    code = "ANALYSIS_FAILED"
    fault = "upstream"


class TurnOver(ToolwireError):
    code = "TURN_OVER"


class OurError(ToolwireError):
    pass


class StoreError(OurError):
    code = "STORE_ERROR"


class ConfigError(OurError):
    code = "CONFIG_ERROR"
