"""What a session has read, and what was in it then: an existing file is only written over if it is still so."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from toolwire.settings import Settings


class Seen:
    """Path (relative to the root, normalised) → SHA-256 of the whole file's bytes when last read or written.

    Tools of one session run in parallel threads, hence the lock.
    """

    def __init__(self, keep: int = Settings().seen_bytes) -> None:
        self._hashes: dict[str, str] = {}
        self._contents: dict[tuple[str, str], bytes] = {}
        """The bytes behind a path's hashes, oldest first, so that a refusal can show what changed; never more than
        `keep` of them."""
        self._keep = keep
        self._kept = 0
        self._changed: dict[str, str | None] = {}
        self._lock = threading.Lock()

    def remember(self, known: Mapping[str, str]) -> None:
        """What was known before, in another process."""
        with self._lock:
            self._hashes.update(known)

    def changes(self) -> dict[str, str | None]:
        """What has become known since the last time this was asked, path → hash; None: it is known no more."""
        with self._lock:
            changed, self._changed = self._changed, {}
            return changed

    def note(self, path: str, digest: str, content: bytes | None = None) -> None:
        with self._lock:
            if self._hashes.get(path) != digest:
                self._hashes[path] = self._changed[path] = digest
            if content is not None:
                self._store(path, digest, content)

    def forget(self, path: str) -> None:
        with self._lock:
            if self._hashes.pop(path, None) is not None:
                self._changed[path] = None

    def digest(self, path: str) -> str | None:
        with self._lock:
            return self._hashes.get(path)

    def content(self, path: str, digest: str) -> bytes | None:
        """What the file held when it had that hash, if it is still known."""
        with self._lock:
            return self._contents.get((path, digest))

    def _store(self, path: str, digest: str, content: bytes) -> None:
        self._drop((path, digest))
        if len(content) > self._keep:
            return
        while self._kept + len(content) > self._keep:
            self._drop(next(iter(self._contents)))
        self._contents[path, digest] = content
        self._kept += len(content)

    def _drop(self, known: tuple[str, str]) -> None:
        self._kept -= len(self._contents.pop(known, b""))
