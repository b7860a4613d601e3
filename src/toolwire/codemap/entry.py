"""One file's part of the index: its sheet, and the names under which the index must find the file."""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from toolwire.codemap.extract import extract
from toolwire.codemap.languages import Language
from toolwire.codemap.modules import is_added, module_of, scope_name
from toolwire.codemap.reading import split_type
from toolwire.codemap.sheet import Sheet, encode


class DefinitionKey(msgspec.Struct, frozen=True, array_like=True, gc=False):
    name: str
    at: int
    kind: str
    scope: str
    added: bool
    """Written outside the type it belongs to."""


class Keys(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the index is asked by: who defines a name, who calls it, who extends it, who imports it under another."""

    definitions: list[DefinitionKey]
    calls: list[str]
    bases: list[str]
    renames: list[tuple[str, str]]
    """Name at its origin, name in this file."""


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    path: str
    language: str
    module: str
    size: int
    modified: int
    digest: bytes
    sheet: bytes
    keys: Keys


def digest_of(source: bytes) -> bytes:
    return blake2b(source, digest_size=16).digest()


def make_entry(path: str, language: Language, source: bytes, modified: int) -> Entry:
    sheet = extract(language, source)
    module = module_of(path, language, sheet.package)
    return Entry(
        path,
        language.name,
        module,
        len(source),
        modified,
        digest_of(source),
        encode(sheet),
        keys_of(sheet, module, language),
    )


def keys_of(sheet: Sheet, module: str, language: Language) -> Keys:
    return Keys(
        [
            DefinitionKey(
                definition.name, index, definition.kind, scope_name(module, sheet, index), is_added(sheet, definition)
            )
            for index, definition in enumerate(sheet.definitions)
        ],
        list({call.name for call in sheet.calls}),
        list({split_type(base.text, language.separator)[1] for base in sheet.bases}),
        list({_rename(item.item, item.local) for item in sheet.imports if item.item and item.local != item.item}),
    )


def _rename(item: str, local: str) -> tuple[str, str]:
    return item.rpartition(".")[2], local
