"""Opening a path beneath a folder so that the kernel, not a string comparison, keeps it there.

`KernelBeneath` asks `openat2` with RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS: links that stay inside are followed, any
that leads outside fails, whatever changes while the path is walked. `WalkBeneath` opens one component after the other
with O_NOFOLLOW and so refuses every link; it serves where the kernel has no `openat2` (macOS, Linux before 5.6).
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from typing import Protocol

RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_BENEATH = 0x08
SYS_OPENAT2 = 437
"""The same number on every Linux architecture CPython is built for, but alpha."""

ATTEMPTS = 128
"""`openat2` answers EAGAIN when a rename raced with it; more races than this in a row is somebody's attack."""

HAS_PATH_ONLY = hasattr(os, "O_PATH")
O_PATH: int = os.O_PATH if HAS_PATH_ONLY else os.O_RDONLY | os.O_NONBLOCK
"""A descriptor that only names its file; where there is none, one that can't block."""
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""O_NONBLOCK: opening a FIFO that nobody writes to must not hang. It means nothing for a regular file."""


class Beneath(Protocol):
    """Opens clean relative paths (no `..`, no empty part; `.` is the folder itself) beneath one folder."""

    root: int

    def open(self, path: str, flags: int) -> int:
        """A descriptor, or OSError: EXDEV if the path leads outside, ELOOP for links in a ring or links at all."""


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class KernelBeneath:
    def __init__(self, root: int) -> None:
        self.root = root
        self._syscall = ctypes.CDLL(None, use_errno=True).syscall

    def open(self, path: str, flags: int) -> int:
        how = _OpenHow(flags | os.O_CLOEXEC, 0, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)
        name = os.fsencode(path)
        for _ in range(ATTEMPTS):
            descriptor: int = self._syscall(
                SYS_OPENAT2, self.root, name, ctypes.byref(how), ctypes.c_size_t(ctypes.sizeof(how))
            )
            if descriptor >= 0:
                return descriptor
            if ctypes.get_errno() not in (errno.EAGAIN, errno.EINTR):
                break
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)


class WalkBeneath:
    def __init__(self, root: int) -> None:
        self.root = root

    def open(self, path: str, flags: int) -> int:
        *folders, last = path.split("/")
        at = os.dup(self.root)
        try:
            for folder in folders:
                deeper = _step(folder, FOLDER, at)
                os.close(at)
                at = deeper
            return _step(last, flags | os.O_CLOEXEC, at)
        finally:
            os.close(at)


def _step(name: str, flags: int, at: int) -> int:
    descriptor = _open_nofollow(name, flags, at)
    # With O_PATH, O_NOFOLLOW opens the link itself instead of refusing it.
    if HAS_PATH_ONLY and flags & O_PATH and stat.S_ISLNK(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
    return descriptor


def _open_nofollow(name: str, flags: int, at: int) -> int:
    try:
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=at)
    except NotADirectoryError:
        # O_DIRECTORY | O_NOFOLLOW calls a link "not a directory"; say what it is.
        if is_link_at(name, at):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


def is_link_at(name: str, at: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode)
    except OSError:
        return False


def beneath(root: int) -> Beneath:
    """The strongest way this kernel has. A container's filter may refuse the call (EPERM) as if it were missing."""
    if sys.platform == "linux":
        kernel = KernelBeneath(root)
        try:
            os.close(kernel.open(".", O_PATH))
        except OSError as refused:
            if refused.errno not in (errno.ENOSYS, errno.EPERM, errno.E2BIG, errno.EINVAL):
                raise
        else:
            return kernel
    return WalkBeneath(root)


def location(descriptor: int) -> str | None:
    """Where an open folder really is, as the kernel knows it; None where it can't be asked."""
    if sys.platform == "linux":
        try:
            return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - a name, not a Path
        except OSError:
            return None
    return _macos_location(descriptor)


def _macos_location(descriptor: int) -> str | None:
    import fcntl

    get_path = getattr(fcntl, "F_GETPATH", None)
    if get_path is None:
        return None
    answer: bytes = fcntl.fcntl(descriptor, get_path, bytes(1024))
    return os.fsdecode(answer.rstrip(b"\0"))
