"""The codemap of a workspace: built in the background, asked from any thread, as fresh as the files.

Questions return what the index has; `progress()` says whether that is all of it.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from toolwire.codemap.chain import Chain
from toolwire.codemap.graph import Graph
from toolwire.codemap.keeper import Keeper, Listener, Progress
from toolwire.codemap.languages import language_of
from toolwire.codemap.library import Library, Page, Ref
from toolwire.codemap.listing import files_with
from toolwire.codemap.search import search
from toolwire.codemap.sheet import CALLABLE_KINDS, NOWHERE, TYPE_KINDS
from toolwire.codemap.shelf import DefinitionRow, Shelf
from toolwire.codemap.source import plain, read_source
from toolwire.codemap.usages import mentions
from toolwire.codemap.views import Direction, Edge, Node, Symbol, Usage, symbol
from toolwire.errors import StoreError

if TYPE_CHECKING:
    from toolwire.settings import Settings
    from toolwire.tools.workspace import Workspace

log = logging.getLogger(__name__)

_INDEX_FILE = "codemap.sqlite3"
_ROUNDS = 3
"""How often a question is asked again because a file it was answered from had changed meanwhile."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Fresh(Generic[_T]):
    """An answer and the files it was drawn from."""

    value: _T
    paths: frozenset[str]


