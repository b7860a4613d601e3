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
from toolwire.store.group_commit import Append, Errand, Mark, Transact, Work
from toolwire.store.migrations import migrate
from toolwire.store.refusals import UNSTORABLE, follows, not_following, nowhere, unstorable
from toolwire.store.sqlite_file import connect, explained, make_file
from toolwire.store.sqlite_places import index_tail, indexed_last
from toolwire.store.sqlite_rows import Rows
from toolwire.store.sqlite_seals import Tip, hash_at, last_hash, read_tip, sealed_after
from toolwire.store.witness import Witness

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
        self._witness = Witness(path, settings)
        self._tip = Tip(0, b"", 0, b"")
        """The end of the log as far as it is known here."""
        self._synced = self._tip
        """The end of the log as it was last synced to disk by us."""
        self._index_at = 0
        """With this row it is time to enter the log's new rows in `places`."""
        self._lasts: dict[int, int] = {}
        """The last event of sessions; at least of those in rows that are not in `places`."""
        self._fresh: dict[int, int] = {}
        """The same, as the transaction that is being made will leave it."""
        self._hashes: dict[int, bytes] = {}
        self._fresh_hashes: dict[int, bytes] = {}
        """Hashes of sessions' last runs, in the same two ways."""
        self._tenants: dict[int, str] = {}
        self._syncing = True

    def open(self) -> None:
        make_file(self._path)
        self._connection = connect(self._path, self._settings)
        try:
            migrate(self._connection)
            self._witness.open(self._connection)
            self._index()
            self._inode = _inode(self._path)
        except (sqlite3.Error, OSError) as error:
            self._connection.close()
            raise explained(self._path, error) from error
        except StoreError:
            self._connection.close()
            raise

    def close(self) -> None:
        try:
            # Whatever was committed without a sync gets one, and may then have its head.
            self._sync(True)
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            self._witness.committed(self._tip)
        except sqlite3.Error:
            # The head lags behind, as after a crash.
            return
        finally:
            self._witness.close()
            self._connection.close()

    def commit(self, batch: list[Work]) -> None:
        """Commit a batch. What can't be committed gets an error; nothing is raised."""
        if all(isinstance(work, Mark) for work in batch):
            return
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
        """After a batch: its head; enter the log's new rows in `places`, once there are enough of them."""
        self._witness.committed(self._synced)
        self._witness.tidy(self._connection)
        if self._tip.row < self._index_at:
            return
        try:
            self._index()
        except sqlite3.Error:
            # Nothing is lost: until it works, a reader looks through the rows themselves.
            self._roll_back()
            self._index_at = self._tip.row + self._settings.store_index_rows

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
        self._fresh, self._fresh_hashes = {}, {}
        self._sync(_must_sync(batch))
        if locked or any(isinstance(work, Errand) for work in batch):
            self._begin()
        tip = self._tip
        appends: list[Append] = []
        for work in batch:
            work.error = None
            if isinstance(work, Append):
                appends.append(work)
            elif isinstance(work, Errand):
                tip = self._add(appends, tip)
                appends = []
                if isinstance(work, Transact):
                    tip = self._together(work, tip)
                else:
                    _do(work)
        tip = self._add(appends, tip)
        if tip.grown:
            tip = self._seal_notes(tip)
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")
        added, self._tip = tip.row > self._tip.row, tip
        self._lasts.update(self._fresh)
        self._hashes.update(self._fresh_hashes)
        if added and self._syncing:
            self._synced = tip

    def _together(self, work: Transact[Any], tip: Tip) -> Tip:
        """Run a transaction inside the batch's: it fails alone, with everything it did."""
        before, hashes, after = self._fresh.copy(), self._fresh_hashes.copy(), tip
        self._connection.execute("SAVEPOINT together")
        try:
            work.result = work.run()
            after = tip.with_notes(self._connection)
            if work.append is not None:
                work.append.error = None
                after = self._add([work.append], after)
                if work.append.error is not None:
                    raise work.append.error
        except sqlite3.OperationalError:  # the disk or the lock, not this piece of work
            raise
        except Exception as error:
            self._connection.execute("ROLLBACK TO together")
            self._fresh, self._fresh_hashes, after = before, hashes, tip
            work.error = error
        self._connection.execute("RELEASE together")
        return after

    @property
    def connection(self) -> sqlite3.Connection:
        """For what runs in the writer's thread."""
        return self._connection

    def _begin(self) -> None:
        """Take the lock, and learn what other processes have added meanwhile."""
        self._connection.execute("BEGIN IMMEDIATE")
        found = False
        for runs, chain in sealed_after(self._connection, self._tip.row):
            found = True
            for index, run in enumerate(runs):
                self._lasts[run[0]] = run[2]
                self._hashes[run[0]] = hash_at(chain, index)
        if found:
            self._tip = read_tip(self._connection, self._witness.key)

    def _add(self, appends: list[Append], tip: Tip) -> Tip:
        """Add to the tables, after a given end of the log. One statement is its own transaction."""
        return self._insert(self._rows(appends, tip)) if appends else tip

    def _seal_notes(self, tip: Tip) -> Tip:
        rows = self._empty_rows(tip)
        rows.seal_notes()
        return self._insert(rows)

    def _insert(self, rows: Rows) -> Tip:
        statements = list(rows.statements())
        if len(statements) > 1 and not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
        for statement, parameters in statements:
            self._connection.execute(statement, parameters)
        return rows.tip

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
        tip = read_tip(self._connection, self._witness.key)
        self._connection.execute("COMMIT")
        if tip.row != self._tip.row or len(self._lasts) > KNOWN_SESSIONS:
            # Rows we have not seen may be of these sessions. They are all in `places` now.
            self._lasts.clear()
            self._hashes.clear()
            self._tenants.clear()
        self._tip = tip
        self._index_at = tip.row + self._settings.store_index_rows

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

    def _rows(self, appends: list[Append], tip: Tip) -> Rows:
        before, hashes = self._fresh.copy(), self._fresh_hashes.copy()
        try:
            return self._gather(appends, tip)
        except UNSTORABLE:
            # Find the culprits, and let the others through. (What follows one in its session fails as well.)
            self._fresh, self._fresh_hashes = before, hashes
            for append in appends:
                append.error = _trouble(append.events)
            return self._gather([append for append in appends if append.error is None], tip)

    def _gather(self, appends: list[Append], tip: Tip) -> Rows:
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
        rows = self._empty_rows(tip)
        hashes = self._fresh_hashes
        for session, events in runs.items():
            hashes[session] = rows.add(session, self._tenant, events, self._hash(session))
        return rows

    def _empty_rows(self, tip: Tip) -> Rows:
        settings = self._settings
        return Rows(
            tip, self._witness.key, row_bytes=settings.store_row_bytes, prompt_preview=settings.prompt_preview
        )

    def _hash(self, session: int) -> bytes:
        """The hash of a session's last run, which its next one goes on from."""
        found = self._fresh_hashes.get(session) or self._hashes.get(session)
        return found or last_hash(self._connection, session)

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
