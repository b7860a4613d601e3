"""Idempotent writes per second through the call service (document 3), as a ratio to bare SQLite transactions.

The bare side is a group commit with nothing around it: as many clients, each waiting for its own transaction (a
savepoint and an insert), one writer thread that commits what has queued up, synced. Our side checks the envelope and
the arguments, claims the key, stores request, effect, record and outcome, and answers. Both in the same process on
one core, taking turns, with the gateway's settings of the interpreter; the best round of each counts. A third figure
is replays of what is stored already. With one client the disk decides, with many the processor: a bare transaction
then costs some 10 µs, little over the insert; ours, besides the effect, is a request and an outcome in the session's
log, a record with the response, and a note of that in the ledger, hashed and sealed.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import uvloop

from bench import SERVER_CORE, say
from toolwire.server.app import GC_THRESHOLDS, SWITCH_INTERVAL, Gateway
from toolwire.server.catalogue import CallContext, Entry, ServiceResult
from toolwire.server.config import GatewayConfig
from toolwire.server.security import OWNER

CLIENTS = {1: 60, 8: 320, 64: 640}
"""Clients at once → writes in a round: few enough that some rounds are undisturbed by what else the machine does."""
ROUNDS = 20
INSERT = "INSERT INTO effects (body) VALUES (?)"
BODY = "x" * 200

Write = Callable[[int], Awaitable[object]]


class Bare:
    """Group commit, and nothing else."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[asyncio.Future[None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    async def write(self, _: int) -> None:
        future: asyncio.Future[None] = self._loop.create_future()
        self._queue.put(future)
        await future

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()

    def _write(self) -> None:
        connection = sqlite3.connect(self._path, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE effects (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")
        while (first := self._queue.get()) is not None:
            batch = [first]
            while not self._queue.empty() and (more := self._queue.get()) is not None:
                batch.append(more)
            connection.execute("BEGIN IMMEDIATE")
            for _ in batch:
                connection.execute("SAVEPOINT one")
                connection.execute(INSERT, (BODY,))
                connection.execute("RELEASE one")
            connection.execute("COMMIT")
            self._loop.call_soon_threadsafe(_tell, batch)
        connection.close()


def _tell(batch: list[asyncio.Future[None]]) -> None:
    for future in batch:
        future.set_result(None)


class Pace(NamedTuple):
    rate: float
    """Writes per second."""
    processor: float
    """Microseconds of processor time for each."""


def best(rounds: list[Pace]) -> Pace:
    return Pace(max(pace.rate for pace in rounds), min(pace.processor for pace in rounds))


async def pace(write: Write, clients: int, first: int) -> Pace:
    """Writes by so many clients at once."""
    count = CLIENTS[clients]
    numbers = iter(range(first, first + count))

    async def client() -> None:
        for number in numbers:
            await write(number)

    start, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(client() for _ in range(clients)))
    seconds, used = time.perf_counter() - start, time.process_time() - used
    return Pace(count / seconds, used / count * 1e6)


async def add(context: CallContext, arguments: dict[str, Any]) -> ServiceResult:
    def effect(tables: sqlite3.Connection) -> ServiceResult:
        tables.execute(INSERT, (arguments["body"],))
        return ServiceResult({"added": True}, rows_affected=1)

    return await context.commit(effect)


ENTRY = Entry(
    *("bench.add", "添加", "Add", "add", "row", "medium", False, "editor"),
    {"type": "object", "properties": {"body": {"type": "string"}}, "required": ["body"]},
    {"type": "object"},
    placement="service",
    api=None,
    run=add,
    atomic=True,
)


async def measure(folder: Path) -> None:
    async with AsyncExitStack() as stack:
        config = GatewayConfig(projects={"demo": folder}, store=f"sqlite:///{folder}/ours.db")
        hub = await stack.enter_async_context(Gateway(config).running())
        hub.calls.catalogue.add(ENTRY)
        await hub.store.transact(
            lambda tables: tables.execute(
                "CREATE TABLE effects (id INTEGER PRIMARY KEY, body TEXT NOT NULL)"
            ).fetchall()
        )
        bare = Bare(folder / "bare.db")
        stack.callback(bare.close)

        async def call(number: int) -> None:
            envelope = {
                "trace_id": f"tr_{number}",
                "idempotency_key": f"idem_{number}",
                "session_id": f"s{number % 32}",
                "tool_id": "bench.add",
                "arguments": {"body": BODY},
                "context": {"mode": "code_server", "user_role": "super_admin"},
            }
            response, status = await hub.calls.call(envelope, OWNER)
            assert status == 200, response

        first = 0
        for clients, count in CLIENTS.items():
            bares, ours, replays = [], [], []
            for _ in range(ROUNDS):
                bares.append(await pace(bare.write, clients, first))
                ours.append(await pace(call, clients, first))
                replays.append(await pace(call, clients, first))
                first += count
            report(clients, best(bares), best(ours), best(replays))


def report(clients: int, bare: Pace, ours: Pace, replays: Pace) -> None:
    print(f"  {clients} client{'s' if clients > 1 else ''} at once")
    say("  bare transactions, group commit", bare.rate, "/s")
    say("  idempotent writes", ours.rate, "/s", ("bare", ours.rate / bare.rate, "≥ 0.3"))
    say("  replays", replays.rate, "/s", ("bare", replays.rate / bare.rate, "–"))
    say("  processor time of a bare transaction", bare.processor, "µs")
    say(
        "  processor time of an idempotent write",
        ours.processor,
        "µs",
        ("bare", ours.processor / bare.processor, "–"),
    )


def main() -> None:
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[SERVER_CORE % len(cores)]})
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    print(f"idempotent writes through the call service, best of {ROUNDS} rounds")
    with tempfile.TemporaryDirectory() as folder:
        uvloop.run(measure(Path(folder)))


if __name__ == "__main__":
    main()
