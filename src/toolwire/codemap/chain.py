"""Call chains: the graph walked to a depth, cycles cut and marked, guesses kept apart (spec README, "call_chain")."""

from __future__ import annotations

from collections.abc import Callable

from toolwire.codemap.graph import Graph
from toolwire.codemap.library import Ref
from toolwire.codemap.views import Direction, Edge, Node, Symbol
from toolwire.settings import Settings


class Chain:
    """One walk. `check` is called between steps and may raise to end it."""

    def __init__(self, graph: Graph, settings: Settings, check: Callable[[], None] = lambda: None) -> None:
        self._graph = graph
        self._settings = settings
        self._check = check
        self._room = settings.chain_nodes

    def walk(self, symbol: Symbol, direction: Direction, depth: int) -> Node:
        depth = min(depth, self._settings.chain_depth)
        return self._node(Edge(symbol, symbol, "exact", "direct", ()), symbol, direction, depth, ())

    def _node(self, edge: Edge, symbol: Symbol, direction: Direction, depth: int, path: tuple[Ref, ...]) -> Node:
        cycle = symbol.ref in path
        children: tuple[Node, ...] = ()
        cut, left_out = False, 0
        # Nobody follows a guess: what is known by name only ends the branch.
        if depth > 0 and not cycle and edge.certainty != "name only":
            children, cut, left_out = self._children(symbol, direction, depth, (*path, symbol.ref))
        return Node(symbol, edge.certainty, edge.via, edge.sites, cycle, cut, left_out, children)

    def _children(
        self, symbol: Symbol, direction: Direction, depth: int, path: tuple[Ref, ...]
    ) -> tuple[tuple[Node, ...], bool, int]:
        self._check()
        edges = self._graph.callers(symbol.ref) if direction == "callers" else self._graph.callees(symbol.ref)
        known = [edge for edge in edges if edge.certainty != "name only"]
        guesses = edges[len(known) :]
        shown = known + guesses[: self._settings.chain_guesses]
        fitting = shown[: self._room]
        self._room -= len(fitting)
        nodes = tuple(
            self._node(edge, edge.caller if direction == "callers" else edge.callee, direction, depth - 1, path)
            for edge in fitting
        )
        return nodes, len(fitting) < len(shown), len(edges) - len(shown)
