"""The record: what a session's log, its conversations and their messages are kept in."""

from __future__ import annotations

from pathlib import Path

from toolwire.errors import ConfigError
from toolwire.settings import Settings
from toolwire.store.base import SessionRecord, SessionSummary, Store
from toolwire.store.sqlite_file import default_path, default_url

__all__ = ["SessionRecord", "SessionSummary", "Store", "default_path", "default_url", "open_store"]

FORMS = "sqlite:/// followed by an absolute path, or memory:"
_SQLITE = "sqlite:///"


def open_store(url: str, settings: Settings | None = None) -> Store:
    """The store a URL names, not started yet."""
    if url in ("memory:", "memory://"):
        from toolwire.store.memory import MemoryStore

        return MemoryStore(settings)
    if url.startswith(_SQLITE):
        from toolwire.store.sqlite import SqliteStore

        path = Path(url.removeprefix(_SQLITE))
        if not path.is_absolute():
            raise ConfigError(f"--store {url}: the path is not absolute", field="store", hint=f"write {FORMS}")
        return SqliteStore(path, settings)
    raise ConfigError(f"--store {url}: no such kind of store", field="store", hint=f"there are: {FORMS}")
