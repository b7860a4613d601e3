"""Events stored per second by the SQLite store, as a ratio to a bare `executemany` with the same commits.

The bare loop gets its events encoded beforehand and puts a row for each into a table with an integer key, in one
thread, in a transaction per commit with the same synchronous level. The store encodes them, goes through its writer
thread and calls back on a uvloop. Both in the same process on one core, taking turns; the best round of each counts.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
import time
from pathlib import Path

import uvloop

from bench import SERVER_CORE, say
from toolwire.core.events import AnyEvent, CallSettled, Said, encode
from toolwire.errors import StoreError
from toolwire.store import open_store

SIZES = (1, 32, 256)
"""Events per commit."""
SESSIONS = 32
SECONDS = 0.6
ROUNDS = 5


def answer(seq: int) -> AnyEvent:
    """A synced event of about 300 bytes."""
    return CallSettled(
        seq, 1_700_000_000_000, "t-1", "r-1", f"read_file-{seq:012x}", "read_file", "ok", {"content": "x" * 120}, ms=3
    )


def piece(seq: int) -> AnyEvent:
    """A passing event."""
    return Said(seq, 1_700_000_000_000, "t-1", "r-1", "a piece of text ", seq)


class Bare:
    def __init__(self, path: Path, synchronous: str) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute(f"PRAGMA synchronous = {synchronous}")
        self.connection.execute("CREATE TABLE log (id INTEGER PRIMARY KEY, session INTEGER, seq INTEGER, body BLOB)")
        self.seq = 0

    def run(self, size: int, body: bytes) -> float:
        done, start = 0, time.perf_counter()
        while (passed := time.perf_counter() - start) < SECONDS:
            rows = [(i % SESSIONS, self.seq + i, body) for i in range(size)]
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.executemany("INSERT INTO log (session, seq, body) VALUES (?, ?, ?)", rows)
            self.connection.execute("COMMIT")
            self.seq += size
            done += size
        return done / passed


class Ours:
    def __init__(self, path: Path) -> None:
        self.store = open_store(f"sqlite:///{path}")
        self.seqs: dict[int, int] = {}

    async def start(self) -> None:
        await self.store.start()
        for i in range(SESSIONS):
            record = await self.store.open_session("", f"s{i}", epoch="e", now=1)
            self.seqs[record.number] = 0

    async def run(self, size: int, kind: type[AnyEvent]) -> float:
        """Appends of one event each, to one session after the other; the next commit when all are told."""
        make = answer if kind is CallSettled else piece
        done, start = 0, time.perf_counter()
        told = asyncio.Event()
        left = 0

        def committed(events: list[AnyEvent]) -> None:
            nonlocal left
            left -= len(events)
            if not left:
                told.set()

        def failed(events: list[AnyEvent], error: StoreError) -> None:
            raise SystemExit(f"the store failed: {error}")

        numbers = list(self.seqs)
        while (passed := time.perf_counter() - start) < SECONDS:
            left = size
            for i in range(size):
                session = numbers[i % SESSIONS]
                self.seqs[session] += 1
                self.store.append(session, [make(self.seqs[session])], committed, failed)
            await told.wait()
            told.clear()
            done += size
        return done / passed


async def main() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[SERVER_CORE]})
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        for kind, synchronous, what in ((CallSettled, "FULL", "synced"), (Said, "NORMAL", "passing")):
            print(f"store: {what} events, {SESSIONS} sessions")
            bare = Bare(Path(folder) / f"bare-{what}.db", synchronous)
            ours = Ours(Path(folder) / f"ours-{what}.db")
            await ours.start()
            body = encode(answer(1) if kind is CallSettled else piece(1))
            for size in SIZES:
                rounds = [(bare.run(size, body), await ours.run(size, kind)) for _ in range(ROUNDS)]
                theirs, own = max(round_[0] for round_ in rounds), max(round_[1] for round_ in rounds)
                say(f"{size} a commit", own, "events/s", (f"executemany ({theirs:,.0f}/s)", own / theirs, "-"))
            await ours.store.close()
            bare.connection.close()


if __name__ == "__main__":
    uvloop.run(main())
