"""One tree of errors. Each carries a code, a human sentence, the field or path at fault, and what to do.

    ToolwireError
    ├── PeerError              the other side sent something we refuse; their fault
    │   ├── InvalidMessage     does not fit its dialect (the field is named)
    │   ├── MessageTooLarge    over the message limit
    │   ├── HandshakeRefused   the connection can't be opened as asked
    │   ├── NotAuthenticated   no token, or a wrong one
    │   └── QueueFull          too many prompts are waiting already
    ├── ToolError              a tool was asked for something it can't do; told to agent and user
    ├── FlashError             a call of document 3 ended in one of its ten codes, other than OK
    ├── AgentError             the agent behind a turn failed
    ├── TurnOver               told to an agent whose turn has ended meanwhile
    └── OurError               a defect or an outage on this side
        ├── StoreError         the record can't be read or written
        └── ConfigError        the settings we were started with make no sense

Errors are raised where the cause is known and turned into a dialect's words in one place, that dialect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

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
    request: str = ""
    """The request of document 2 that was refused with it, and that it is the end of."""
    given: str = ""
    """What was named and is not there, where a sentence about it needs no more than that."""


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


FlashCode = Literal[
    "BAD_REQUEST",
    "VALIDATION_FAILED",
    "TOOL_NOT_FOUND",
    "PERMISSION_DENIED",
    "RLS_DENIED",
    "CONFLICT",
    "TIMEOUT",
    "UPSTREAM_ERROR",
    "INTERNAL_ERROR",
]

FLASH_STATUS: Final[Mapping[str, int]] = {
    "OK": 200,
    "BAD_REQUEST": 400,
    "VALIDATION_FAILED": 400,
    "PERMISSION_DENIED": 403,
    "RLS_DENIED": 403,
    "TOOL_NOT_FOUND": 404,
    "CONFLICT": 409,
    "TIMEOUT": 504,
    "UPSTREAM_ERROR": 502,
    "INTERNAL_ERROR": 500,
}
"""Document 3, section 6: every code and its HTTP status."""


class FlashError(ToolwireError):
    """A refusal or failure in document 3's words. `more` goes into the response's `error` object as it is.

    `began` says that the effect had begun when this was raised: only such an outcome is kept under its
    idempotency key.
    """

    fault = "peer"

    def __init__(
        self,
        code: FlashCode,
        message: str,
        *,
        reason: str | None = None,
        field: str | None = None,
        hint: str | None = None,
        began: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(message, code=code, field=field, hint=hint)
        self.reason = reason or code
        self.began = began
        self.more = more

    @property
    def http_status(self) -> int:
        return FLASH_STATUS[self.code]


class AgentError(ToolwireError):
    code = "ANALYSIS_FAILED"
    fault = "upstream"


class TurnOver(ToolwireError):
    code = "TURN_OVER"


class OurError(ToolwireError):
    pass


class StoreError(OurError):
    code = "STORE_ERROR"


def why_not_read(error: OSError | UnicodeDecodeError) -> str:
    """Why a file can't be read, without the number and the name that are said elsewhere."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return error.strerror or str(error)


class ConfigError(OurError):
    code = "CONFIG_ERROR"
