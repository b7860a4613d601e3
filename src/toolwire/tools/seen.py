"""What a session has read, and what was in it then: an existing file is only written over if it is still so."""

from __future__ import annotations

import threading


class Seen:
    """Path (relative to the root, normalised) → SHA-256 of the whole file's bytes when last read or written.

    Tools of one session run in parallel threads, hence the lock.
    """

    def __init__(self) -> None:
        self._hashes: dict[str, str] = {}
        self._lock = threading.Lock()

    def note(self, path: str, digest: str) -> None:
        with self._lock:
            self._hashes[path] = digest

    def forget(self, path: str) -> None:
        with self._lock:
            self._hashes.pop(path, None)

    def digest(self, path: str) -> str | None:
        with self._lock:
            return self._hashes.get(path)
