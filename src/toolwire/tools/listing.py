"""What is in an open folder: names, kinds and sizes, without following links."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import Literal

from toolwire.tools.atomic import TEMPORARY
from toolwire.tools.twins import shown

EntryKind = Literal["folder", "file", "link", "other"]


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    kind: EntryKind
    size: int | None = None
    """Bytes, of a file."""


@dataclass(frozen=True, slots=True)
class Listing:
    entries: tuple[Entry, ...]
    total: int
    """How many there are, shown or not."""


def listing(folder: int, limit: int) -> Listing:
    with os.scandir(folder) as found:
        names = [(kind_of(entry), entry.name) for entry in found if not entry.name.startswith(TEMPORARY)]
    names.sort(key=lambda pair: (pair[0] != "folder", pair[1]))
    entries = tuple(_entry(folder, name, kind) for kind, name in names[:limit])
    return Listing(entries, len(names))


def kind_of(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _entry(folder: int, name: str, kind: EntryKind) -> Entry:
    size: int | None = None
    if kind == "file":
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            size = found.st_size if stat.S_ISREG(found.st_mode) else None
        except OSError:
            size = None
    return Entry(shown(name), kind, size)
