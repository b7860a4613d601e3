"""Every place a name is used in a file: found in the text, then looked up in the syntax tree, so that comments and
strings don't count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolwire.codemap.grammar import grammar
from toolwire.codemap.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Node

_PROSE = ("comment", "string", "char", "heredoc", "regex", "text")


@dataclass(frozen=True, slots=True)
class Mention:
    line: int
    column: int
    """In characters, counted from 1."""
    text: str
    """The whole line."""


def mentions(language: Language, source: bytes, name: str) -> Iterator[Mention]:
    """Places where the name stands as a name of its own."""
    from tree_sitter import Parser

    wanted = name.encode()
    places = [match.start() for match in re.finditer(rb"(?<![\w$])" + re.escape(wanted) + rb"(?![\w$])", source)]
    if not places:
        return
    root = Parser(grammar(language.name).compiled).parse(source).root_node
    for at in places:
        node = root.descendant_for_byte_range(at, at + len(wanted))
        if node is not None and not _in_prose(node):
            yield _mention(source, at)


def _in_prose(node: Node) -> bool:
    """A name inside `${…}` of a string is code again, and is a node of its own there."""
    return node.child_count > 0 or any(word in node.type for word in _PROSE)


def _mention(source: bytes, at: int) -> Mention:
    start = source.rfind(b"\n", 0, at) + 1
    end = source.find(b"\n", at)
    line = source[start : end if end >= 0 else len(source)]
    return Mention(
        source.count(b"\n", 0, at) + 1,
        len(source[start:at].decode("utf-8", "replace")) + 1,
        line.decode("utf-8", "replace").rstrip("\r"),
    )
