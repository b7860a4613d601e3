"""The version of an index: everything that decides what stands in it. Another version is built again, never read."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib.resources import files

_DECIDING = ("entry.py", "extract.py", "languages.py", "modules.py", "reading.py", "sheet.py", "source.py")
"""The modules through which a file goes into the index; the queries count as well."""
_BITS = 0x7FFFFFFF
"""SQLite keeps the number in 32 signed bits."""


@cache
def version(schema: str) -> int:
    """A number for the table layout, the code that fills it and the queries it is filled by."""
    digest = blake2b(schema.encode(), digest_size=4)
    package = files("toolwire.codemap")
    queries = sorted(package.joinpath("queries").iterdir(), key=lambda file: file.name)
    for file in (*(package.joinpath(name) for name in _DECIDING), *queries):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return int.from_bytes(digest.digest(), "big") & _BITS or 1
