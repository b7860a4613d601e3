"""The embedded store: one SQLite file in WAL mode, one writer thread with group commit, reads beside it.

Synced before it is told, unless everything in a commit is passing (design, "Stored before seen").
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from toolwire.core.events import AnyEvent, Message
from toolwire.errors import StoreError
from toolwire.settings import Settings
from toolwire.store.base import Committed, Failed, SessionRecord, SessionSummary, Store
from toolwire.store.group_commit import Append, GroupCommit
from toolwire.store.sqlite_file import connect, explained
from toolwire.store.sqlite_places import read_events
from toolwire.store.sqlite_sessions import session_records, summaries
from toolwire.store.sqlite_writer import SqliteWriter
from toolwire.store.tables import Key

T = TypeVar("T")


class SqliteStore(Store):
    def __init__(self, path: Path, settings: Settings | None = None) -> None:
        self._path = path
        self._settings = settings or Settings()
        self._writer = SqliteWriter(path, self._settings)
        self._commits = GroupCommit(
            opened=self._writer.open,
            commit=self._writer.commit,
            tidy=self._writer.tidy,
            closed=self._writer.close,
            limit=self._settings.store_commit_events,
        )
        self._readers: ThreadPoolExecutor | None = None
        self._reader = threading.local()
        self._connections: list[sqlite3.Connection] = []

    @property
    def file(self) -> Path:
        return self._path

    async def start(self) -> None:
        await self._commits.start()
        self._readers = ThreadPoolExecutor(self._settings.store_readers, "toolwire-store-read")

    async def close(self) -> None:
        readers, self._readers = self._readers, None
        if readers is not None:
            await asyncio.to_thread(readers.shutdown)
            for connection in self._connections:
                connection.close()
            self._connections.clear()
        await self._commits.close(self._settings.store_close_timeout)

    async def open_session(self, tenant: str, name: str, *, epoch: str, now: int) -> SessionRecord:
        return await self._commits.ask(partial(self._writer.open_session, tenant, name, epoch, now))

    def append(self, session: int, events: list[AnyEvent], committed: Committed, failed: Failed) -> None:
        self._commits.append(session, events, committed, failed)

    @property
    def backlog(self) -> int:
        return self._commits.backlog

    async def drained(self) -> None:
        await self._commits.drained()

    async def find_session(self, tenant: str, name: str) -> SessionRecord | None:
        def find(connection: sqlite3.Connection) -> SessionRecord | None:
            found = session_records(connection, "WHERE tenant = ? AND name = ?", tenant, name)
            return found[0] if found else None

        return await self._ask(find)

    async def read(self, session: int, *, after: int = 0, limit: int = 1000) -> list[AnyEvent]:
        return await self._ask(lambda connection: read_events(connection, session, after, limit))

    async def history(self, tenant: str, conversation: str, limit: int) -> list[Message]:
        await self._commits.drained()
        return await self._ask(partial(_history, tenant, conversation, limit))

    async def sessions(self, tenant: str | None = None, *, limit: int = 100) -> list[SessionSummary]:
        return await self._ask(partial(summaries, tenant, limit))

    async def unfinished(self) -> list[SessionRecord]:
        return await self._ask(lambda connection: session_records(connection, "WHERE open > 0 ORDER BY number"))

    def transact(
        self, work: Callable[[sqlite3.Connection], T], *, append: Append | None = None, claims: Key | None = None
    ) -> Awaitable[T]:
        return self._commits.transact(lambda: work(self._writer.connection), append, claims)

    async def query(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._ask(work)

    async def _ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        if self._readers is None:
            raise StoreError("the store is not open")
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._answer, question)

    def _answer(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """In a reader's thread, on its own connection, all of it at one point of time."""
        connection: sqlite3.Connection | None = getattr(self._reader, "connection", None)
        if connection is None:
            connection = self._reader.connection = connect(self._path, self._settings, read_only=True)
            self._connections.append(connection)
        try:
            connection.execute("BEGIN")
            try:
                return question(connection)
            finally:
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise explained(self._path, error) from error
        except msgspec.DecodeError as error:
            raise StoreError(f"{self._path}: the store's file is damaged: {error}") from error


def _history(tenant: str, conversation: str, limit: int, connection: sqlite3.Connection) -> list[Message]:
    newest_first = connection.execute(
        "SELECT role, text FROM messages WHERE tenant = ? AND conversation = ? ORDER BY id DESC LIMIT ?",
        (tenant, conversation, limit),
    ).fetchall()
    found: list[Message] = []
    for role, text in newest_first:
        if role == "reset":
            break
        found.append(Message(role, text))
    return found[::-1]
