"""Source bytes → sheet: one parse, one pass of the language's query, everything placed by its position.

A definition's members are what lies inside it, so no rule about nesting is needed per language. Hot code: it runs for
every call and variable of a project, hence the plain tuples and the positions instead of node objects.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING

from toolwire.codemap.grammar import DEFINITION_ROLES, PLACED_ROLES, Grammar, grammar
from toolwire.codemap.languages import Language
from toolwire.codemap.reading import split_type
from toolwire.codemap.sheet import NOWHERE, SPACE_KINDS, TYPE_KINDS, Base, Call, Definition, Import, Sheet, Variable

if TYPE_CHECKING:
    from tree_sitter import Node

_TEXT_LIMIT = 200
"""Longest signature, receiver, value or argument list kept, in bytes; longer text is of no use to the resolver."""

_DEFAULT = "default"
"""The name of what a module exports without a name."""

_Captures = dict[str, "list[Node]"]
_Placed = tuple[int, str, "Node", _Captures]
"""Where it is, its role, the node of that role, and all of the match."""


def extract(language: Language, source: bytes) -> Sheet:
    """The sheet of one file. A file with syntax errors gives what could be understood of it."""
    from tree_sitter import Parser, QueryCursor

    loaded = grammar(language.name)
    tree = Parser(loaded.compiled).parse(source)
    return _Reader(loaded, source).read(QueryCursor(loaded.query).matches(tree.root_node))


class _Reader:
    """One file being read. Definitions first, since everything else is placed inside them."""

    def __init__(self, loaded: Grammar, source: bytes) -> None:
        self._language = loaded.language
        self._roles = loaded.roles
        self._slice = _slicer(source)
        self._package = ""
        self._definitions: list[Definition] = []
        self._starts: list[int] = []
        self._groups: list[tuple[int, int, str]] = []

    def read(self, matches: list[tuple[int, _Captures]]) -> Sheet:
        roles = self._roles
        found: dict[tuple[int, int], tuple[str, _Captures]] = {}
        rest: list[_Placed] = []
        for pattern, captures in matches:
            role = roles[pattern]
            node = captures[role][0]
            if role in PLACED_ROLES:
                rest.append((node.start_byte, role, node, captures))
            elif role in DEFINITION_ROLES:
                span = (node.start_byte, -node.end_byte)
                if span not in found or len(found[span][1]) < len(captures):
                    found[span] = (role, captures)
            elif role == "group":
                self._groups.append((node.start_byte, node.end_byte, self._text(captures["from"][0])))
            else:
                self._package = self._dotted(self._text(node))
        scopes = self._define(found)
        return self._place(rest, scopes)

    def _define(self, found: dict[tuple[int, int], tuple[str, _Captures]]) -> list[tuple[int, int, int]]:
        """Definitions in order of position, each under the innermost one around it."""
        stack: list[tuple[int, int]] = []
        scopes: list[tuple[int, int, int]] = []
        for index, span in enumerate(sorted(found)):
            start, end = span[0], -span[1]
            while stack and stack[-1][1] < end:
                stack.pop()
            parent = stack[-1][0] if stack else NOWHERE
            role, captures = found[span]
            self._definitions.append(self._definition(role, captures, parent))
            stack.append((index, end))
            scopes.append((start, end, index))
        return scopes

    def _definition(self, role: str, captures: _Captures, parent: int) -> Definition:
        node = captures[role][0]
        start, end = node.start_byte, node.end_byte
        body = captures.get("body")
        head = body[0].start_byte if body else end
        name = self._text(captures["name"][0])
        owner = self._text(captures["owner"][0]) if "owner" in captures else ""
        if role in SPACE_KINDS:
            name = self._dotted(name)
        elif role in TYPE_KINDS:
            owner, name = split_type(name, self._language.separator)
        return Definition(
            self._kind(role, name, parent, owner),
            name,
            parent,
            owner,
            node.start_point[0] + 1,
            node.end_point[0] + 1,
            _squeeze(self._slice(start, head)).rstrip(" {:=;") if head > start else name,
            self._text(captures["returns"][0]) if "returns" in captures else "",
        )

    def _kind(self, role: str, name: str, parent: int, owner: str) -> str:
        """A function directly inside a type is a method of it, and one with a constructor's name builds it."""
        if role != "function" and role != "method":
            return role
        above = self._definitions[parent] if parent != NOWHERE else None
        if not owner and (above is None or above.kind not in TYPE_KINDS):
            return "function"
        type_name = split_type(owner, self._language.separator)[1] if owner or above is None else above.name
        if name in self._language.constructors or (self._language.type_named_constructor and name == type_name):
            return "constructor"
        return "method"

    def _place(self, rest: list[_Placed], scopes: list[tuple[int, int, int]]) -> Sheet:
        calls: list[Call] = []
        variables: list[Variable] = []
        imports: list[Import] = []
        bases: list[Base] = []
        rest.sort(key=itemgetter(0))
        stack: list[tuple[int, int]] = [(1 << 62, NOWHERE)]
        coming = iter((*scopes, (1 << 62, 0, 0)))
        following, end, index = next(coming)
        innermost, scope = stack[-1]
        for placed in rest:
            start = placed[0]
            if following <= start or innermost <= start:
                while following <= start:
                    while stack[-1][0] < end:
                        stack.pop()
                    stack.append((end, index))
                    following, end, index = next(coming)
                while stack[-1][0] <= start:
                    stack.pop()
                innermost, scope = stack[-1]
            role = placed[1]
            if role == "call" or role == "new":
                calls.append(self._call(placed, scope))
            elif role == "base":
                bases.append(Base(self._type_scope(scope), self._text(placed[2])))
            elif role == "import" or role == "alias":
                imports.append(self._import(role, placed[2], placed[3], scope))
            else:
                variables.append(self._variable(placed, scope))
        return Sheet(self._language.name, self._package, self._definitions, calls, variables, _once(imports), bases)

    def _call(self, placed: _Placed, scope: int) -> Call:
        start, role, node, captures = placed
        cut = self._slice
        name, receiver, count, arguments = cut(start, node.end_byte), "", -1, ""
        if role == "new":
            receiver, name = split_type(name, self._language.separator)
        for capture, nodes in captures.items():
            other = nodes[0]
            if capture == "args":
                arguments = cut(other.start_byte, other.end_byte)
                if self._language.overloads:
                    count = other.named_child_count
            elif capture == "receiver" and role == "call":
                receiver = cut(other.start_byte, other.end_byte)
        return Call(name, scope, receiver, node.start_point[0] + 1, count, arguments, role)

    def _variable(self, placed: _Placed, scope: int) -> Variable:
        start, role, node, captures = placed
        line = node.start_point[0] + 1
        if role == "return":
            return Variable("", scope, "r", "", self._short(node), line, scope)
        within = scope
        if scope != NOWHERE and role != "param":
            if role == "field":
                scope = self._type_scope(scope)
            elif self._definitions[scope].kind in TYPE_KINDS:
                role = "field"
        name = self._slice(start, node.end_byte)
        if len(captures) == 1:
            return Variable(name, scope, role[0], "", "", line, within)
        kind = captures.get("type")
        value = captures.get("value")
        flag = "*" if "rest" in captures else "?" if "default" in captures else ""
        return Variable(
            name,
            scope,
            role[0],
            self._text(kind[0]) if kind else "",
            self._short(value[0]) if value else "",
            line,
            within,
            flag,
        )

    def _import(self, role: str, node: Node, captures: _Captures, scope: int) -> Import:
        line = node.start_point[0] + 1
        if role == "alias":
            target = self._dotted(self._text(captures["target"][0]))
            return Import(self._text(captures["name"][0]), "", target, line, scope)
        module = self._module(captures, node)
        if "wildcard" in captures:
            return Import("*", module, "*", line, scope)
        item = self._dotted(self._text(captures["item"][0])) if "item" in captures else ""
        if "path" in captures:
            module, _, item = module.rpartition(".")
        elif "default" in captures:
            item = _DEFAULT
        elif item in self._language.here:
            item = ""
        alias = captures.get("as")
        if alias:
            local = self._text(alias[0])
        elif item or self._language.binds == "whole":
            local = item or module.rpartition(".")[2] if self._language.here else item or module
        else:
            local = module.rpartition(".")[2]
        return Import(local, module, item, line, scope)

    def _module(self, captures: _Captures, node: Node) -> str:
        """The module of an import, with the prefixes of the groups around it (`use a::{b::C}`)."""
        parts = [prefix for start, end, prefix in self._groups if start <= node.start_byte < end]
        nodes = captures.get("from") or captures.get("path")
        if nodes:
            # Where a grammar has no node for the whole path, the query says what it ends with or what follows it.
            until, last = captures.get("until"), captures.get("last")
            end = until[0].start_byte if until else last[0].end_byte if last else nodes[0].end_byte
            parts.append(self._slice(nodes[0].start_byte, end))
        return self._dotted(self._language.separator.join(parts))

    def _type_scope(self, scope: int) -> int:
        while scope != NOWHERE and self._definitions[scope].kind not in TYPE_KINDS:
            scope = self._definitions[scope].parent
        return scope

    def _dotted(self, text: str) -> str:
        text = text.strip("'\"<> \t\n`")
        relative = self._language.relative
        if relative == "dots" or (relative == "path" and ("/" in text or "." in text)):
            return text
        return text.replace(self._language.separator, ".").strip(".")

    def _text(self, node: Node) -> str:
        start = node.start_byte
        return self._slice(start, node.end_byte)

    def _short(self, node: Node) -> str:
        start, end = node.start_byte, node.end_byte
        return self._slice(start, end) if end - start <= _TEXT_LIMIT else ""


def _slicer(source: bytes) -> Callable[[int, int], str]:
    """Text between two positions, cut at the limit. Most files are ASCII: decoded once, cut as often as needed."""
    if source.isascii():
        text = source.decode("ascii")
        return lambda start, end: text[start : end if end - start <= _TEXT_LIMIT else start + _TEXT_LIMIT]

    def cut(start: int, end: int) -> str:
        piece = source[start : end if end - start <= _TEXT_LIMIT else start + _TEXT_LIMIT]
        return piece.decode("utf-8", "replace")

    return cut


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _once(imports: list[Import]) -> list[Import]:
    """An import of everything, or under another name, also looks like a plain one; only the first is meant."""
    whole = {(item.line, item.module) for item in imports if item.item == "*"}
    renamed = {(item.line, item.module, item.item) for item in imports if item.local != item.item}
    return [
        item
        for item in imports
        if item.local != item.item
        or (
            (item.line, f"{item.module}.{item.item}") not in whole
            and (item.line, item.module, item.item) not in renamed
        )
        or item.item == "*"
    ]
