"""The name on disk that a caller means who spells it as it was shown, or as Unicode has it in another form.

A name that is no Unicode is shown with U+FFFD in it; `é` is one character or two, and models write it as one whatever
they were shown. Where no entry has the very name asked for and exactly one has such a twin, that one is meant.
"""

from __future__ import annotations

import os
import unicodedata

from toolwire.tools import confine


def shown(name: str) -> str:
    """A name of the file system as text that can be sent."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def path_on_disk(beneath: confine.Beneath, path: str) -> str:
    """A clean path with each name that is not there replaced by its twin, if it has one."""
    if path.isascii():
        return path
    done: list[str] = []
    for name in path.split("/"):
        done.append(name if name.isascii() else _name_beneath(beneath, "/".join(done) or ".", name))
    return "/".join(done)


def name_on_disk(folder: int, name: str) -> str:
    """The same for one name in an open folder."""
    if name.isascii() or _is_there(folder, name):
        return name
    wanted = _spelled(name)
    with os.scandir(folder) as entries:
        twins = [entry.name for entry in entries if _spelled(shown(entry.name)) == wanted]
    return twins[0] if len(twins) == 1 else name


def _name_beneath(beneath: confine.Beneath, folder: str, name: str) -> str:
    try:
        descriptor = beneath.open(folder, confine.FOLDER)
    except OSError:
        return name
    try:
        return name_on_disk(descriptor, name)
    except OSError:
        return name
    finally:
        os.close(descriptor)


def _is_there(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def _spelled(name: str) -> str:
    return unicodedata.normalize("NFC", name)
