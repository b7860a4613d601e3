"""Events and stores for the store's tests, and a listener that remembers what it was told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from support.patience import PATIENCE
from toolwire.core.events import AnyEvent, CallRequested, CallSettled, MessageAdded, Said, TurnAsked, TurnEnded
from toolwire.errors import StoreError
from toolwire.settings import Settings
from toolwire.store import Store
from toolwire.store.sqlite import SqliteStore


def said(first: int, count: int = 1, text: str = "piece") -> list[AnyEvent]:
    return [Said(seq, 1000 + seq, "t1", "r1", text, seq - first) for seq in range(first, first + count)]


def asked(seq: int, prompt: str = "why?", turn: str = "t1", conversation: str = "c") -> TurnAsked:
    return TurnAsked(seq, 1000 + seq, turn, "r1", prompt, conversation)


def ended(
    seq: int, text: str = "because", *, turn: str = "t1", rounds: int = 1, conversation: str = "c"
) -> TurnEnded:
    return TurnEnded(seq, 1000 + seq, turn, "r1", conversation, "completed", "why?", text, rounds=rounds)


def added(seq: int, text: str, conversation: str = "c") -> MessageAdded:
    return MessageAdded(seq, 1000 + seq, conversation, "system", text)


def own_call(seq: int) -> CallRequested:
    return CallRequested(seq, 1000 + seq, "", "", f"grep-{seq}", "grep_file", {"q": "x"}, "server", True)


def own_call_settled(seq: int, of: int) -> CallSettled:
    return CallSettled(seq, 1000 + seq, "", "", f"grep-{of}", "grep_file", "ok", {"content": "…"})


class Listener:
    """What a store told about appends, in the order it told it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.told: list[tuple[int, list[AnyEvent], StoreError | None]] = []
        self._news = asyncio.Event()

    def append(self, session: int, events: list[AnyEvent]) -> None:
        self.store.append(
            session,
            events,
            lambda done: self._hear(session, done, None),
            lambda lost, error: self._hear(session, lost, error),
        )

    def _hear(self, session: int, events: list[AnyEvent], error: StoreError | None) -> None:
        self.told.append((session, events, error))
        self._news.set()

    async def heard(self, count: int) -> None:
        """Wait until the store has told about that many appends."""
        while len(self.told) < count:
            self._news.clear()
            await self._news.wait()

    async def settled(self) -> None:
        await asyncio.wait_for(self.store.drained(), PATIENCE)

    async def stored(self, session: int, events: list[AnyEvent]) -> None:
        """Append, and insist that it is committed."""
        self.append(session, events)
        await self.settled()
        told_session, told, error = self.told[-1]
        assert error is None, error
        assert (told_session, told) == (session, events)

    async def refused(self, session: int, events: list[AnyEvent]) -> StoreError:
        """Append, and insist that it fails."""
        self.append(session, events)
        await self.settled()
        told_session, lost, error = self.told[-1]
        assert (told_session, lost) == (session, events)
        assert error is not None, "it was committed"
        return error

    @property
    def errors(self) -> list[StoreError]:
        return [error for _, _, error in self.told if error is not None]


async def new_session(store: Store, name: str = "s", tenant: str = "", epoch: str = "e1", now: int = 1) -> int:
    return (await store.open_session(tenant, name, epoch=epoch, now=now)).number


QUICK = Settings(store_busy_timeout=0.05, store_close_timeout=5.0)
"""Gives up on a locked file at once."""


@asynccontextmanager
async def opened(path: Path, settings: Settings = QUICK) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path, settings)
    await store.start()
    try:
        yield store
    finally:
        await store.close()


def url_of(path: Path) -> str:
    return f"sqlite:///{path}"
