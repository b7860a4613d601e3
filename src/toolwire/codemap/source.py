"""A source file's bytes as the parser wants them, or the reason it is left out of the index."""

from __future__ import annotations

import codecs
import os
from typing import NamedTuple

from toolwire.codemap.entry import Entry, Keys, digest_of, make_entry
from toolwire.codemap.languages import Language, language_of
from toolwire.codemap.sheet import Sheet, encode
from toolwire.errors import ToolError
from toolwire.settings import Settings
from toolwire.tools.workspace import Workspace

_CHUNK = 1024 * 1024
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


class Source(NamedTuple):
    data: bytes
    size: int
    modified: int


def read_source(workspace: Workspace, path: str, settings: Settings) -> Source | None:
    """None if there is no such file. A file too large to index comes without its content."""
    try:
        descriptor = workspace.open_file(path)
    except ToolError:
        return None
    try:
        stat = os.fstat(descriptor)
        data = _read(descriptor) if stat.st_size <= settings.codemap_file_bytes else b""
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return Source(data, stat.st_size, stat.st_mtime_ns)


def _read(descriptor: int) -> bytes:
    pieces = []
    while piece := os.read(descriptor, _CHUNK):
        pieces.append(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def read_entry(workspace: Workspace, path: str, settings: Settings) -> Entry | None:
    """A file's part of the index; an empty part if it is no text, generated in one line, or too large."""
    language = language_of(path)
    source = read_source(workspace, path, settings) if language else None
    if source is None or language is None:
        return None
    text = plain(source.data)
    if text is None or _minified(text, settings):
        return empty_entry(path, language, source)
    entry = make_entry(path, language, text, source.modified)
    if text is source.data:
        return entry
    return Entry(
        path,
        entry.language,
        entry.module,
        source.size,
        source.modified,
        digest_of(source.data),
        entry.sheet,
        entry.keys,
    )


def empty_entry(path: str, language: Language, source: Source) -> Entry:
    sheet = Sheet(language.name, "", [], [], [], [], [])
    keys = Keys([], [], [], [])
    return Entry(path, language.name, "", source.size, source.modified, digest_of(source.data), encode(sheet), keys)


def plain(data: bytes) -> bytes | None:
    """UTF-8 without its mark; other encodings that share its letters are left as they are; None if it is no text."""
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :]
    encoding = _UTF16.get(data[:2])
    if encoding:
        return data[2:].decode(encoding, "replace").encode()
    return None if b"\0" in data else data


def _minified(data: bytes, settings: Settings) -> bool:
    limit = settings.codemap_line_bytes
    return len(data) > limit and len(data) > limit * (data.count(b"\n") + 1)
