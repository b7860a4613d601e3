"""A process to be killed: twenty writes under keys in one commit, then twenty more, in which it dies."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolwire.settings import Settings
from toolwire.store.call_records import CallRecords, RecordKey
from toolwire.store.sqlite import SqliteStore
from toolwire.store.sqlite_writer import SqliteWriter

DEADLY = 33
"""The write that kills, at `work`."""


def make_table(tables: sqlite3.Connection) -> None:
    tables.execute("CREATE TABLE things (name TEXT NOT NULL)")


def key_of(number: int) -> RecordKey:
    return RecordKey("tenant", "caller", "tool", f"k{number}")


def write(
    records: CallRecords, number: int, *, now: int = 1, last: Callable[[], None] = lambda: None
) -> Callable[[sqlite3.Connection], str]:
    """Claim, effect and record as one transaction's work; `last` happens at its end."""

    def work(tables: sqlite3.Connection) -> str:
        claim = records.claim(tables, key_of(number), "digest", trace="t", call_id=f"c{number}", now=now)
        if claim.verdict == "run":
            tables.execute("INSERT INTO things VALUES (?)", (f"{number}",))
            records.finish(tables, key_of(number), '{"ok":true}', now)
        last()
        return claim.verdict

    return work


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_before_commit() -> None:
    def add(self: SqliteWriter, *arguments: Any) -> Any:
        before(self, *arguments)
        die()

    before = SqliteWriter._add
    SqliteWriter._add = add  # type: ignore[method-assign, assignment]


async def main(path: Path, at: str) -> None:
    store = SqliteStore(path, Settings())
    await store.start()
    records = CallRecords(store, Settings())
    await records.start()
    await store.transact(make_table)
    await asyncio.gather(*(store.transact(write(records, number)) for number in range(20)))
    if at == "commit":
        die_before_commit()
    deadly = DEADLY if at == "work" else -1
    more = [
        store.transact(write(records, n, last=die if n == deadly else lambda: None), claims=key_of(n))
        for n in range(20, 40)
    ]
    await asyncio.gather(*more)
    die()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
