"""The contract of a store. One test suite (tests/contract/) holds for every implementation.

- `append` never blocks: it queues events for the next group commit. When they are committed (and, unless all of them
  are `PASSING`, synced), `committed(events)` is called on the event loop, in the order of `append`.
- If they can't be committed, `failed(events, error)` is called instead, and the session must be opened again.
- Everything else is a coroutine and may raise StoreError.
- A session is found by tenant and name, and known to the store by a number. Its log has an epoch.
- A reader sees every committed event, and no other.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from toolwire.core.events import AnyEvent, Message
from toolwire.errors import StoreError

if TYPE_CHECKING:
    from toolwire.store.group_commit import Append
    from toolwire.store.tables import Key

T = TypeVar("T")
Committed = Callable[[list[AnyEvent]], None]
Failed = Callable[[list[AnyEvent], StoreError], None]


class Withdrawn(Exception):
    """Raised by the work of `transact`: undo what it did to the tables, do `instead`, and store its events all the
    same. `outcome` is what `transact` gives."""

    def __init__(self, outcome: object, instead: Callable[[sqlite3.Connection], None] | None = None) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.instead = instead


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session as the store knows it when it is opened."""

    number: int
    tenant: str
    name: str
    epoch: str
    last: int
    """Sequence number of the last event; 0 for a new session."""
    rest: int
    """Up to here nothing is open (see `events.opens`): going on needs only the events after it."""


class SessionSummary(msgspec.Struct, frozen=True):
    """A line of `toolwire sessions`."""

    name: str
    tenant: str
    epoch: str
    created: int
    updated: int
    turns: int
    open: int
    """Turns (and clients' own calls) that have not ended."""
    last: int
    last_prompt: str = ""
    """Shortened."""


class Store(ABC):
    """Where events go before anybody sees them."""

    @property
    def file(self) -> Path | None:
        """The file it lies in, if it does, for what is kept beside it."""
        return None

    @abstractmethod
    async def start(self) -> None:
        """Open, and bring an older layout up to date."""

    @abstractmethod
    async def close(self) -> None:
        """Commit what is queued, then let go."""

    @abstractmethod
    async def open_session(self, tenant: str, name: str, *, epoch: str, now: int) -> SessionRecord:
        """Find a session, or make it with the given epoch."""

    @abstractmethod
    async def find_session(self, tenant: str, name: str) -> SessionRecord | None:
        """Find a session without making it."""

    @abstractmethod
    def append(self, session: int, events: list[AnyEvent], committed: Committed, failed: Failed) -> None:
        """Queue consecutive events of one session for the next commit. The list is the store's from here on.

        Appends of one session that get into the same commit may be told to `committed` together.
        """

    @property
    @abstractmethod
    def backlog(self) -> int:
        """Events queued and not committed yet."""

    @abstractmethod
    async def drained(self) -> None:
        """Wait until everything queued by now is committed (or has failed)."""

    @abstractmethod
    async def read(self, session: int, *, after: int = 0, limit: int = 1000) -> list[AnyEvent]:
        """At most `limit` events with greater sequence numbers than `after`, in order."""

    @abstractmethod
    async def history(self, tenant: str, conversation: str, limit: int) -> list[Message]:
        """The last messages of a conversation since it was last reset, oldest first.

        Waits for what is queued: the turn before may have ended in the same moment.
        """

    @abstractmethod
    async def sessions(self, tenant: str | None = None, *, limit: int = 100) -> list[SessionSummary]:
        """Sessions, the most recently used first."""

    @abstractmethod
    async def unfinished(self) -> list[SessionRecord]:
        """Sessions in which something is open: after a crash, these need looking after."""

    @abstractmethod
    def transact(
        self, work: Callable[[sqlite3.Connection], T], *, append: Append | None = None, claims: Key | None = None
    ) -> Awaitable[T]:
        """Run `work` on the store's tables in one synced transaction, together with events of a session's log.

        Its place among other work is taken at once, as with `append`; await it for what `work` returns.
        Either all of it is committed or nothing; what `work` raises undoes it and is raised here, but for
        `Withdrawn`. The events of `append` are told to its callbacks as always. (`work` runs in another thread: it
        must touch nothing else. It may be run again from the start if another process was quicker.) `claims` is the
        idempotency key that `work` will claim, for a store that looks up those of a whole commit at once.
        """

    @abstractmethod
    async def query(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work`, which only reads, on a consistent view of the tables."""
