"""What the writer remembers of sessions between commits, so that it need not look in the file for every append."""

from __future__ import annotations

import sqlite3

from toolwire.store.sqlite_places import indexed_last
from toolwire.store.sqlite_seals import last_hash

KNOWN_SESSIONS = 65_536
"""Sessions whose tenant and last event are remembered between commits."""


class KnownSessions:
    """The last event of sessions, the hash of their last run, and their tenant.

    `fresh` and `fresh_hashes` are as the transaction that is being made will leave them.
    """

    __slots__ = ("_connection", "_hashes", "_tenants", "fresh", "fresh_hashes", "lasts")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.lasts: dict[int, int] = {}
        """At least of those in rows that are not in `places`."""
        self._hashes: dict[int, bytes] = {}
        self._tenants: dict[int, str] = {}
        self.fresh: dict[int, int] = {}
        self.fresh_hashes: dict[int, bytes] = {}

    def begin(self) -> None:
        self.fresh, self.fresh_hashes = {}, {}

    def committed(self) -> None:
        self.lasts.update(self.fresh)
        self._hashes.update(self.fresh_hashes)

    def rolled_back(self) -> None:
        """A session made in this transaction never was: its number may become another tenant's."""
        self._tenants.clear()

    def saw(self, session: int, last: int, run_hash: bytes) -> None:
        """A run that another process has added."""
        self.lasts[session] = last
        self._hashes[session] = run_hash

    def indexed(self, *, unseen: bool) -> None:
        """All runs are in `places` now. `unseen`: among them are some that we have not seen."""
        if unseen or len(self.lasts) > KNOWN_SESSIONS:
            self.lasts.clear()
            self._hashes.clear()
            self._tenants.clear()

    def last(self, session: int) -> int | None:
        """The sequence number of a session's last event; None if there is no such session."""
        last = self.fresh.get(session) or self.lasts.get(session)
        if last is None and self.tenant(session) is not None:
            last = self.lasts[session] = indexed_last(self._connection, session)
        return last

    def hash(self, session: int) -> bytes:
        """The hash of a session's last run, which its next one goes on from."""
        found = self.fresh_hashes.get(session) or self._hashes.get(session)
        return found or last_hash(self._connection, session)

    def tenant(self, session: int) -> str | None:
        tenant = self._tenants.get(session)
        if tenant is None:
            found = self._connection.execute("SELECT tenant FROM sessions WHERE number = ?", (session,)).fetchone()
            if found is not None:
                tenant = self._tenants[session] = found[0]
        return tenant
