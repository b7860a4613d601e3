"""Length-prefixed MessagePack on a pair of pipes: how the indexer and its workers talk."""

from __future__ import annotations

import struct
from typing import IO

import msgspec

from toolwire.codemap.entry import Entry

_LENGTH = struct.Struct(">I")


class Task(msgspec.Struct, frozen=True, array_like=True):
    paths: list[str]


class Report(msgspec.Struct, frozen=True, array_like=True):
    entries: list[Entry]
    gone: list[str]


class Hello(msgspec.Struct, frozen=True, array_like=True):
    """What a worker must know first."""

    root: str
    file_bytes: int
    line_bytes: int


def send(stream: IO[bytes], message: msgspec.Struct) -> None:
    data = msgspec.msgpack.encode(message)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """One message's bytes, or None at the end of the stream."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return data if len(data) == length else None
