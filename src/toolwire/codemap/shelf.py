"""The index on disk: one SQLite file in the workspace's state folder, read by many threads, written by one at a time.

A file that changed gets a new id, so whatever was remembered under the old one can't be mistaken for it. The index
is a cache: an older schema or a damaged file is thrown away and built again.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from toolwire.codemap.entry import Entry, keys_of
from toolwire.codemap.languages import BY_NAME
from toolwire.codemap.sheet import Sheet, decode
from toolwire.codemap.version import version
from toolwire.errors import StoreError

_BUSY_SECONDS = 10.0
_CACHE_KIB = 32 * 1024
"""Names arrive in no order, so most of the trees is touched by every commit."""
_IN_ONE_QUESTION = 500
"""Values bound in one statement; SQLite's own limit is higher on every build we meet."""

_PLACE_BITS = 24
"""A definition's number is its file's and its place in the file: rows of one file lie together, and go in in order.
(No file that is indexed has as many definitions.)"""
_LOG_PAGES = 16_000
"""Pages of the write-ahead log before it is folded in: in a build most pages are written again by the next commit."""

_SCHEMA = """
CREATE TABLE files(id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, language TEXT NOT NULL,
  module TEXT NOT NULL, tail TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL, digest BLOB NOT NULL);
CREATE INDEX files_tail ON files(tail);
CREATE INDEX files_module ON files(module);
CREATE TABLE sheets(file INTEGER PRIMARY KEY, sheet BLOB NOT NULL);
CREATE TABLE definitions(id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, scope TEXT NOT NULL,
  added INTEGER NOT NULL);
CREATE INDEX definitions_name ON definitions(name);
CREATE TABLE calls(name TEXT NOT NULL, file INTEGER NOT NULL, PRIMARY KEY(name, file)) WITHOUT ROWID;
CREATE TABLE bases(name TEXT NOT NULL, file INTEGER NOT NULL, PRIMARY KEY(name, file)) WITHOUT ROWID;
CREATE TABLE renames(name TEXT NOT NULL, file INTEGER NOT NULL, local TEXT NOT NULL,
  PRIMARY KEY(name, file, local)) WITHOUT ROWID;
CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


class FileRow(NamedTuple):
    id: int
    path: str
    language: str
    module: str


class DefinitionRow(NamedTuple):
    name: str
    file: int
    at: int
    kind: str
    scope: str
    added: bool


class Stamp(NamedTuple):
    """What a file looked like when it was indexed."""

    size: int
    modified: int
    digest: bytes


class Shelf:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._writing = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._borrowing = threading.Lock()
        self._closed = False
        self._watching = threading.Lock()
        self._writer = self._open()
        self._watcher = self._connect()

    # Writing

    def put(self, entries: Sequence[Entry], gone: Iterable[str] = ()) -> None:
        """Replace these files' rows in one transaction, and forget the files that are gone."""
        gone = list(gone)
        if not entries and not gone:
            return
        with self._writing, self._errors():
            if self._closed:
                return
            with self._writer:
                self._writer.execute("BEGIN IMMEDIATE")
                self._forget([entry.path for entry in entries] + gone)
                self._insert(entries)

    def touch(self, path: str, size: int, modified: int) -> None:
        """The file was written again with the same content."""
        with self._writing, self._errors():
            if not self._closed:
                self._writer.execute("UPDATE files SET size=?, modified=? WHERE path=?", (size, modified, path))

    def _insert(self, entries: Sequence[Entry]) -> None:
        db = self._writer
        (first,) = db.execute("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name='files'), 0)").fetchone()
        rows = list(enumerate(entries, start=first + 1))
        db.executemany(
            "INSERT INTO files VALUES(?,?,?,?,?,?,?,?)",
            (
                (n, e.path, e.language, e.module, e.module.rpartition(".")[2], e.size, e.modified, e.digest)
                for n, e in rows
            ),
        )
        db.executemany("INSERT INTO sheets VALUES(?,?)", ((n, e.sheet) for n, e in rows))
        db.executemany(
            "INSERT INTO definitions VALUES(?,?,?,?,?)",
            (
                (n << _PLACE_BITS | d.at, d.name, d.kind, d.scope, d.added)
                for n, e in rows
                for d in e.keys.definitions
            ),
        )
        db.executemany("INSERT INTO calls VALUES(?,?)", sorted((name, n) for n, e in rows for name in e.keys.calls))
        db.executemany("INSERT INTO bases VALUES(?,?)", ((name, n) for n, e in rows for name in e.keys.bases))
        db.executemany(
            "INSERT INTO renames VALUES(?,?,?)",
            ((name, n, local) for n, e in rows for name, local in e.keys.renames),
        )

    def _forget(self, paths: Sequence[str]) -> None:
        db = self._writer
        for part in _parts(paths):
            marks = ",".join("?" * len(part))
            old = db.execute(
                f"SELECT f.id, f.language, f.module, s.sheet FROM files f JOIN sheets s ON s.file=f.id "
                f"WHERE f.path IN ({marks})",
                part,
            ).fetchall()
            for file, language, module, sheet in old:
                self._forget_names(file, language, module, decode(sheet))
            ids = [(row[0],) for row in old]
            db.executemany("DELETE FROM sheets WHERE file=?", ids)
            db.executemany("DELETE FROM files WHERE id=?", ids)

    def _forget_names(self, file: int, language: str, module: str, sheet: Sheet) -> None:
        """By name, from the old sheet: an index by file would double the cost of building for this rare case."""
        keys = keys_of(sheet, module, BY_NAME[language])
        db = self._writer
        first = file << _PLACE_BITS
        db.execute("DELETE FROM definitions WHERE id>=? AND id<?", (first, first + (1 << _PLACE_BITS)))
        db.executemany("DELETE FROM calls WHERE name=? AND file=?", [(name, file) for name in keys.calls])
        db.executemany("DELETE FROM bases WHERE name=? AND file=?", [(name, file) for name in keys.bases])
        db.executemany("DELETE FROM renames WHERE name=? AND file=?", [(name, file) for name, _ in keys.renames])

    # Reading

    def stamps(self) -> dict[str, Stamp]:
        with self._reading() as db:
            rows = db.execute("SELECT path, size, modified, digest FROM files")
            return {path: Stamp(size, modified, digest) for path, size, modified, digest in rows}

    def stamp(self, path: str) -> Stamp | None:
        with self._reading() as db:
            row = db.execute("SELECT size, modified, digest FROM files WHERE path=?", (path,)).fetchone()
            return Stamp(*row) if row else None

    def has_below(self, folder: str) -> bool:
        with self._reading() as db:
            question = "SELECT 1 FROM files WHERE path>? AND path<? LIMIT 1"
            return db.execute(question, (folder + "/", folder + "0")).fetchone() is not None

    def count(self) -> int:
        with self._reading() as db:
            return int(db.execute("SELECT count(*) FROM files").fetchone()[0])

    def file(self, file: int) -> tuple[FileRow, Sheet] | None:
        with self._reading() as db:
            row = db.execute(
                "SELECT f.id, f.path, f.language, f.module, s.sheet FROM files f JOIN sheets s ON s.file=f.id "
                "WHERE f.id=?",
                (file,),
            ).fetchone()
        return (FileRow(*row[:4]), decode(row[4])) if row else None

    def file_named(self, path: str) -> int | None:
        with self._reading() as db:
            row = db.execute("SELECT id FROM files WHERE path=?", (path,)).fetchone()
            return row[0] if row else None

    def files_ending(self, path: str) -> list[int]:
        """Files whose path ends in these parts."""
        with self._reading() as db:
            pattern = "%/" + path.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            question = "SELECT id FROM files WHERE path=? OR path LIKE ? ESCAPE '\\'"
            return [row[0] for row in db.execute(question, (path, pattern))]

    def definitions(self, name: str) -> list[DefinitionRow]:
        with self._reading() as db:
            question = "SELECT name, id, kind, scope, added FROM definitions WHERE name=? ORDER BY id"
            return [_definition(*row) for row in db.execute(question, (name,))]

    def calling(self, name: str) -> list[int]:
        return self._files("SELECT file FROM calls WHERE name=?", name)

    def extending(self, name: str) -> list[int]:
        return self._files("SELECT file FROM bases WHERE name=?", name)

    def adding_to(self, place: str) -> list[int]:
        """Files with definitions inside the type of that full name, or inside one of its last name."""
        last = place.rpartition(".")[2]
        with self._reading() as db:
            question = "SELECT id FROM definitions WHERE scope=? OR scope=? OR scope LIKE ? ESCAPE '\\' ORDER BY id"
            pattern = "%." + last.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            rows = db.execute(question, (place, last, pattern))
            return list(dict.fromkeys(row[0] >> _PLACE_BITS for row in rows))

    def renaming(self, name: str) -> list[tuple[int, str]]:
        with self._reading() as db:
            return list(db.execute("SELECT file, local FROM renames WHERE name=?", (name,)))

    def modules_ending(self, last: str) -> list[FileRow]:
        """Files whose module's last part is `last`."""
        with self._reading() as db:
            rows = db.execute("SELECT id, path, language, module FROM files WHERE tail=?", (last,))
            return [FileRow(*row) for row in rows]

    def has_module_below(self, place: str) -> bool:
        """Whether some file's module is this one or lies inside it."""
        with self._reading() as db:
            row = db.execute(
                "SELECT 1 FROM files WHERE module=? OR (module>? AND module<?) LIMIT 1",
                (place, place + ".", place + "/"),
            ).fetchone()
            return row is not None

    def names_like(self, fragment: str, limit: int) -> list[DefinitionRow]:
        """Definitions whose name contains the fragment, whatever its case."""
        pattern = "%" + fragment.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        with self._reading() as db:
            rows = db.execute(
                "SELECT name, id, kind, scope, added FROM definitions WHERE name LIKE ? ESCAPE '\\' "
                "ORDER BY length(name), name, id LIMIT ?",
                (pattern, limit),
            )
            return [_definition(*row) for row in rows]

    def _files(self, question: str, name: str) -> list[int]:
        with self._reading() as db:
            return [row[0] for row in db.execute(question, (name,))]

    # Facts about the index itself

    def version(self) -> int:
        """Another number after any change, also one made by another process."""
        with self._watching, self._errors():
            if self._closed:
                raise StoreError("the code index is closed")
            return int(self._watcher.execute("PRAGMA data_version").fetchone()[0])

    def fact(self, name: str) -> str | None:
        with self._reading() as db:
            row = db.execute("SELECT value FROM facts WHERE name=?", (name,)).fetchone()
            return row[0] if row else None

    def set_fact(self, name: str, value: str) -> None:
        with self._writing, self._errors():
            if not self._closed:
                self._writer.execute("INSERT OR REPLACE INTO facts VALUES(?,?)", (name, value))

    # Connections

    def close(self) -> None:
        with self._writing, self._borrowing, self._watching:
            self._closed = True
            for connection in (self._writer, self._watcher, *self._idle):
                connection.close()
            self._idle.clear()

    def _open(self) -> sqlite3.Connection:
        try:
            connection = self._connect()
            (found,) = connection.execute("PRAGMA user_version").fetchone()
            if found == version(_SCHEMA):
                return connection
            connection.close()
        except sqlite3.DatabaseError:
            pass
        return self._create()

    def _create(self) -> sqlite3.Connection:
        try:
            for suffix in ("", "-wal", "-shm"):
                Path(str(self.path) + suffix).unlink(missing_ok=True)
            connection = self._connect()
            connection.executescript(_SCHEMA)
            connection.execute(f"PRAGMA user_version={version(_SCHEMA)}")
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"can't make the code index {self.path}: {error}") from error
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        connection.execute(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}")
        return connection

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._borrowing:
            if self._closed:
                raise StoreError("the code index is closed")
            connection = self._idle.pop() if self._idle else None
        with self._errors():
            connection = connection or self._connect()
            yield connection
        with self._borrowing:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"code index {self.path}: {error}") from error


def _definition(name: str, row: int, kind: str, scope: str, added: bool) -> DefinitionRow:
    return DefinitionRow(name, row >> _PLACE_BITS, row & (1 << _PLACE_BITS) - 1, kind, scope, added)


def _parts(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(paths), _IN_ONE_QUESTION):
        yield paths[start : start + _IN_ONE_QUESTION]
