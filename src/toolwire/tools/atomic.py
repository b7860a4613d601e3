"""Writing one file through its folder's descriptor: a crash leaves the old file or the new one, never a torn one.

The bytes go to a temporary file beside the target and are synced; then one rename (or, for a new file, one link,
which can't overwrite) puts them in place, and the folder is synced. Every name here is a single component.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

TEMPORARY = ".toolwire-"
"""Prefix of temporary files, so that a listing can leave out what a crash left behind."""

_WRITE_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def create(folder: int, name: str, data: bytes) -> None:
    """A new file with the mode the user's umask gives; FileExistsError if anything has that name."""
    with _temporary(folder, 0o666) as (temporary, descriptor):
        _fill(descriptor, data)
        try:
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except OSError as refused:
            if refused.errno not in _NO_HARD_LINKS:
                raise
            # No hard links here: claim the name first, so that the rename overwrites nothing but our own claim.
            os.close(os.open(name, _WRITE_NEW, 0o666, dir_fd=folder))
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)


def replace(
    folder: int,
    name: str,
    data: bytes,
    old: os.stat_result,
    lock: AbstractContextManager[object],
    still_valid: Callable[[], None],
) -> None:
    """New bytes under an old name, mode and owner. Last, under the lock, `still_valid` may raise to call it off."""
    with _temporary(folder, 0o600) as (temporary, descriptor):
        _fill(descriptor, data)
        _take_over(folder, name, descriptor, old)
        with lock:
            still_valid()
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)


@contextlib.contextmanager
def _temporary(folder: int, mode: int) -> Iterator[tuple[str, int]]:
    name = f"{TEMPORARY}{secrets.token_hex(8)}.tmp"
    descriptor = os.open(name, _WRITE_NEW, mode, dir_fd=folder)
    try:
        yield name, descriptor
    finally:
        os.close(descriptor)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def _fill(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.fsync(descriptor)


def _take_over(folder: int, name: str, descriptor: int, old: os.stat_result) -> None:
    """Owner, attributes (access lists among them) and mode of the old file, as far as we may set them."""
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "listxattr"):
        _copy_attributes(folder, name, descriptor)
    # Like the kernel on a write, without set-user-id and set-group-id.
    os.fchmod(descriptor, old.st_mode & 0o1777)


def _copy_attributes(folder: int, name: str, descriptor: int) -> None:
    with contextlib.suppress(OSError):
        source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        try:
            for attribute in os.listxattr(source):
                with contextlib.suppress(OSError):
                    os.setxattr(descriptor, attribute, os.getxattr(source, attribute))
        finally:
            os.close(source)
