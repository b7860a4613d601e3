"""What the writer thread of the SQLite store does with a batch: check it, commit it, and note where it lies."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

from toolwire.core.events import PASSING, AnyEvent, encode_run
from toolwire.errors import StoreError
from toolwire.settings import Settings
from toolwire.store.base import SessionRecord
from toolwire.store.group_commit import Append, Errand, Transact, Work
from toolwire.store.migrations import migrate
from toolwire.store.refusals import UNSTORABLE, follows, not_following, nowhere, unstorable
from toolwire.store.sqlite_file import connect, explained, make_file
from toolwire.store.sqlite_places import index_tail, indexed_last, last_row, runs_after
from toolwire.store.sqlite_rows import Rows

KNOWN_SESSIONS = 65_536
"""Sessions whose tenant and last event are remembered between commits."""

_PASSING = frozenset(PASSING)


class SqliteWriter:
    """Lives in the writer thread, but for its making."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self._path = path
        self._settings = settings
        self._connection: sqlite3.Connection
        self._inode: tuple[int, int]
        self._row = 0
        """The last row of the log that is known here."""
        self._index_at = 0
        """With this row it is time to enter the log's new rows in `places`."""
        self._lasts: dict[int, int] = {}
        """The last event of sessions; at least of those in rows that are not in `places`."""
        self._fresh: dict[int, int] = {}
        """The same, as the transaction that is being made will leave it."""
        self._tenants: dict[int, str] = {}
        self._syncing = True

    def open(self) -> None:
        make_file(self._path)
        self._connection = connect(self._path, self._settings)
        try:
            migrate(self._connection)
            self._index()
            self._inode = _inode(self._path)
        except (sqlite3.Error, OSError) as error:
            self._connection.close()
            raise explained(self._path, error) from error
        except StoreError:
            self._connection.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def commit(self, batch: list[Work]) -> None:
        """Commit a batch. What can't be committed gets an error; nothing is raised."""
        try:
            self._check_file()
            try:
                self._try(batch)
            except sqlite3.IntegrityError:
                # Another process has added to the log. Holding the lock, we can see what.
                self._roll_back()
                self._try(batch, locked=True)
        except Exception as error:
            self._roll_back()
            told = error if isinstance(error, StoreError) else explained(self._path, error)
            for work in batch:
                work.error = work.error or told

    def tidy(self) -> None:
        """After a batch: enter the log's new rows in `places`, once there are enough of them."""
        if self._row < self._index_at:
            return
        try:
            self._index()
        except sqlite3.Error:
            # Nothing is lost: until it works, a reader looks through the rows themselves.
            self._roll_back()
            self._index_at = self._row + self._settings.store_index_rows

    def open_session(self, tenant: str, name: str, epoch: str, now: int) -> SessionRecord:
        """Runs as an errand, inside the transaction of its batch."""
        self._connection.execute(
            "INSERT INTO sessions (tenant, name, epoch, created, updated) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            (tenant, name, epoch, now, now),
        )
        number, epoch, rest = self._connection.execute(
            "SELECT number, epoch, rest FROM sessions WHERE tenant = ? AND name = ?", (tenant, name)
        ).fetchone()
        return SessionRecord(number, tenant, name, epoch, self._last(number) or 0, rest)

    # One transaction ---------------------------------------------------------------------------------------

    def _try(self, batch: list[Work], *, locked: bool = False) -> None:
        self._fresh = {}
        self._sync(_must_sync(batch))
        if locked or any(isinstance(work, Errand) for work in batch):
            self._begin()
        row = self._row
        appends: list[Append] = []
        for work in batch:
            work.error = None
            if isinstance(work, Append):
                appends.append(work)
            elif isinstance(work, Errand):
                row = self._add(appends, row)
                appends = []
                if isinstance(work, Transact):
                    row = self._together(work, row)
                else:
                    _do(work)
        row = self._add(appends, row)
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")
        self._row = row
        self._lasts.update(self._fresh)

    def _together(self, work: Transact[Any], row: int) -> int:
        """Run a transaction inside the batch's: it fails alone, with everything it did."""
        before = self._fresh.copy()
        self._connection.execute("SAVEPOINT together")
        try:
            work.result = work.run()
            if work.append is not None:
                work.append.error = None
                row = self._add([work.append], row)
                if work.append.error is not None:
                    raise work.append.error
        except sqlite3.OperationalError:  # the disk or the lock, not this piece of work
            raise
        except Exception as error:
            self._connection.execute("ROLLBACK TO together")
            self._fresh = before
            work.error = error
        self._connection.execute("RELEASE together")
        return row

    @property
    def connection(self) -> sqlite3.Connection:
        """For what runs in the writer's thread."""
        return self._connection

    def _begin(self) -> None:
        """Take the lock, and learn what other processes have added meanwhile."""
        self._connection.execute("BEGIN IMMEDIATE")
        for row, runs in runs_after(self._connection, self._row):
            self._row = row
            self._lasts.update((run[0], run[2]) for run in runs)

    def _add(self, appends: list[Append], row: int) -> int:
        """Add to the tables, after a given row of the log. One statement is its own transaction."""
        rows = self._rows(appends, row)
        statements = list(rows.statements())
        if len(statements) > 1 and not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
        for statement, parameters in statements:
            self._connection.execute(statement, parameters)
        return rows.row

    def _roll_back(self) -> None:
        # A session made in this transaction never was: its number may become another tenant's.
        self._tenants.clear()
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            # The failure that brought us here is the one to be told.
            return

    def _index(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        index_tail(self._connection)
        row = last_row(self._connection)
        self._connection.execute("COMMIT")
        if row != self._row or len(self._lasts) > KNOWN_SESSIONS:
            # Rows we have not seen may be of these sessions. They are all in `places` now.
            self._lasts.clear()
            self._tenants.clear()
        self._row = row
        self._index_at = row + self._settings.store_index_rows

    def _sync(self, wanted: bool) -> None:
        if wanted is not self._syncing:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if wanted else 'NORMAL'}")
            self._syncing = wanted

    def _check_file(self) -> None:
        """SQLite would go on writing into a file that has been deleted."""
        try:
            inode = _inode(self._path)
        except OSError as error:
            raise StoreError(f"{self._path}: the store's file is gone ({error.strerror})") from error
        if inode != self._inode:
            raise StoreError(f"{self._path}: the store's file was replaced by another", hint="restart the gateway")

    # From appends to rows ----------------------------------------------------------------------------------

    def _rows(self, appends: list[Append], row: int) -> Rows:
        before = self._fresh.copy()
        try:
            return self._gather(appends, row)
        except UNSTORABLE:
            # Find the culprits, and let the others through. (What follows one in its session fails as well.)
            self._fresh = before
            for append in appends:
                append.error = _trouble(append.events)
            return self._gather([append for append in appends if append.error is None], row)

    def _gather(self, appends: list[Append], row: int) -> Rows:
        runs: dict[int, list[AnyEvent]] = {}
        fresh, lasts = self._fresh, self._lasts
        for append in appends:
            session, events = append.session, append.events
            if not events:
                continue
            last = fresh.get(session) or lasts.get(session)
            if last is None:
                last = self._last(session)
            if last is None:
                append.error = nowhere(session)
            elif not follows(events, last):
                append.error = not_following(session, events[0].seq, last)
            else:
                fresh[session] = events[-1].seq
                run = runs.get(session)
                runs[session] = events if run is None else run + events
        rows = Rows(row, row_bytes=self._settings.store_row_bytes, prompt_preview=self._settings.prompt_preview)
        for session, events in runs.items():
            rows.add(session, self._tenant, events)
        return rows

    def _last(self, session: int) -> int | None:
        """The sequence number of a session's last event; None if there is no such session."""
        last = self._fresh.get(session) or self._lasts.get(session)
        if last is None and self._tenant(session) is not None:
            last = self._lasts[session] = indexed_last(self._connection, session)
        return last

    def _tenant(self, session: int) -> str | None:
        tenant = self._tenants.get(session)
        if tenant is None:
            found = self._connection.execute("SELECT tenant FROM sessions WHERE number = ?", (session,)).fetchone()
            if found is not None:
                tenant = self._tenants[session] = found[0]
        return tenant


def _do(errand: Errand[Any]) -> None:
    try:
        errand.result = errand.run()
    except UNSTORABLE as error:
        errand.error = unstorable(error)


def _trouble(events: list[AnyEvent]) -> StoreError | None:
    try:
        encode_run(events)
    except UNSTORABLE as error:
        return unstorable(error)
    return None


def _must_sync(batch: list[Work]) -> bool:
    for work in batch:
        if isinstance(work, Append):
            for event in work.events:
                if type(event) not in _PASSING:
                    return True
        elif isinstance(work, Transact):
            return True
    return False


def _inode(path: Path) -> tuple[int, int]:
    found = os.stat(path)  # noqa: PTH116 - once per commit; the shorter way
    return found.st_dev, found.st_ino
