"""Which processes that share a store are alive: each holds a lock on a file of its own, which dies with its holder.

The files lie beside the store's, in `<store>-owners/`. A store in memory has one process, and no files.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from pathlib import Path

from toolwire.errors import StoreError

FOLDER_MODE = 0o700
FILE_MODE = 0o600
_NAME_BYTES = 12

_here: set[str] = set()
"""The owners of this process."""
_guard = threading.Lock()


def owners_folder(store: Path) -> Path:
    return store.with_name(store.name + "-owners")


class Owner:
    """This process as others see it. `name` never repeats; `close` (or the end of the process) ends its life."""

    def __init__(self, folder: Path | None) -> None:
        self.name = os.urandom(_NAME_BYTES).hex()
        self._folder = folder
        self._file: int | None = None

    def start(self) -> None:
        """Begin to live. The files of those that are gone are swept away."""
        if self._folder is not None:
            try:
                self._file = _hold(self._folder, self.name)
                self._sweep(self._folder)
            except OSError as error:
                raise StoreError(f"{self._folder}: can't be used to tell who is alive: {error.strerror}") from error
        with _guard:
            _here.add(self.name)

    def close(self) -> None:
        with _guard:
            _here.discard(self.name)
        if self._file is not None and self._folder is not None:
            with contextlib.suppress(OSError):
                (self._folder / self.name).unlink()
            os.close(self._file)
            self._file = None

    def alive(self, name: str) -> bool:
        """Whether an owner still lives. May be asked in any thread."""
        with _guard:
            if name in _here:
                return True
        return self._folder is not None and _is_held(self._folder / name)

    def alone(self) -> bool:
        """Whether nobody else lives."""
        return self._folder is None or not any(map(_is_held, self._others(self._folder)))

    def _sweep(self, folder: Path) -> None:
        for file in self._others(folder):
            _is_held(file)

    def _others(self, folder: Path) -> list[Path]:
        return [file for file in folder.iterdir() if file.name != self.name and not file.name.startswith(".")]


def _hold(folder: Path, name: str) -> int:
    """Make the file and lock it. It gets its name when it is locked, so that nobody finds it unlocked."""
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    hidden = folder / f".{name}"
    file = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        hidden.rename(folder / name)
    except BaseException:
        os.close(file)
        raise
    return file


def _is_held(path: Path) -> bool:
    """Whether somebody has the lock. A file that nobody holds is of no further use, and removed."""
    if not path.name.isalnum():
        return False
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        with contextlib.suppress(OSError):
            path.unlink()
        return False
    finally:
        os.close(file)
