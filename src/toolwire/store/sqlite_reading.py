"""An SQLite store that is only looked at: nothing is made, changed or brought up to date. Its gateway may run."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from toolwire.core.events import AnyEvent
from toolwire.errors import ConfigError, StoreError
from toolwire.settings import Settings
from toolwire.store.base import SessionSummary
from toolwire.store.migrations import VERSION
from toolwire.store.sqlite_file import explained
from toolwire.store.sqlite_places import read_events
from toolwire.store.sqlite_sessions import session_records, summaries

T = TypeVar("T")


@contextmanager
def reading(path: Path, settings: Settings) -> Iterator[StoreReader]:
    """Raises ConfigError for a file that is missing, StoreError for one that is no store or of another layout."""
    if not path.is_file():
        hint = "name another store with --store or --url"
        raise ConfigError(f"nothing is recorded yet: there is no {path}", field="store", hint=hint)
    with closing(_opened(path, settings)) as connection:
        reader = StoreReader(path, connection)
        reader.check_layout()
        yield reader


class StoreReader:
    """Each question is answered from what is committed when it is asked."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    def sessions(self, limit: int) -> list[SessionSummary]:
        """Of all tenants, the most recently used first."""
        return self._ask(lambda connection: summaries(None, limit, connection))

    def number(self, tenant: str, name: str) -> int | None:
        """The session's number, if there is such a session."""
        found = self._ask(
            lambda connection: session_records(connection, "WHERE tenant = ? AND name = ?", tenant, name)
        )
        return found[0].number if found else None

    def events(self, session: int, after: int, limit: int) -> list[AnyEvent]:
        return self._ask(lambda connection: read_events(connection, session, after, limit))

    def check_layout(self) -> None:
        version = self._ask(_version)
        if version is None:
            raise StoreError(f"{self._path} is not a store of toolwire", hint="name another file with --store")
        if version == VERSION:
            return
        hint = "use the newer toolwire that wrote it"
        if version < VERSION:
            hint = (
                f"start its gateway once, which brings it up to date: toolwire serve --store sqlite:///{self._path}"
            )
        raise StoreError(f"{self._path} has layout version {version}, and this program reads {VERSION}", hint=hint)

    def _ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        try:
            self._connection.execute("BEGIN")
            try:
                return question(self._connection)
            finally:
                self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise explained(self._path, error) from error
        except msgspec.DecodeError as error:
            raise StoreError(f"{self._path}: the store's file is damaged: {error}") from error


def _opened(path: Path, settings: Settings) -> sqlite3.Connection:
    """Beside a gateway that writes; or, where not even SQLite's own side files can be made, as a file that nobody
    changes, if all of it is in that file."""
    log = path.with_name(f"{path.name}-wal")
    whole = not log.exists() or log.stat().st_size == 0
    for how in ("mode=ro", "immutable=1"):
        connection = sqlite3.connect(
            f"{path.as_uri()}?{how}", uri=True, timeout=settings.store_busy_timeout, isolation_level=None
        )
        try:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            return connection
        except sqlite3.Error as error:
            connection.close()
            if not whole or how != "mode=ro" or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CANTOPEN:
                raise explained(path, error) from error
    raise AssertionError("unreachable")


def _version(connection: sqlite3.Connection) -> int | None:
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'meta'").fetchone() is None:
        return None
    row = connection.execute("SELECT version FROM meta").fetchone()
    return row[0] if row is not None and isinstance(row[0], int) else None
