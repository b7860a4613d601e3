"""Tools of installed packages: entry points of the group `toolwire.tools`.

An entry point is an `Entry` of the catalogue or a workspace `Tool`, a list of such, or a function that gives one.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from toolwire.errors import ConfigError
from toolwire.server.catalogue import Entry
from toolwire.tools.base import Tool

GROUP: Final = "toolwire.tools"


def load(points: Iterable[EntryPoint] | None = None) -> list[Entry | Tool]:
    """Everything installed packages add; ConfigError names the one that can't be used."""
    found: list[Entry | Tool] = []
    for point in entry_points(group=GROUP) if points is None else points:
        try:
            value = point.load()
            given = value() if callable(value) and not isinstance(value, Entry | Tool) else value
        except Exception as error:  # somebody else's code: whatever it raises, the gateway must say whose it is
            raise _bad(point, f"{type(error).__name__}: {error}") from error
        found += _checked(point, given)
    return found


def _checked(point: EntryPoint, given: Any) -> list[Entry | Tool]:
    tools = list(given) if isinstance(given, list | tuple) else [given]
    for tool in tools:
        if not isinstance(tool, Entry | Tool):
            raise _bad(point, f"it gives {type(tool).__name__}, not an Entry or a Tool")
    return tools


def _bad(point: EntryPoint, what: str) -> ConfigError:
    package = point.dist.name if point.dist is not None else point.module
    return ConfigError(f"the tool {point.name!r} of {package} ({point.value}) can't be used: {what}", field="tools")
