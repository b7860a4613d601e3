"""The key of seals: 32 random bytes in a file that nobody else can read, made when it is first needed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from toolwire.errors import StoreError

KEY_BYTES = 32
FILE_MODE = 0o600


def load_key(path: Path) -> bytes:
    """The key, made if it is not there yet."""
    try:
        if not path.exists():
            make_once(path, os.urandom(KEY_BYTES).hex().encode() + b"\n")
        return read_key(path)
    except OSError as error:
        raise StoreError(f"{path}: the audit key can't be used: {error.strerror}") from error


def read_key(path: Path) -> bytes:
    """The key that is there."""
    try:
        key = bytes.fromhex(path.read_text("ascii"))
    except OSError as error:
        raise StoreError(f"{path}: the audit key can't be read: {error.strerror}") from error
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise StoreError(f"{path} is not an audit key", hint="put the file back that was there")
    return key


def make_once(path: Path, content: bytes) -> None:
    """Make a file that is whole as soon as it is there. If another process is quicker, its file stands."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    try:
        os.write(file, content)
        os.fsync(file)
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)
    finally:
        os.close(file)
        fresh.unlink()
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
