"""The contract of a dialect: messages of one document in, commands out; events in, messages of that document out.

One instance belongs to one connection and remembers how that was opened, and what was asked there last. A message is
the bytes of one JSON object. One that does not fit raises a PeerError, which `error` puts in the dialect's own words.

Who gets what: `render` is what every connection of a session sees; `call` goes to the one that runs the tool (and to
those that only watch); `mirror` goes to those that watch (`?watch=1`): the console, a recorder, a second terminal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from toolwire.core.commands import Command, Ping, Prompt
from toolwire.core.events import AnyEvent, CallRequested, Event, Mode, Placement
from toolwire.dialects import names
from toolwire.errors import HandshakeRefused, ToolwireError

DialectName = Literal["agent_chat", "analyze", "gateway", "flash"]

_WATCH: Mapping[str, bool] = {"": False, "0": False, "false": False, "1": True, "true": True}


@dataclass(frozen=True, slots=True)
class Handshake:
    """How a connection was opened, and what the gateway adds to that."""

    query: Mapping[str, str]
    connection: str
    """Fresh id of this connection."""
    session: str = ""
    """From the path, where the document puts it there."""
    fresh_request: str = ""
    """The requestId given to a connection that brings none (document 2)."""
    default_project: str = ""
    nesting_limit: int = 64
    details_limit: int = 1024 * 1024
    """Bytes that the typed fields beside a result may have (`details.py`)."""


class Dialect(ABC):
    """One connection's way of speaking."""

    name: ClassVar[DialectName]
    idle_timeout: ClassVar[bool] = False
    """Whether a silent client is closed (document 2, 6.3)."""
    limited_turns: ClassVar[bool] = False
    """Whether a turn may only take `turn_timeout` (document 2, 6.3)."""

    shows: ClassVar[frozenset[type[Event]]]
    """The kinds of events that `render` has anything to say about."""

    session: str
    """The name of the session this connection takes part in."""
    project: str
    """The project the connection named; may be a label the gateway does not know."""
    placement: Placement
    """Where tools of turns asked here run: `server` with `?tools=server`."""
    watches: bool
    """True with `?watch=1`: sees calls and results, never runs any."""
    detailed: bool
    """True with `?details=1`: its results may have more than the document's fields (`details.py`)."""

    mode: Mode = "agent"
    """What turns and calls asked here may do, where the document lets a connection say so."""

    def __init__(self, handshake: Handshake) -> None:
        """Raises HandshakeRefused, naming the parameter at fault; `refusal` then says so in the dialect."""
        self.handshake = handshake
        names.check_text(handshake.query)
        names.optional(handshake.query, "ledger")
        tools = handshake.query.get("tools", "client")
        if tools not in ("client", "server"):
            raise HandshakeRefused(f"tools is client or server, not {tools[:80]!r}", field="tools")
        self.placement = "server" if tools == "server" else "client"
        self.detailed = handshake.query.get("details") == "1"
        watch = handshake.query.get("watch", "")
        if watch not in _WATCH:
            raise HandshakeRefused(f"watch is 1 or 0, not {watch[:80]!r}", field="watch")
        self.watches = _WATCH[watch]

    @classmethod
    @abstractmethod
    def refusal(cls, error: ToolwireError) -> bytes:
        """What a connection that can't be opened is told before it is closed with 1008."""

    @abstractmethod
    def greeting(self, now: int) -> list[bytes]:
        """What a connection is told first."""

    @abstractmethod
    def decode(self, message: bytes) -> Command:
        """A command; raises InvalidMessage."""

    @abstractmethod
    def render(self, event: AnyEvent) -> list[bytes]:
        """What every connection is told of an event; often nothing."""

    @abstractmethod
    def call(self, event: CallRequested) -> bytes:
        """The tool call, for the client that runs it."""

    @abstractmethod
    def mirror(self, event: AnyEvent) -> list[bytes]:
        """What a watching connection is told beside `render` and `call`: prompts, results."""

    @abstractmethod
    def error(self, error: ToolwireError, *, request: str = "") -> bytes:
        """An error as this dialect says it."""

    @abstractmethod
    def pong(self, ping: Ping, now: int) -> bytes | None:
        """The answer to the dialect's heartbeat, if it has one."""

    def prompt_project(self, prompt: Prompt) -> str:
        """The project a prompt is about: its own, else the connection's."""
        return prompt.project or self.project
