"""The contract of an agent: it is given a turn and answers it, through the turn, piece by piece.

An agent returns when it is done and raises AgentError when it can't go on. It is cancelled when its turn ends for
another reason (stop, override, timeout, shutdown); from then on every method of the turn raises TurnOver.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from toolwire.core.events import CallSettled, Message, Mode, Placement, Stage


class Ask(msgspec.Struct, frozen=True):
    """A tool call an agent wants. `placement` None: where the turn's tools run."""

    tool: str
    arguments: Mapping[str, Any]
    placement: Placement | None = None


class Turn(Protocol):
    """What an agent sees of its turn."""

    @property
    def id(self) -> str: ...
    @property
    def prompt(self) -> str: ...
    @property
    def project(self) -> str: ...
    @property
    def mode(self) -> Mode: ...
    @property
    def history(self) -> Sequence[Message]:
        """Earlier messages of the conversation, oldest first, without the prompt."""
        ...

    async def choose(self, agent: str, *, degraded: bool = False, reason: str = "") -> None:
        """Put on record which agent answers. Called once by whoever hands the turn on, not by the agent itself."""
        ...

    async def say(self, text: str, *, final: bool = False) -> None:
        """Send a piece of text. It goes out as it is; waits only when readers or the store can't keep up."""
        ...

    async def think(self, text: str, *, stage: Stage | None = None, percent: int | None = None) -> None:
        """Tell progress. `percent` is done/planned work."""
        ...

    async def call(self, asks: Sequence[Ask]) -> Sequence[CallSettled]:
        """Run tools, all at once; gives their outcomes in the order asked, when all have one.

        `outcome == "ok"` has `result`: text (clients of documents 1 and 2) or an object (document 5, and tools the
        gateway runs); any other outcome has `error`, a sentence.
        """
        ...


class Agent(ABC):
    """Something that can answer turns. One instance serves many at once, so it keeps no state of a turn."""

    name: str
    """As written after `--agent`, and as told in AgentChosen."""

    @abstractmethod
    async def answer(self, turn: Turn) -> None:
        """Answer the turn."""

    async def ready(self) -> str | None:
        """None if it can answer now, else a sentence that says what is missing."""
        return None

    async def close(self) -> None:  # noqa: B027 (most agents hold nothing)
        """Let go of what it holds."""
