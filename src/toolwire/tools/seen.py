"""What a session has read, and what was in it then: an existing file is only written over if it is still so."""

from __future__ import annotations

import threading

from toolwire.settings import Settings


class Seen:
    """Path (relative to the root, normalised) → SHA-256 of the whole file's bytes when last read or written.

    Tools of one session run in parallel threads, hence the lock.
    """

    def __init__(self, keep: int = Settings().seen_bytes) -> None:
        self._hashes: dict[str, str] = {}
        self._contents: dict[str, tuple[str, bytes]] = {}
        """The bytes behind a hash, oldest first, so that a refusal can show what changed; never more than `keep`."""
        self._keep = keep
        self._kept = 0
        self._lock = threading.Lock()

    def note(self, path: str, digest: str, content: bytes | None = None) -> None:
        with self._lock:
            self._hashes[path] = digest
            if content is not None:
                self._store(path, digest, content)

    def forget(self, path: str) -> None:
        with self._lock:
            self._hashes.pop(path, None)

    def digest(self, path: str) -> str | None:
        with self._lock:
            return self._hashes.get(path)

    def content(self, path: str, digest: str) -> bytes | None:
        """What the file held when it had that hash, if it is still known."""
        with self._lock:
            known, content = self._contents.get(path, ("", b""))
            return content if known == digest else None

    def _store(self, path: str, digest: str, content: bytes) -> None:
        self._drop(path)
        if len(content) > self._keep:
            return
        while self._kept + len(content) > self._keep:
            self._drop(next(iter(self._contents)))
        self._contents[path] = (digest, content)
        self._kept += len(content)

    def _drop(self, path: str) -> None:
        _, content = self._contents.pop(path, ("", b""))
        self._kept -= len(content)
