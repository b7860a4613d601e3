"""What the writer thread of the SQLite store does with a batch: check it, commit it, and note where it lies."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolwire.core.events import PASSING
from toolwire.errors import StoreError
from toolwire.settings import Settings
from toolwire.store.base import SessionRecord, Withdrawn
from toolwire.store.group_commit import Append, Errand, Mark, Transact, Work
from toolwire.store.migrations import migrate
from toolwire.store.refusals import UNSTORABLE, unstorable
from toolwire.store.sqlite_file import connect, explained, make_file
from toolwire.store.sqlite_gathering import Gathering
from toolwire.store.sqlite_known import KnownSessions
from toolwire.store.sqlite_places import index_tail
from toolwire.store.sqlite_rows import Rows
from toolwire.store.sqlite_seals import Tip, hash_at, read_tip, sealed_after
from toolwire.store.tables import Tables
from toolwire.store.witness import Witness

_PASSING = frozenset(PASSING)


class SqliteWriter:
    """Lives in the writer thread, but for its making."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self._path = path
        self._settings = settings
        self._connection: Tables
        self._inode: tuple[int, int]
        self._witness = Witness(path, settings)
        self._tip = Tip(0, b"", 0, b"")
        """The end of the log as far as it is known here."""
        self._synced = self._tip
        """The end of the log as it was last synced to disk by us."""
        self._index_at = 0
        """With this row it is time to enter the log's new rows in `places`."""
        self._known: KnownSessions
        self._syncing = True

    def open(self) -> None:
        make_file(self._path)
        self._connection = connect(self._path, self._settings)
        self._known = KnownSessions(self._connection)
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
        return SessionRecord(number, tenant, name, epoch, self._known.last(number) or 0, rest)

    # One transaction ---------------------------------------------------------------------------------------

    def _try(self, batch: list[Work], *, locked: bool = False) -> None:
        self._known.begin()
        self._sync(_must_sync(batch))
        certain = False
        if locked or any(isinstance(work, Errand) for work in batch):
            self._begin(look=locked)
            certain = self._look_up(batch)
        tip, gathering = self._tip, Gathering(self._known)
        appends: list[Append] = []
        for work in batch:
            work.error = None
            if isinstance(work, Append):
                appends.append(work)
            elif isinstance(work, Errand):
                gathering.take(appends, certain=certain)
                appends = []
                if isinstance(work, Transact):
                    self._together(work, gathering)
                else:
                    tip, gathering = self._add(gathering, tip), Gathering(self._known)
                    _do(work)
        gathering.take(appends, certain=certain)
        tip = self._add(gathering, tip)
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")
        added, self._tip = tip.row > self._tip.row, tip
        self._known.committed()
        if added and self._syncing:
            self._synced = tip

    def _together(self, work: Transact[Any], gathering: Gathering) -> None:
        """Run a transaction inside the batch's: it fails alone, with everything it did."""
        execute = self._connection.execute
        self._connection.together.begin()
        execute("SAVEPOINT together")
        try:
            try:
                work.result = work.run()
            except Withdrawn as withdrawn:
                self._undo()
                work.result = withdrawn.outcome
                if withdrawn.instead is not None:
                    withdrawn.instead(self._connection)
            if work.append is not None:
                work.append.error = None
                gathering.take([work.append], certain=True)
                if work.append.error is not None:
                    raise work.append.error
        except sqlite3.OperationalError:  # the disk or the lock, not this piece of work
            raise
        except Exception as error:
            self._undo()
            work.error = error
        execute("RELEASE together")

    def _look_up(self, batch: list[Work]) -> bool:
        """Find what all transactions will ask for; False if there are none."""
        transacts = [work for work in batch if isinstance(work, Transact)]
        keys = [work.claims for work in transacts if work.claims is not None]
        if keys:
            with suppress(*UNSTORABLE):  # then each is looked up by itself, and the culprit fails alone
                self._connection.together.look_up(self._connection, keys)
        return bool(transacts)

    def _undo(self) -> None:
        self._connection.execute("ROLLBACK TO together")
        self._connection.together.undo()

    @property
    def connection(self) -> sqlite3.Connection:
        """For what runs in the writer's thread."""
        return self._connection

    def _begin(self, *, look: bool) -> None:
        """Take the lock, and learn what other processes have added meanwhile. `look`: they have added something."""
        self._connection.execute("BEGIN IMMEDIATE")
        for runs, chain in sealed_after(self._connection, self._tip.row):
            look = True
            for index, run in enumerate(runs):
                self._known.saw(run[0], run[2], hash_at(chain, index))
        if look:
            self._tip = read_tip(self._connection, self._witness.key)

    def _add(self, gathering: Gathering, tip: Tip) -> Tip:
        """Add what is gathered, and what waits for the end of the commit, after a given end of the log.

        One statement is its own transaction.
        """
        noted, ledger = self._connection.together.write(self._connection, tip.noted, tip.ledger)
        if noted != tip.noted:
            rows = self._rows(gathering, tip._replace(noted=noted, ledger=ledger))
            rows.seal_notes()
        elif gathering:
            rows = self._rows(gathering, tip)
        else:
            return tip
        statements = list(rows.statements())
        if len(statements) > 1 and not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
        for statement, parameters in statements:
            self._connection.execute(statement, parameters)
        return rows.tip

    def _roll_back(self) -> None:
        self._known.rolled_back()
        self._connection.together.clear()
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
        self._known.indexed(unseen=tip.row != self._tip.row)
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

    def _rows(self, gathering: Gathering, tip: Tip) -> Rows:
        rows = self._empty_rows(tip)
        try:
            gathering.into(rows)
        except UNSTORABLE:
            rows = self._empty_rows(tip)
            gathering.sorted_out().into(rows)
        return rows

    def _empty_rows(self, tip: Tip) -> Rows:
        settings = self._settings
        return Rows(
            tip, self._witness.key, row_bytes=settings.store_row_bytes, prompt_preview=settings.prompt_preview
        )


def _do(errand: Errand[Any]) -> None:
    try:
        errand.result = errand.run()
    except UNSTORABLE as error:
        errand.error = unstorable(error)


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
