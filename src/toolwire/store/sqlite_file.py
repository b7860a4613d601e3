"""The file of an SQLite store: where it lies, how it is opened, and what its errors mean."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

import platformdirs

from toolwire.errors import StoreError
from toolwire.settings import Settings
from toolwire.store.tables import Tables

FILE_MODE = 0o600
FOLDER_MODE = 0o700
OLDEST_SQLITE = (3, 35, 0)
WAL_PAUSE = 0.005

_MEANING = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_BUSY: "another process holds the store's lock",
    sqlite3.SQLITE_LOCKED: "another process holds the store's lock",
    sqlite3.SQLITE_READONLY: "the store's file can't be written",
    sqlite3.SQLITE_CANTOPEN: "the store's file can't be opened",
    sqlite3.SQLITE_IOERR: "reading or writing the disk failed",
    sqlite3.SQLITE_CORRUPT: "the store's file is damaged",
    sqlite3.SQLITE_NOTADB: "the file is not an SQLite database",
}
_PASSES = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR)
"""Causes that may go away by themselves."""


def default_path() -> Path:
    """Where the platform keeps a program's state."""
    return platformdirs.user_state_path("toolwire", appauthor=False) / "toolwire.db"


def default_url() -> str:
    return f"sqlite:///{default_path()}"


def make_file(path: Path) -> None:
    """Make the file and its folder if they are missing, readable by nobody else."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise StoreError(f"SQLite {sqlite3.sqlite_version} is too old: {'.'.join(map(str, OLDEST_SQLITE))} is needed")
    try:
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE))
    except OSError as error:
        raise StoreError(
            f"{path}: the store can't be opened: {error.strerror}", hint="name another file with --store"
        ) from error


def connect(path: Path, settings: Settings, *, read_only: bool = False) -> Tables:
    """A connection in WAL mode to a file that exists; transactions are begun and ended by hand."""
    try:
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=rw",
            uri=True,
            timeout=settings.store_busy_timeout,
            isolation_level=None,
            check_same_thread=False,
            factory=Tables,
        )
        try:
            _use_wal(connection, settings.store_busy_timeout)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {settings.store_wal_pages}")
            connection.execute(f"PRAGMA journal_size_limit = {settings.store_wal_bytes}")
            if read_only:
                connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise explained(path, error) from error
    return connection


def _use_wal(connection: sqlite3.Connection, patience: float) -> None:
    """Of several that open a new file at once one makes this change; SQLite does not let the others wait for it."""
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(WAL_PAUSE)


def explained(path: Path, error: Exception) -> StoreError:
    """An SQLite error in the store's words."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    meaning = _MEANING.get(code)
    told = StoreError(f"{path}: {meaning} ({error})" if meaning else f"{path}: {error}")
    told.retryable = code in _PASSES
    return told
