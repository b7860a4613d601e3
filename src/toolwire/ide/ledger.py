"""What this IDE was asked to do and what came of it, in a file that survives a crash.

Design, "A call is sent again". A call that writes leaves two records: its intent before it runs, its outcome after.
Both are synced. Asked again, it is answered from its outcome; an intent without outcome means that the ledger can't
say whether it happened (`UNDECIDED`). A call that only reads leaves its outcome, unsynced; if that is lost, it is
read again.

Beside the calls it remembers what its session has read, by content hash: an IDE that was killed may still write over
a file that the session had read before.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import orjson

from toolwire.errors import StoreError
from toolwire.ide.call import UNDECIDED, Call, Outcome
from toolwire.settings import Settings

VERSION = 2
LEDGERS = 64
"""IDEs that may serve one session on one folder at once."""
PRUNE_EVERY = 200
"""Outcomes recorded between two looks for what is too old to keep."""

_SCHEMA = """
CREATE TABLE ledger (
    session TEXT NOT NULL, call_id TEXT NOT NULL, tool TEXT NOT NULL, digest BLOB NOT NULL, reads INTEGER NOT NULL,
    begun INTEGER NOT NULL, outcome BLOB, PRIMARY KEY (session, call_id));
CREATE INDEX ledger_by_age ON ledger (reads, begun);
CREATE TABLE identity (id TEXT NOT NULL);
"""
_SEEN = "CREATE TABLE seen (session TEXT, path TEXT, hash TEXT NOT NULL, at INTEGER, PRIMARY KEY (session, path))"

_KEPT = ("ok", "result", "error", "ms", "details", "indeterminate")
"""What is kept of an outcome."""
NOTHING: Mapping[str, str | None] = {}


def open_ledger(folder: Path, session: str, settings: Settings) -> Ledger:
    """The first ledger of a session in a workspace that no other process uses.

    Each session has its own, so that an IDE that comes back finds the one it had, whoever else works on the folder. A
    ledger answers for one process at a time: what another one has begun and not finished may still be running.
    """
    _sweep(folder, time.time() - settings.ledger_days * 86400)
    name = f"ledger-{hashlib.sha256(session.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    for number in range(1, LEDGERS + 1):
        path = folder / (f"{name}.sqlite" if number == 1 else f"{name}-{number}.sqlite")
        with contextlib.suppress(BlockingIOError):
            return Ledger(path, days=settings.ledger_days, reads=settings.ledger_reads)
    raise StoreError(
        f"{LEDGERS} IDEs serve the session {session} on this folder already (ledgers in {folder})",
        hint="stop one of them",
    )


class Ledger:
    """One file, used by worker threads; every method takes the lock and may wait for the disk.

    Raises BlockingIOError if another process has it open.
    """

    def __init__(
        self,
        path: Path,
        *,
        days: float,
        reads: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self._days = days
        self._reads = reads
        self._recorded = 0
        self._lock = threading.Lock()
        self._path = path
        self._owned = _own(path)
        with _told(path):
            self._file = sqlite3.connect(path, timeout=5.0, isolation_level=None, check_same_thread=False)
            try:
                self.id = self._prepare()
                self._prune()
            except BaseException:
                self._file.close()
                os.close(self._owned)
                raise

    def close(self) -> None:
        with self._lock:
            self._file.close()
            os.close(self._owned)

    def begin(self, call: Call, *, reads: bool) -> Outcome | None:
        """The outcome it had, if it was asked for before, or UNDECIDED; None: run it, and `finish` it."""
        if reads:
            with self._lock, _told(self._path):
                return self._earlier(call)
        with self._transaction(synced=True):
            earlier = self._earlier(call)
            if earlier is None:
                self._write(call, reads, None)
            return earlier

    def finish(self, call: Call, outcome: Outcome, *, reads: bool, seen: Mapping[str, str | None] = NOTHING) -> None:
        """`seen`: what the session knows of files since it was last asked, path → content hash, None: nothing."""
        body = orjson.dumps({name: getattr(outcome, name) for name in _KEPT})
        with self._transaction(synced=not reads):
            self._write(call, reads, body)
            self._note(call.session, seen)
            self._recorded += 1
            if self._recorded % PRUNE_EVERY == 0:
                self._prune()

    def seen(self, session: str) -> dict[str, str]:
        """What the session has read, path → content hash."""
        with self._lock, _told(self._path):
            return dict(self._file.execute("SELECT path, hash FROM seen WHERE session = ?", (session,)))

    def _note(self, session: str, seen: Mapping[str, str | None]) -> None:
        at = int(self._clock() * 1000)
        for path, digest in seen.items():
            if digest is None:
                self._file.execute("DELETE FROM seen WHERE session = ? AND path = ?", (session, path))
            else:
                self._file.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", (session, path, digest, at))

    def _earlier(self, call: Call) -> Outcome | None:
        row = self._file.execute(
            "SELECT digest, outcome FROM ledger WHERE session = ? AND call_id = ?", (call.session, call.call_id)
        ).fetchone()
        # A gateway that numbers its calls anew each time asks for another thing under an old id.
        if row is None or bytes(row[0]) != call.digest():
            return None
        return UNDECIDED if row[1] is None else _outcome(row[1])

    def _write(self, call: Call, reads: bool, body: bytes | None) -> None:
        self._file.execute(
            "INSERT OR REPLACE INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?)",
            (call.session, call.call_id, call.tool, call.digest(), reads, int(self._clock() * 1000), body),
        )

    def _prune(self) -> None:
        oldest = int((self._clock() - self._days * 86400) * 1000)
        self._file.execute("DELETE FROM ledger WHERE reads = 0 AND begun < ?", (oldest,))
        self._file.execute("DELETE FROM seen WHERE at < ?", (oldest,))
        self._file.execute(
            "DELETE FROM ledger WHERE reads = 1 AND begun < "
            "(SELECT begun FROM ledger WHERE reads = 1 ORDER BY begun DESC LIMIT 1 OFFSET ?)",
            (self._reads - 1,),
        )

    def _prepare(self) -> str:
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("BEGIN IMMEDIATE")
        try:
            version = self._file.execute("PRAGMA user_version").fetchone()[0]
            if version > VERSION:
                raise StoreError(
                    f"the ledger was written by a newer Toolwire (layout {version}, this one knows {VERSION})",
                    hint="install that version again, or move the file away",
                )
            if version == 0:
                for statement in _SCHEMA.split(";"):
                    self._file.execute(statement)
                self._file.execute("INSERT INTO identity VALUES (?)", (secrets.token_hex(8),))
            if version < VERSION:
                self._file.execute(_SEEN)
                self._file.execute(f"PRAGMA user_version = {VERSION}")
            identity: str = self._file.execute("SELECT id FROM identity").fetchone()[0]
        except BaseException:
            self._file.execute("ROLLBACK")
            raise
        self._file.execute("COMMIT")
        return identity

    @contextlib.contextmanager
    def _transaction(self, *, synced: bool) -> Iterator[None]:
        with self._lock, _told(self._path):
            # NORMAL commits to the file without waiting for the disk; FULL waits.
            self._file.execute(f"PRAGMA synchronous = {'FULL' if synced else 'NORMAL'}")
            self._file.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._file.execute("ROLLBACK")
                raise
            self._file.execute("COMMIT")


def _sweep(folder: Path, oldest: float) -> None:
    """Ledgers nobody has used for so long that everything in them would be forgotten: their sessions are over."""
    for path in folder.glob("ledger-*.sqlite"):
        files = [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm")), path.with_suffix(".lock")]
        with contextlib.suppress(OSError, StoreError):  # in use, or gone already
            if max(file.stat().st_mtime for file in files if file.exists()) < oldest:
                lock = _own(path)
                for file in files:
                    file.unlink(missing_ok=True)
                os.close(lock)


def _own(path: Path) -> int:
    """A lock that ends with this process, however that ends."""
    try:
        lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"the ledger {path} can't be used: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _outcome(body: bytes) -> Outcome:
    return Outcome(**orjson.loads(body), replayed=True)


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(
            f"the ledger {path} can't be used: {error}", hint="free disk space, or move it away"
        ) from error
