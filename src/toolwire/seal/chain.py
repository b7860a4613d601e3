"""How records are chained and sealed, as pure functions (docs/audit.md has the scheme in words).

A hash is SHA-256 over fields of fixed size or preceded by their length, so that no two lists of fields look alike.
A seal is HMAC-SHA256 with the store's key: without the key nobody can make one.
"""

from __future__ import annotations

import hashlib
import hmac
from functools import lru_cache
from hashlib import sha256
from struct import Struct
from typing import Final

SIZE: Final = 32
"""Bytes of a hash or a seal."""

LEDGER_GENESIS: Final = sha256(b"toolwire ledger 1").digest()
"""Before the first note."""

_begin = sha256().copy
"""A copy of a hash object is made in half the time of a new one; there are two for every run."""
_PIECE, _LARGE = 2047, 65_536
"""hashlib gives the interpreter lock away for every piece that is longer; a busy event loop is slow to return it."""
_RUN = Struct(">32sqq").pack
_ROW = Struct(">32sqq32sqq").pack


def session_genesis(tenant: str, name: str, epoch: str) -> bytes:
    """Before the first run of a session: its chain is nobody else's."""
    return sha256(fields(b"toolwire session 1", tenant.encode(), name.encode(), epoch.encode())).digest()


def run_hash(before: bytes, first: int, last: int, digest: bytes) -> bytes:
    """A session's chain, one run further. `digest` is SHA-256 of the run as it is stored."""
    hashing = _begin()
    hashing.update(_RUN(before, first, last) + digest)
    return hashing.digest()


def digest_of(data: bytes) -> bytes:
    """SHA-256. Data of ordinary size is hashed without giving the interpreter lock away."""
    hashing = _begin()
    _feed(hashing, data)
    return hashing.digest()


def note_hash(
    before: bytes, number: int, at: int, kind: str, subject: str, trace: str, digest: str, until: int
) -> bytes:
    """The ledger's chain, one note further."""
    return note_link(before, number, at, kind, digest_of(subject.encode()), trace, digest, until)


def note_link(
    before: bytes, number: int, at: int, kind: str, subject: bytes, trace: str, digest: str, until: int
) -> bytes:
    """The same, for those who may not see the subject: its digest."""
    text = (str(number), str(at), kind, trace, digest, str(until))
    return sha256(fields(before, subject, *map(str.encode, text))).digest()


def seal_genesis(key: bytes, unsealed: int) -> bytes:
    """Before the first sealed row; rows up to `unsealed` are older than seals."""
    return keyed(key, b"toolwire log 1" + unsealed.to_bytes(8))


def row_seal(key: bytes, before: bytes, row: int, runs: bytes, hashes: bytes, noted: int, ledger: bytes) -> bytes:
    """The seal of a row of the log: over the seal before it, every run's hash, and the ledger up to `noted`."""
    return keyed(key, _ROW(before, row, noted, ledger, len(runs), len(hashes)) + runs + hashes)


def keyed(key: bytes, data: bytes) -> bytes:
    """HMAC-SHA256. (`hmac.digest` always gives the interpreter lock away.)"""
    sealing = _with_key(key).copy()
    _feed(sealing, data)
    return sealing.digest()


def _feed(hashing: hmac.HMAC | hashlib._Hash, data: bytes) -> None:
    size = len(data)
    if size <= _PIECE or size > _LARGE:
        hashing.update(data)
    else:
        view = memoryview(data)
        for start in range(0, size, _PIECE):
            hashing.update(view[start : start + _PIECE])


@lru_cache(maxsize=64)
def _with_key(key: bytes) -> hmac.HMAC:
    return hmac.new(key, digestmod="sha256")


def fields(*parts: bytes) -> bytes:
    return b"".join([len(part).to_bytes(8) + part for part in parts])
