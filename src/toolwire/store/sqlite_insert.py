"""Many rows by one statement.

Each statement gives the interpreter lock away and has to get it back from a busy event loop. A few fixed sizes, so
that each is compiled once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

ROW_COUNTS = (64, 16, 4, 1)


class Table(NamedTuple):
    width: int
    statement: str
    """With the rows of VALUES left out."""


def in_steps(table: Table, parameters: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Rows as one flat list of parameters → as few statements as the fixed sizes allow."""
    done = 0
    while done < len(parameters):
        left = (len(parameters) - done) // table.width
        count = next(count for count in ROW_COUNTS if count <= left)
        end = done + count * table.width
        yield _statement(table, count), parameters[done:end]
        done = end


@lru_cache(maxsize=64)
def _statement(table: Table, count: int) -> str:
    row = "(" + ", ".join("?" * table.width) + ")"
    return table.statement.format(rows=", ".join([row] * count))
