"""What one source file says: its definitions, calls, variables, imports and bases, before anything is resolved.

A sheet is made from the file alone, so files are read in parallel and one changed file costs one file. Meaning (which
definition a call reaches) is worked out when somebody asks, from the sheets.
"""

from __future__ import annotations

import msgspec

TYPE_KINDS = frozenset(
    {"class", "interface", "trait", "struct", "enum", "object", "record", "module", "union", "impl"}
)
"""Definitions that have members. `impl` adds members to a type defined elsewhere and is no definition itself."""
CALLABLE_KINDS = frozenset({"function", "method", "constructor", "declaration"})
"""`declaration` is a head without a body that another file fills in (a C prototype)."""
SPACE_KINDS = frozenset({"namespace"})
"""Definitions that only give names a place."""

NOWHERE = -1
"""The scope of what stands at the top of a file."""


# gc=False: sheets hold no cycles, and there are hundreds of thousands of these objects.


class Definition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    kind: str
    name: str
    parent: int
    """Index of the enclosing definition in the same sheet, or NOWHERE."""
    owner: str
    """The type a member belongs to where that is written on the member itself (Go receivers, C++ `A::f`)."""
    line: int
    end_line: int
    signature: str
    returns: str


class Variable(msgspec.Struct, frozen=True, array_like=True, gc=False):
    name: str
    scope: int
    role: str
    """`p` parameter, `v` variable, `f` field, `r` what a function returns where it does not say so in its head."""
    type: str
    """The type as written, or nothing."""
    value: str
    """The expression it is first set to, if short; a type may be read off it."""
    line: int
    within: int
    """The scope its value was written in; a field may be set inside a method."""
    flag: str = ""
    """A parameter's: `?` has a default, `*` takes the rest."""


class Call(msgspec.Struct, frozen=True, array_like=True, gc=False):
    name: str
    scope: int
    receiver: str
    line: int
    count: int
    """Number of arguments, or -1 where the language does not tell overloads apart by it."""
    arguments: str
    kind: str
    """`call`, or `new` where the language writes a construction differently from a call."""


class Import(msgspec.Struct, frozen=True, array_like=True, gc=False):
    local: str
    """The name it has in this file; for a wildcard `*`, for a bare module import the module itself."""
    module: str
    item: str
    """The thing taken from the module; empty if the module itself is meant, `*` for all of it."""
    line: int
    scope: int


class Base(msgspec.Struct, frozen=True, array_like=True, gc=False):
    scope: int
    text: str


class Sheet(msgspec.Struct, frozen=True, array_like=True, gc=False):
    language: str
    package: str
    """The package the file declares, dotted; empty if it declares none."""
    definitions: list[Definition]
    calls: list[Call]
    variables: list[Variable]
    imports: list[Import]
    bases: list[Base]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Sheet)


def encode(sheet: Sheet) -> bytes:
    return _encoder.encode(sheet)


def decode(data: bytes) -> Sheet:
    return _decoder.decode(data)
