"""Heads: how far a record went and the seal it had there, a line each, in a file apart from the record.

A seal proves what is there; only a head shows that something is missing at the end. A line is written after the
commit it speaks of has reached the disk, so that a head may lag behind its record and never leads it. Lines are
`<number> <seal in hex>`; the file is made with a first line that names it. Several processes may add to one file.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from toolwire.errors import StoreError
from toolwire.seal.chain import SIZE
from toolwire.seal.key import make_once, sync_folder

TITLE = b"toolwire heads 1\n"
LOST = b"lost"
"""`lost <number>`: at this point the file was missing, and a new one was begun."""
TORN = b" torn\n"
"""Ends a line that could be written only in part. The next line says the same and more."""


class Head(NamedTuple):
    line: int
    """In the file, from 1."""
    number: int
    """Of the last thing it covers: a row of the log, a write."""
    seal: bytes


class HeadsRead(NamedTuple):
    heads: list[Head]
    lost: list[int]
    """Numbers at which the file was found missing."""
    garbled: list[int]
    """Lines that nobody of us has written."""


class Heads:
    """The heads of one record, for adding. Used by one thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._file = -1
        self._inode: tuple[int, int] = (0, 0)
        self._torn = False

    def open(self, number: int) -> None:
        """`number`: how far the record goes already. If so, the file should be there."""
        try:
            if not self.path.exists():
                make_once(self.path, TITLE + (b"%s %d\n" % (LOST, number) if number else b""))
            self._reopen()
        except OSError as error:
            raise StoreError(f"{self.path}: the audit heads can't be opened: {error.strerror}") from error

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def add(self, number: int, seal: bytes) -> None:
        """OSError if it can't be written; the next one makes up for it."""
        line = b"%d %s\n" % (number, seal.hex().encode())
        self._write(line)
        # Looked at after writing: if another process has put a shorter file in place, ours may have missed it.
        if self._on_disk() != self._inode:
            self.open(number)
            self._write(line)

    def compact(self, is_good: Callable[[list[Head]], list[bool]]) -> None:
        """Keep the last head, and every line that does not fit the record: that is evidence."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # another process is at it
        if self._on_disk() != self._inode:
            return  # and has been
        content = self._read_from(0)
        fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, _compacted(content, is_good))
            os.fsync(file)
            fresh.rename(self.path)
            # What others have added before the new file was in place.
            os.lseek(file, 0, os.SEEK_END)
            os.write(file, self._read_from(len(content)))
        finally:
            os.close(file)
        sync_folder(self.path.parent)
        self._reopen()

    def _write(self, line: bytes) -> None:
        if self._torn:
            line = TORN + line
        written = os.write(self._file, line)
        self.size += written
        self._torn = written != len(line)
        if self._torn:
            raise OSError(f"{self.path}: only a part could be written")

    def _reopen(self) -> None:
        self.close()
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        found = os.fstat(self._file)
        self._inode = (found.st_dev, found.st_ino)
        self.size = found.st_size

    def _on_disk(self) -> tuple[int, int]:
        try:
            found = os.stat(self.path)  # noqa: PTH116 - once per commit; the shorter way
        except FileNotFoundError:
            return (0, 0)
        return found.st_dev, found.st_ino

    def _read_from(self, start: int) -> bytes:
        parts = []
        while part := os.pread(self._file, 1 << 20, start):
            parts.append(part)
            start += len(part)
        return b"".join(parts)


def read_heads(path: Path) -> HeadsRead | None:
    """Everything in the file; None if there is none."""
    try:
        return parse_heads(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path}: the audit heads can't be read: {error.strerror}") from error


def parse_heads(content: bytes) -> HeadsRead:
    read = HeadsRead([], [], [])
    if not content.startswith(TITLE):
        read.garbled.append(1)
    for number, line in enumerate(content.splitlines(keepends=True), 1):
        words = line.split(b" ")
        if line == TITLE or line.endswith(TORN):
            continue
        if words[0] == LOST and len(words) == 2 and words[1].strip().isdigit():
            read.lost.append(int(words[1]))
        elif (head := _head(number, line)) is not None:
            read.heads.append(head)
        else:
            read.garbled.append(number)
    return read


def _head(number: int, line: bytes) -> Head | None:
    count, _, seal = line.partition(b" ")
    if not count.isdigit() or len(seal) != 2 * SIZE + 1 or not seal.endswith(b"\n"):
        return None
    try:
        return Head(number, int(count), bytes.fromhex(seal[:-1].decode("ascii")))
    except ValueError:
        return None


def _compacted(content: bytes, is_good: Callable[[list[Head]], list[bool]]) -> bytes:
    read = parse_heads(content)
    lines = content.splitlines(keepends=True)
    good = {head.line for head, fits in zip(read.heads, is_good(read.heads), strict=True) if fits}
    if good:
        best = max((head for head in read.heads if head.line in good), key=lambda head: head.number)
        good.discard(best.line)
    kept = [line for number, line in enumerate(lines, 1) if number not in good and not line.endswith(TORN)]
    return b"".join(kept)
