"""Ignore rules that reach a folder from the folders above it, rewritten as seen from inside that folder.

The search program runs in the folder it searches and must look at nothing above it, since that may be outside the
project. So the project's own rules above are read through the workspace and handed to it in one list.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from toolwire.errors import ToolError
from toolwire.tools.workspace import Workspace

RULES = (".gitignore", ".ignore", ".rgignore")
"""Later ones win over earlier ones, deeper folders over higher ones."""
RULES_BYTES = 1024 * 1024
"""A larger file of rules is left out."""

_ESCAPED = re.compile(r"\\(.)")
_TRAILING_SPACE = re.compile(r"(?<!\\)[ \t]+$")


def rules_above(workspace: Workspace, folder: str) -> list[str]:
    steps = [] if folder == "." else folder.split("/")
    found = _rules(workspace, ".git/info/exclude", steps)
    for name in RULES:
        for depth in range(len(steps)):
            found += _rules(workspace, "/".join([*steps[:depth], name]), steps[depth:])
    return found


def _rules(workspace: Workspace, path: str, below: list[str]) -> list[str]:
    try:
        data = workspace.read_bytes(path, RULES_BYTES)
    except ToolError:
        return []
    lines = data.decode("utf-8", "surrogateescape").splitlines()
    return [rebased for line in lines for rebased in rebase(line, below)]


def rebase(line: str, below: list[str]) -> list[str]:
    """A rule of a folder as it reads from further below; nothing if it says nothing about what is there."""
    rule = _TRAILING_SPACE.sub("", line)
    if not rule or rule.startswith("#"):
        return []
    negated = "!" if rule.startswith("!") else ""
    pattern = rule.removeprefix("!")
    folders_only = "/" if pattern.endswith("/") else ""
    body = pattern.rstrip("/")
    if "/" not in body:
        return [rule]  # a bare name is ignored at any depth
    rest = _strip(tuple(body.lstrip("/").split("/")), tuple(below))
    return [f"{negated}/{'/'.join(parts)}{folders_only}" for parts in sorted(rest)]


def _strip(parts: tuple[str, ...], below: tuple[str, ...]) -> set[tuple[str, ...]]:
    """What is left of a pattern after its first parts have matched the folders gone down."""
    if not parts:
        return set()  # it names a folder on the way: who searches there by name means it
    if not below:
        return {parts}
    if parts[0] == "**":
        return _strip(parts[1:], below) | _strip(parts, below[1:])
    if _matches(below[0], parts[0]):
        return _strip(parts[1:], below[1:])
    return set()


def _matches(name: str, pattern: str) -> bool:
    literal = _ESCAPED.sub(lambda found: f"[{found[1]}]" if found[1] in "*?[" else found[1], pattern)
    return fnmatchcase(name, literal)
