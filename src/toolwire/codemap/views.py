"""What the codemap answers with: symbols, calls and chains, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from toolwire.codemap.library import Page, Ref
from toolwire.codemap.meaning import CertaintyName
from toolwire.codemap.resolver import Via
from toolwire.codemap.sheet import NOWHERE

Direction = Literal["callers", "callees"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition in the project. A file's own top level counts as one, of kind `file`."""

    ref: Ref = field(repr=False, compare=False)
    kind: str
    name: str
    qualified: str
    container: str
    """The definitions around it, dotted; empty at the top of a file."""
    path: str
    line: int
    end_line: int
    signature: str
    language: str

    @property
    def title(self) -> str:
        return f"{self.container}.{self.name}" if self.container else self.name


@dataclass(frozen=True, slots=True)
class Site:
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Usage:
    """A place where a name stands in code."""

    path: str
    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Edge:
    """One definition calls another, at these places."""

    caller: Symbol
    callee: Symbol
    certainty: CertaintyName
    via: Via
    sites: tuple[Site, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A step of a call chain: the symbol, how it is connected to the step before, and what follows."""

    symbol: Symbol
    certainty: CertaintyName
    via: Via
    sites: tuple[Site, ...]
    cycle: bool = False
    """The symbol is on the path to itself; the chain is not followed further here."""
    cut: bool = False
    """There is more, but the limit of depth or size was reached."""
    left_out: int = 0
    """Further connections by name only that are not shown."""
    children: tuple[Node, ...] = ()


def symbol(page: Page, index: int) -> Symbol:
    if index == NOWHERE:
        name = page.path.rpartition("/")[2]
        return Symbol(
            Ref(page.id, index), "file", name, page.module, "", page.path, 1, 1, page.path, page.language.name
        )
    definition = page.definitions[index]
    return Symbol(
        Ref(page.id, index),
        definition.kind,
        definition.name,
        page.qualified(index),
        container(page, index),
        page.path,
        definition.line,
        definition.end_line,
        definition.signature,
        page.language.name,
    )


def container(page: Page, index: int) -> str:
    whole = page.qualified(index).rpartition(".")[0]
    if page.module and whole.startswith(page.module):
        return whole[len(page.module) :].lstrip(".")
    return whole
