"""Edges of the call graph, found when asked for: who calls a definition, and whom it calls."""

from __future__ import annotations

from collections.abc import Iterable

from toolwire.codemap.library import Library, Page, Ref
from toolwire.codemap.meaning import Certainty
from toolwire.codemap.resolver import Reached, Resolver
from toolwire.codemap.sheet import CALLABLE_KINDS, NOWHERE, TYPE_KINDS, Call
from toolwire.codemap.views import Edge, Site, symbol

_RENAMES = 4
"""How often a name may be handed on under another one before a caller uses it."""


class Graph:
    """The call graph of one version of the index."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.resolver = Resolver(library)

    def callers(self, ref: Ref) -> list[Edge]:
        page = self.library.page(ref.file)
        if page is None:
            return []
        found: dict[tuple[Ref, Ref], list[tuple[Reached, Site]]] = {}
        for other, call in self._calls_of(page, ref):
            for reached in self.resolver.call(other, call):
                if reached.ref == ref:
                    key = (Ref(other.id, call.scope), ref)
                    found.setdefault(key, []).append((reached, Site(other.path, call.line)))
        return self._edges(found)

    def callees(self, ref: Ref) -> list[Edge]:
        page = self.library.page(ref.file)
        if page is None:
            return []
        found: dict[tuple[Ref, Ref], list[tuple[Reached, Site]]] = {}
        for call in self._calls_inside(page, ref.at):
            for reached in self.resolver.call(page, call):
                found.setdefault((ref, reached.ref), []).append((reached, Site(page.path, call.line)))
        return self._edges(found)

    def _calls_of(self, page: Page, ref: Ref) -> Iterable[tuple[Page, Call]]:
        """Calls that may mean the definition: by its name, by the names it is imported under, by its class."""
        shelf = self.library.shelf
        names = self._names(page, ref)
        level = names
        for _ in range(_RENAMES):
            level = {local for name in level for _, local in shelf.renaming(name)} - names
            names |= level
        places = {(file, name) for name in names for file in shelf.calling(name)}
        for file, name in sorted(places):
            other = self.library.page(file)
            if other is not None and other.language.family == page.language.family:
                for call in other.calls_named.get(name, ()):
                    yield other, call

    def _names(self, page: Page, ref: Ref) -> set[str]:
        if ref.at == NOWHERE:
            return set()
        definition = page.definitions[ref.at]
        names = {definition.name}
        builds = definition.kind == "constructor" or definition.kind in TYPE_KINDS
        if builds:
            language = page.language
            names |= language.super_names | language.self_names | ({language.construct} - {""})
            for own in self.resolver.around(page, ref.at):
                for at in (own, *self.resolver.members.subtypes(own)):
                    names.add(self.resolver.definition(at).name)
        return names

    def _calls_inside(self, page: Page, index: int) -> Iterable[Call]:
        """Calls of a definition itself; of a type or a file, those outside its functions."""
        yield from page.calls_in.get(index, ())

    def _edges(self, found: dict[tuple[Ref, Ref], list[tuple[Reached, Site]]]) -> list[Edge]:
        edges = []
        for (caller, callee), hits in found.items():
            caller_page, callee_page = self.library.page(caller.file), self.library.page(callee.file)
            if caller_page is None or callee_page is None:
                continue
            best = max((reached for reached, _ in hits), key=lambda reached: reached.sure)
            sites = tuple(sorted({site for _, site in hits}, key=lambda site: (site.path, site.line)))
            edges.append(
                (best.sure, Edge(
                    symbol(caller_page, caller.at), symbol(callee_page, callee.at), best.sure.words, best.via, sites,
                ))
            )  # fmt: skip
        edges.sort(key=lambda pair: (-pair[0], pair[1].sites[0].path, pair[1].sites[0].line))
        return [edge for _, edge in edges]


def callable_symbol(page: Page, index: int) -> bool:
    return page.definitions[index].kind in CALLABLE_KINDS


def certain(edge: Edge) -> bool:
    return edge.certainty != Certainty.NAME_ONLY.words
