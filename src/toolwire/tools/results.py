"""Whole results that were too long to send: kept on disk by content, the oldest dropped when room runs out.

Spec README, "Result": `GET /api/results/{ref}` and the tool `read_result` give the rest.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import secrets
import threading
from dataclasses import dataclass
from pathlib import Path

from toolwire.errors import ToolError

log = logging.getLogger(__name__)

_REF = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    offset: int
    total: int

    @property
    def next_offset(self) -> int | None:
        end = self.offset + len(self.text)
        return end if end < self.total else None


class Results:
    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._lock = threading.Lock()

    def keep(self, text: str) -> str:
        """The reference under which this text can be asked for. A full disk loses the rest, not the answer."""
        data = text.encode("utf-8", "surrogatepass")
        ref = hashlib.sha256(data).hexdigest()[:32]
        try:
            with self._lock:
                self._write(self._place(ref), data)
        except OSError as error:
            log.warning("a long result could not be kept: %s", error)
        return ref

    def _write(self, place: Path, data: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self._folder / f"{secrets.token_hex(8)}.tmp"
        try:
            temporary.write_bytes(data)
            temporary.replace(place)
        finally:
            temporary.unlink(missing_ok=True)
        self._make_room(keep=place)

    def whole(self, ref: str) -> str:
        if not _REF.fullmatch(ref):
            raise ToolError("result_not_found", ref=ref)
        try:
            return self._place(ref).read_bytes().decode("utf-8", "surrogatepass")
        except OSError:
            raise ToolError("result_not_found", ref=ref) from None

    def read(self, ref: str, offset: int, limit: int) -> Piece:
        """Characters, not bytes, from `offset` on."""
        text = self.whole(ref)
        return Piece(text[offset : offset + limit], offset, len(text))

    def _place(self, ref: str) -> Path:
        return self._folder / f"{ref}.txt"

    def _make_room(self, keep: Path) -> None:
        files: list[tuple[float, int, Path]] = []
        for entry in os.scandir(self._folder):
            with contextlib.suppress(FileNotFoundError):
                found = entry.stat(follow_symlinks=False)
                files.append((found.st_mtime, found.st_size, Path(entry.path)))
        size = sum(file[1] for file in files)
        for _, bytes_, place in sorted(files):
            if size <= self._most_bytes:
                break
            if place != keep:
                place.unlink(missing_ok=True)
                size -= bytes_
