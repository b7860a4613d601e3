"""Keeps the key and the heads of an SQLite store: what proves, apart from the store's file, how far its log went.

Lives in the writer's thread. A head that can't be written does not fail the commit it is of, which has happened; the
next one makes up for it.
"""

from __future__ import annotations

import logging
import sqlite3
from functools import partial
from pathlib import Path

from toolwire.errors import StoreError
from toolwire.seal.files import audit_files
from toolwire.seal.heads import Heads
from toolwire.seal.key import load_key
from toolwire.settings import Settings
from toolwire.store.sqlite_seals import Tip, good_heads

log = logging.getLogger(__name__)


class Witness:
    def __init__(self, store: Path, settings: Settings) -> None:
        self._files = audit_files(store, settings.audit_folder)
        self._heads = Heads(self._files.heads)
        self._limit = self._compact_at = settings.audit_heads_bytes
        self._headed = 0
        """The last row that has a head of ours."""
        self.key = b""

    def open(self, connection: sqlite3.Connection) -> None:
        """Before the first commit. `connection` is in no transaction."""
        folder = self._files.key.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{folder}: the audit folder can't be made: {error.strerror}") from error
        self.key = load_key(self._files.key)
        last = connection.execute("SELECT max(id) FROM log WHERE chain IS NOT NULL").fetchone()[0]
        self._heads.open(last or 0)

    def committed(self, tip: Tip) -> None:
        """The log up to here is on disk: it may be said so."""
        if tip.row <= self._headed:
            return
        try:
            self._heads.add(tip.row, tip.seal)
            self._headed = tip.row
        except (OSError, StoreError) as error:
            log.error("the audit head of row %d is not written yet: %s", tip.row, error)

    def tidy(self, connection: sqlite3.Connection) -> None:
        """Now and then: shorten the file."""
        if self._heads.size < self._compact_at:
            return
        try:
            self._heads.compact(partial(good_heads, connection))
        except (OSError, sqlite3.Error) as error:
            log.warning("the audit heads could not be shortened: %s", error)
        # What had to stay is counted again: a file full of evidence is not read over and over.
        self._compact_at = self._heads.size + self._limit

    def close(self) -> None:
        self._heads.close()
