"""A lock on a folder that other processes of ours respect, held from the last look at a file to its rename.

An IDE, a gateway and a command may work on one project at once; without it two of them could each find the file as
expected, and the second rename would lose the first write. A file system that can't lock goes without.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator

PAUSE = 0.002
"""Seconds between two attempts, at first; a lock is held for about as long."""
LONGEST_PAUSE = 0.05


@contextlib.contextmanager
def locked(folder: int, seconds: float) -> Iterator[None]:
    """An open folder, ours alone. Raises OSError EAGAIN if others hold it all the time."""
    held = _acquire(folder, time.monotonic() + seconds)
    try:
        yield
    finally:
        if held:
            fcntl.flock(folder, fcntl.LOCK_UN)


def _acquire(folder: int, deadline: float) -> bool:
    pause = PAUSE
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from None
        except OSError:
            return False
        else:
            return True
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
