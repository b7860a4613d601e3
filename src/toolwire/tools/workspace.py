"""A project's folder: the only code that opens its files (design, "Files").

The root is opened once; every path is resolved beneath that descriptor by `confine`. Writes reach their folder the
same way and then work with single names in it. Tools run in worker threads and share one Workspace.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from toolwire.errors import ConfigError, StoreError, ToolError
from toolwire.settings import Settings
from toolwire.tools import atomic, confine, paths, twins
from toolwire.tools.folder_lock import locked
from toolwire.tools.listing import Listing, listing
from toolwire.tools.protect import Protection
from toolwire.tools.refusals import refuse, told
from toolwire.tools.textfile import content_hash

if TYPE_CHECKING:
    from toolwire.codemap.codemap import Codemap
    from toolwire.tools.results import Results

Kind = Literal["file", "folder"]
Made = list[str]
"""Folders made on the way to a new file, the highest first."""


class Workspace:
    def __init__(
        self,
        root: Path,
        state: Path | None = None,
        settings: Settings | None = None,
        *,
        beneath: Callable[[int], confine.Beneath] = confine.beneath,
    ) -> None:
        self.settings = settings or Settings()
        self.root = Path(os.path.abspath(root))  # noqa: PTH100 - Path.absolute() keeps "..", resolve() follows links
        try:
            self._root = os.open(self.root, confine.FOLDER)
        except OSError as error:
            raise ConfigError(f"can't open the project folder {self.root}: {error.strerror}", field="path") from error
        self._close = weakref.finalize(self, os.close, self._root)
        self._spellings = (str(self.root), os.path.realpath(self.root))
        self._beneath = beneath(self._root)
        self._walk = confine.WalkBeneath(self._root)
        self._protection = Protection(self.settings.protected_paths)
        self._state = state
        self._codemap: Codemap | None = None
        self._codemap_lock = threading.Lock()
        self._writing = threading.Lock()
        """Held from the last look at a file to its rename, so that two of our own writes can't lose one another;
        other processes are kept out by a lock on the folder."""

    def close(self) -> None:
        with self._codemap_lock:
            codemap, self._codemap = self._codemap, None
        if codemap is not None:
            codemap.close()
        self._close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Names

    def normalise(self, path: str) -> str:
        return paths.clean(path, self._spellings)

    def absolute(self, path: str) -> str:
        rel = self.normalise(path)
        return str(self.root) if rel == "." else f"{str(self.root).rstrip('/')}/{rel}"

    @cached_property
    def state(self) -> Path:
        """Where indexes and results of this workspace are kept; never inside the project unless asked for."""
        try:
            self._state_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            message = f"the state folder {self._state_folder} can't be made: {error.strerror}"
            raise StoreError(message, hint="XDG_STATE_HOME names another place for it") from error
        return self._state_folder

    @cached_property
    def _state_folder(self) -> Path:
        if self._state is not None:
            return self._state
        from platformdirs import user_state_path

        digest = hashlib.sha256(os.fsencode(self._spellings[1])).hexdigest()[:16]
        return user_state_path("toolwire") / "workspaces" / digest

    @cached_property
    def results(self) -> Results:
        from toolwire.tools.results import Results

        return Results(self._state_folder / "results", self.settings.results_bytes)

    @property
    def codemap(self) -> Codemap:
        """Symbols and calls of this workspace, shared by all who ask; made when first asked for."""
        with self._codemap_lock:
            if self._codemap is None:
                from toolwire.codemap.codemap import Codemap

                self._codemap = Codemap(self, self.settings)
            return self._codemap

    def _changed(self, rel: str) -> None:
        codemap = self._codemap
        if codemap is not None:
            codemap.changed((rel,))

    # Reading

    def open_file(self, path: str) -> int:
        """A descriptor of a regular file, for reading; the caller closes it."""
        rel = self.normalise(path)
        with told(rel):
            descriptor = self._open(rel, confine.READ)
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            os.close(descriptor)
            raise ToolError("not_a_file", path=rel)
        return descriptor

    def _open(self, rel: str, flags: int) -> int:
        try:
            return self._beneath.open(rel, flags)
        except FileNotFoundError:
            found = twins.path_on_disk(self._beneath, rel)
            if found == rel:
                raise
            return self._beneath.open(found, flags)

    def open_folder(self, path: str) -> int:
        rel = self.normalise(path)
        try:
            return self._open(rel, confine.FOLDER)
        except FileNotFoundError:
            raise ToolError("folder_not_found", path=rel) from None
        except NotADirectoryError:
            raise ToolError("not_a_folder", path=rel) from None
        except OSError as error:
            refuse(error, rel)

    def stat(self, path: str) -> os.stat_result:
        rel = self.normalise(path)
        with told(rel):
            descriptor = self._open(rel, confine.O_PATH)
            try:
                return os.fstat(descriptor)
            finally:
                os.close(descriptor)

    def kind(self, path: str) -> Kind | None:
        """None if nothing is there. Something that is neither, and a path that leads outside, raise."""
        try:
            mode = self.stat(path).st_mode
        except ToolError as error:
            if error.kind == "file_not_found":
                return None
            raise
        if stat.S_ISREG(mode):
            return "file"
        if stat.S_ISDIR(mode):
            return "folder"
        raise ToolError("not_a_file", path=self.normalise(path))

    def exists(self, path: str) -> bool:
        return self.kind(path) is not None

    def read_bytes(self, path: str, limit: int | None = None) -> bytes:
        """The whole file, if it is not larger than `limit` (default: the setting `read_max_bytes`)."""
        rel = self.normalise(path)
        most = self.settings.read_max_bytes if limit is None else limit
        descriptor = self.open_file(rel)
        try:
            with told(rel):
                size = os.fstat(descriptor).st_size
                data = b"" if size > most else _read_all(descriptor, most + 1)
        finally:
            os.close(descriptor)
        if max(size, len(data)) > most:
            raise ToolError("file_too_large", path=rel, size=max(size, len(data)), limit=most)
        return data

    def list(self, path: str, limit: int | None = None) -> Listing:
        """Folders first, then files, each by name; at most `limit`, with the number there are."""
        rel = self.normalise(path)
        descriptor = self.open_folder(rel)
        try:
            with told(rel):
                return listing(descriptor, self.settings.list_limit if limit is None else limit)
        finally:
            os.close(descriptor)

    # Writing

    def protected(self, path: str) -> bool:
        """True if no tool may write there, by the name asked for or by the place it really leads to."""
        rel = self.normalise(path)
        if self._protection.covers(rel):
            return True
        while rel:
            try:
                with self._folder_of(rel):
                    return False
            except ToolError as error:
                if error.kind != "file_not_found":
                    return error.kind == "protected_path"
            rel = rel.rpartition("/")[0]  # its folder is not there yet: ask for the one above
        return False

    def write_bytes(self, path: str, data: bytes, *, expected: str | None = None, create: bool = False) -> None:
        """`create`: a new file, never over an old one, with the folders it needs. Otherwise over a file that exists,
        whose content must have the hash `expected`, if one is given."""
        rel = self._writable(path)
        if create:
            self._create(rel, data)
            self._changed(rel)
            return
        with self._folder_of(rel) as (folder, name), told(rel):
            old = self._plain_file(folder, name, rel)
            check = functools.partial(self._check, folder, name, rel, expected)
            atomic.replace(folder, name, data, old, self._alone(folder), check)
        self._changed(rel)

    def remove(self, path: str, *, expected: str | None = None) -> None:
        """Takes a file away: the inverse of creating it."""
        rel = self._writable(path)
        with self._folder_of(rel) as (folder, name), told(rel), self._alone(folder):
            self._plain_file(folder, name, rel)
            self._check(folder, name, rel, expected)
            os.unlink(name, dir_fd=folder)
            os.fsync(folder)
        self._changed(rel)

    @contextlib.contextmanager
    def _alone(self, folder: int) -> Iterator[None]:
        """Nobody else of ours, in this process or another, replaces or removes a file of that folder meanwhile."""
        with self._writing, locked(folder, self.settings.undo_timeout):
            yield

    def _writable(self, path: str) -> str:
        rel = self.normalise(path)
        if rel == ".":
            raise ToolError("not_a_file", path=rel)
        if self._protection.covers(rel):
            raise ToolError("protected_path", path=rel)
        return rel

    def _create(self, rel: str, data: bytes) -> None:
        made: Made = []
        try:
            with self._folder_of(rel, made) as (folder, name), told(rel):
                if confine.is_link_at(name, folder):
                    raise ToolError("link_refused", path=rel)
                atomic.create(folder, name, data)
        except ToolError:
            self._unmake(made)
            raise

    @contextlib.contextmanager
    def _folder_of(self, rel: str, made: Made | None = None) -> Iterator[tuple[int, str]]:
        """The folder a name lives in, opened, its real place checked; with `made`, missing folders are made in it."""
        parent, _, name = rel.rpartition("/")
        with told(rel):
            folder = self._open_parent(parent or ".") if made is None else self._make(parent or ".", made)
        try:
            self._check_place(folder, name, rel)
            yield folder, twins.name_on_disk(folder, name)
        finally:
            os.close(folder)

    def _open_parent(self, parent: str) -> int:
        folder = self._open(parent, confine.FOLDER)
        if confine.location(folder) is not None:
            return folder
        # Where the kernel can't tell a folder's real place, only a path without links is known to be what it says.
        os.close(folder)
        return self._walk.open(twins.path_on_disk(self._walk, parent), confine.FOLDER)

    def _make(self, folder: str, made: Made) -> int:
        try:
            return self._open_parent(folder)
        except FileNotFoundError:
            if folder == ".":
                raise
        above, _, name = folder.rpartition("/")
        parent = self._make(above or ".", made)
        try:
            self._check_place(parent, name, folder)
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o777, dir_fd=parent)
                made.append(folder)
                os.fsync(parent)
        finally:
            os.close(parent)
        return self._open_parent(folder)

    def _unmake(self, made: Made) -> None:
        for folder in reversed(made):
            with contextlib.suppress(ToolError, OSError), self._folder_of(folder) as (parent, name):
                os.rmdir(name, dir_fd=parent)

    def _check_place(self, folder: int, name: str, rel: str) -> None:
        here, root = confine.location(folder), confine.location(self._root)
        if here is None or root is None:
            return
        prefix = root.rstrip("/")
        if here != root and not here.startswith(prefix + "/"):
            raise ToolError("outside_workspace", path=rel)
        if self._protection.covers(f"{here[len(prefix) + 1 :]}/{name}".lstrip("/")):
            raise ToolError("protected_path", path=rel)

    def _plain_file(self, folder: int, name: str, rel: str) -> os.stat_result:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            raise ToolError("link_refused", path=rel)
        if not stat.S_ISREG(found.st_mode):
            raise ToolError("not_a_file", path=rel)
        if not found.st_mode & 0o222:
            raise ToolError("permission_denied", path=rel)
        return found

    def _check(self, folder: int, name: str, rel: str, expected: str | None) -> None:
        """The last look before a file is replaced or removed."""
        self._plain_file(folder, name, rel)
        if expected is None:
            return
        descriptor = os.open(name, confine.READ | os.O_NOFOLLOW, dir_fd=folder)
        try:
            actual = content_hash(_read_all(descriptor, self.settings.read_max_bytes + 1))
        finally:
            os.close(descriptor)
        if actual != expected:
            raise ToolError("content_changed", path=rel, expected=expected, actual=actual)


def _read_all(descriptor: int, most: int) -> bytes:
    pieces: list[bytes] = []
    while most > 0:
        piece = os.read(descriptor, min(most, 1024 * 1024))
        if not piece:
            break
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)
