"""What takes part in a session: a connection, or one seat of a socket that serves many sessions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from toolwire.core.events import AnyEvent, CallRequested, Event
from toolwire.dialects.base import Dialect
from toolwire.errors import ToolwireError
from toolwire.server.outbox import Outbox
from toolwire.server.roles import Role


class Participant(Protocol):
    """As a session sees it."""

    @property
    def id(self) -> str: ...
    @property
    def dialect(self) -> Dialect: ...
    @property
    def caller_name(self) -> str: ...
    @property
    def role(self) -> Role:
        """What its caller may do."""
        ...

    @property
    def outbox(self) -> Outbox: ...
    @property
    def runs_tools(self) -> bool:
        """Whether calls may be sent to it."""
        ...

    @property
    def ledger(self) -> str:
        """Names the record it keeps of writes it was asked for; empty: it keeps none."""
        ...

    @property
    def shows(self) -> Collection[type[Event]]:
        """The kinds of events it is told about."""
        ...

    def deliver(self, event: AnyEvent) -> None:
        """An event of the session, committed."""

    def send_call(self, call: CallRequested) -> None:
        """A tool call for it to run."""

    def fail(self, error: ToolwireError) -> None:
        """The session can't go on."""