class Codemap:
    def __init__(self, workspace: Workspace, settings: Settings, listener: Listener | None = None) -> None:
        self._workspace = workspace
        self._settings = settings
        self._temporary = contextlib.ExitStack()
        self._shelf = self._open_shelf()
        self._library = Library(self._shelf, settings.codemap_pages)
        self._keeper = Keeper(workspace, self._shelf, settings, listener)
        self._graph: tuple[int, Graph] | None = None
        self._lock = threading.Lock()
        self._asking = threading.RLock()
        """A graph remembers as it goes and is not for two threads at once."""
        self._started = False
        self._closed = False

    def _open_shelf(self) -> Shelf:
        try:
            return Shelf(self._workspace.state / _INDEX_FILE)
        except StoreError as error:
            log.warning("%s; the code index is kept in a temporary folder", error.message)
        try:
            folder = self._temporary.enter_context(tempfile.TemporaryDirectory(prefix="toolwire-"))
        except OSError as error:
            raise StoreError(f"no place for the code index: {error}") from error
        return Shelf(Path(folder) / _INDEX_FILE)

    def start(self) -> None:
        """Begin to build and to follow changes, in the background. A second time does nothing."""
        with self._lock:
            if not self._started and not self._closed:
                self._started = True
                self._keeper.start()

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            started = self._started
        if started:
            self._keeper.close()
        self._shelf.close()
        self._temporary.close()

    def __enter__(self) -> Codemap:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def progress(self) -> Progress:
        return self._keeper.progress()

    def wait(self, timeout: float) -> bool:
        """True if the index is whole; waits no longer than `timeout` for that."""
        self.start()
        return self._keeper.wait(timeout)

    def changed(self, paths: Iterable[str]) -> None:
        """These files were written just now; the next question sees them so."""
        self._keeper.changed(paths)

    # Questions

    def classes(self, name: str) -> list[Symbol]:
        """Types of that name; `Outer.Inner` and qualified names narrow it."""
        return self._ask(
            (name.rpartition(".")[2],), lambda graph: _fresh(self._named(graph, name, TYPE_KINDS - {"impl"}))
        )

    def functions(self, name: str, owner: str | None = None) -> list[Symbol]:
        """Functions of that name, all overloads; with `owner` those of that type and of no other."""
        whole = f"{owner}.{name}" if owner else name
        return self._ask((name,), lambda graph: _fresh(self._named(graph, whole, CALLABLE_KINDS)))

    def inherited(self, name: str, owner: str) -> list[Symbol]:
        """Functions a type has from the types above it."""
        return self._ask((name, owner.rpartition(".")[2]), lambda graph: _fresh(self._inherited(graph, name, owner)))

    def members(self, owner: Symbol) -> list[Symbol]:
        """What a type has in it, also where that is written outside it."""
        return self._ask((owner.name,), lambda graph: _fresh(self._members(graph, owner)))

    def callers(self, target: Symbol, depth: int = 1, check: Callable[[], None] = lambda: None) -> Node:
        return self._chain(target, "callers", depth, check)

    def callees(self, target: Symbol, depth: int = 1, check: Callable[[], None] = lambda: None) -> Node:
        return self._chain(target, "callees", depth, check)

    def edges(self, target: Symbol, direction: Direction) -> list[Edge]:
        """One step of the call graph, guesses and all."""

        def answer(graph: Graph) -> Fresh[list[Edge]]:
            current = self._again(graph, target)
            found = (graph.callers if direction == "callers" else graph.callees)(current.ref) if current else []
            paths = {edge.caller.path for edge in found} | {edge.callee.path for edge in found} | {target.path}
            return Fresh(found, frozenset(paths))

        return self._ask((target.name,), answer)

    def usages(self, name: str, check: Callable[[], None] = lambda: None) -> Iterator[Usage]:
        """Every place the name stands in code, file by file; the files are read as they are now."""
        for path in files_with(self._workspace, self._settings, name, self._keeper.stopped):
            check()
            language = language_of(path)
            source = read_source(self._workspace, path, self._settings)
            text = plain(source.data) if source else None
            if language is None or text is None:
                continue
            for mention in mentions(language, text, name):
                yield Usage(path, mention.line, mention.column, mention.text)

    def search(self, words: Iterable[str], limit: int | None = None) -> list[Symbol]:
        """Symbols whose names have the words, the best first."""
        wanted = tuple(words)
        most = limit or self._settings.search_limit
        return self._ask(wanted, lambda graph: _fresh(search(self._library, wanted, most)))

    def imports(self, name: str, paths: Iterable[str]) -> list[tuple[str, int]]:
        """Path and line of the imports of something of that name in these files."""

        def answer(graph: Graph) -> Fresh[list[tuple[str, int]]]:
            pages = (graph.library.page_at(path) for path in wanted)
            found = [
                (page.path, item.line)
                for page in pages
                if page is not None
                for item in page.sheet.imports
                if name in (item.item.rpartition(".")[2], item.local, item.module.rpartition(".")[2])
            ]
            return Fresh(found, frozenset(path for path, _ in found))

        wanted = tuple(paths)
        return self._ask((name,), answer)

    def outline(self, path: str) -> list[Symbol]:
        """Every definition of one file, in order."""

        def answer(graph: Graph) -> Fresh[list[Symbol]]:
            page = self._library.page_at(path)
            found = [symbol(page, index) for index in range(len(page.definitions))] if page else []
            return Fresh([one for one in found if one.kind != "impl"], frozenset({path}))

        return self._ask((), answer)

    def paths(self) -> list[str]:
        """Every indexed file."""
        return sorted(self._shelf.stamps())

    def graph(self) -> Graph:
        """The call graph of the index as it is now. Not for two threads at once."""
        return self._current()

    def page(self, target: Symbol) -> Page | None:
        """The file a symbol was found in, as it was indexed then."""
        return self._library.page(target.ref.file)

    # Answers

    def _chain(self, target: Symbol, direction: Direction, depth: int, check: Callable[[], None]) -> Node:
        def answer(graph: Graph) -> Fresh[Node]:
            current = self._again(graph, target) or target
            node = Chain(graph, self._settings, check).walk(current, direction, depth)
            return Fresh(node, frozenset(_paths(node)))

        return self._ask((target.name,), answer)

    def _named(self, graph: Graph, name: str, kinds: frozenset[str]) -> list[Symbol]:
        owner, _, last = name.rpartition(".")
        rows = [row for row in graph.resolver.definitions(last) if row.kind in kinds and _inside(row, owner)]
        pages = [(graph.library.page(row.file), row.at) for row in rows]
        found = [symbol(page, at) for page, at in pages if page is not None]
        return sorted(found, key=lambda one: (one.path, one.line))

    def _inherited(self, graph: Graph, name: str, owner: str) -> list[Symbol]:
        found: dict[Ref, Symbol] = {}
        for one in self._named(graph, owner, TYPE_KINDS - {"impl"}):
            for above in graph.resolver.ancestors(one.ref):
                for row in graph.resolver.members.rows(above, name):
                    page = graph.library.page(row.file)
                    if page is not None and row.kind in CALLABLE_KINDS:
                        found[Ref(row.file, row.at)] = symbol(page, row.at)
        return list(found.values())

    def _members(self, graph: Graph, owner: Symbol) -> list[Symbol]:
        page = graph.library.page_at(owner.path)
        current = self._again(graph, owner)
        if page is None or current is None:
            return []
        inside = [index for names in page.children.get(current.ref.at, {}).values() for index in names]
        found = {Ref(page.id, index): symbol(page, index) for index in inside}
        for file in self._shelf.adding_to(owner.qualified):
            other = graph.library.page(file)
            for index, definition in enumerate(other.definitions if other else ()):
                if (
                    other is not None
                    and definition.kind in CALLABLE_KINDS
                    and self._owned(graph, other, index, current.ref)
                ):
                    found[Ref(other.id, index)] = symbol(other, index)
        return sorted(found.values(), key=lambda one: (one.path != owner.path, one.path, one.line))

    def _owned(self, graph: Graph, page: Page, index: int, ref: Ref) -> bool:
        definition = page.definitions[index]
        if definition.owner:
            return ref in graph.resolver.owner_types(page, index)
        parent = definition.parent
        return (
            parent != NOWHERE
            and page.definitions[parent].kind in TYPE_KINDS
            and ref in graph.resolver.own_types(page, parent)
        )

    def _again(self, graph: Graph, target: Symbol) -> Symbol | None:
        """The same symbol in the present index, if its file was indexed again since it was found."""
        page = graph.library.page(target.ref.file)
        if page is not None and page.path == target.path:
            return target
        page = graph.library.page_at(target.path)
        if page is None:
            return None
        same = [
            symbol(page, index)
            for index, definition in enumerate(page.definitions)
            if definition.name == target.name and definition.kind == target.kind
        ]
        same = [one for one in same if one.qualified == target.qualified]
        exact = [one for one in same if one.signature == target.signature]
        return min(exact or same, key=lambda one: abs(one.line - target.line), default=None)

    # Freshness

    def _ask(self, words: tuple[str, ...], answer: Callable[[Graph], Fresh[_T]]) -> _T:
        """Answer from an index that has caught up, and again if a file behind the answer has changed."""
        self.start()
        self._keeper.prepare(words, self._settings.codemap_wait)
        for _ in range(_ROUNDS):
            with self._asking:
                fresh = answer(self._current())
            stale = self._keeper.stale(fresh.paths)
            if not stale:
                break
            self._keeper.index(stale)
        return fresh.value

    def _current(self) -> Graph:
        version = self._shelf.version()
        if self._graph is None or self._graph[0] != version:
            self._graph = (version, Graph(self._library))
        return self._graph[1]


def _fresh(symbols: list[Symbol]) -> Fresh[list[Symbol]]:
    return Fresh(symbols, frozenset(one.path for one in symbols))


def _inside(row: DefinitionRow, owner: str) -> bool:
    return not owner or row.scope == owner or row.scope.endswith("." + owner)


def _paths(node: Node) -> Iterable[str]:
    yield node.symbol.path
    for child in node.children:
        yield from _paths(child)
