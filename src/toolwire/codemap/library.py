"""The sheets as the resolver reads them: pages with their lookups, kept in memory while they are in use."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from functools import cached_property
from typing import NamedTuple

from toolwire.codemap.languages import BY_NAME
from toolwire.codemap.modules import qualified
from toolwire.codemap.sheet import NOWHERE, TYPE_KINDS, Call, Definition, Import, Sheet, Variable
from toolwire.codemap.shelf import DefinitionRow, FileRow, Shelf


class Ref(NamedTuple):
    """A definition: the file's id and its index in that file's sheet. NOWHERE is the file itself."""

    file: int
    at: int


class Page:
    """One file's sheet with what is looked up in it."""

    def __init__(self, row: FileRow, sheet: Sheet) -> None:
        self.id = row.id
        self.path = row.path
        self.module = row.module
        self.language = BY_NAME[row.language]
        self.sheet = sheet
        self.definitions: list[Definition] = sheet.definitions

    @cached_property
    def children(self) -> dict[int, dict[str, list[int]]]:
        found: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for index, definition in enumerate(self.definitions):
            if definition.kind != "impl" and not definition.owner:
                found[definition.parent][definition.name].append(index)
        return {scope: dict(names) for scope, names in found.items()}

    @cached_property
    def variables(self) -> dict[tuple[int, str], list[Variable]]:
        """By scope and name. What is an import as well (`const a = require("a")`) counts as the import."""
        imported = {(item.line, item.local) for item in self.sheet.imports}
        found: dict[tuple[int, str], list[Variable]] = defaultdict(list)
        for variable in self.sheet.variables:
            if (variable.line, variable.name) not in imported:
                found[variable.scope, variable.name].append(variable)
        return dict(found)

    @cached_property
    def parameters(self) -> dict[int, list[Variable]]:
        """By function, in order. A query may find one with a default twice, plain and marked; the mark counts."""
        found: dict[int, dict[str, Variable]] = defaultdict(dict)
        for variable in self.sheet.variables:
            if variable.role == "p":
                known = found[variable.scope].get(variable.name)
                if known is None or not known.flag:
                    found[variable.scope][variable.name] = variable
        return {scope: list(names.values()) for scope, names in found.items()}

    @cached_property
    def returned(self) -> dict[int, list[Variable]]:
        found: dict[int, list[Variable]] = defaultdict(list)
        for variable in self.sheet.variables:
            if variable.role == "r":
                found[variable.scope].append(variable)
        return dict(found)

    @cached_property
    def calls_named(self) -> dict[str, list[Call]]:
        found: dict[str, list[Call]] = defaultdict(list)
        for call in self.sheet.calls:
            found[call.name].append(call)
        return dict(found)

    @cached_property
    def calls_in(self) -> dict[int, list[Call]]:
        found: dict[int, list[Call]] = defaultdict(list)
        for call in self.sheet.calls:
            found[call.scope].append(call)
        return dict(found)

    @cached_property
    def imports(self) -> dict[str, list[Import]]:
        found: dict[str, list[Import]] = defaultdict(list)
        for item in self.sheet.imports:
            if item.item != "*":
                found[item.local].append(item)
        return dict(found)

    @cached_property
    def wildcards(self) -> list[Import]:
        return [item for item in self.sheet.imports if item.item == "*"]

    @cached_property
    def bases(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = defaultdict(list)
        for base in self.sheet.bases:
            found[base.scope].append(base.text)
        return dict(found)

    def qualified(self, index: int) -> str:
        return qualified(self.module, self.sheet, index) if index != NOWHERE else self.module

    def enclosing_type(self, scope: int) -> int:
        while scope != NOWHERE and self.definitions[scope].kind not in TYPE_KINDS:
            scope = self.definitions[scope].parent
        return scope


class Library:
    """Pages by file id, the least recently used dropped; a changed file has a new id, so no page is ever stale."""

    def __init__(self, shelf: Shelf, capacity: int) -> None:
        self.shelf = shelf
        self._capacity = capacity
        self._pages: OrderedDict[int, Page | None] = OrderedDict()
        self._lock = threading.Lock()

    def page(self, file: int) -> Page | None:
        with self._lock:
            if file in self._pages:
                self._pages.move_to_end(file)
                return self._pages[file]
        found = self.shelf.file(file)
        page = Page(*found) if found else None
        with self._lock:
            self._pages[file] = page
            while len(self._pages) > self._capacity:
                self._pages.popitem(last=False)
        return page

    def page_at(self, path: str) -> Page | None:
        file = self.shelf.file_named(path)
        return self.page(file) if file is not None else None

    def definitions(self, name: str) -> list[DefinitionRow]:
        return self.shelf.definitions(name)
