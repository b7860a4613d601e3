"""Idempotency records (spec README, "A call"): what ran under which key, and what it answered.

A record is made before the effect begins and gets its response in the transaction that stores the outcome, so
`claim`, `finish`, `restart` and `abandon` take the connection that `Store.transact` gives its work. A response is
also noted in the store's ledger (`notes.py`), which makes a later change of it visible.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from toolwire.core.idempotency import Kept, Verdict, decide
from toolwire.errors import StoreError
from toolwire.settings import Settings
from toolwire.store.base import Store
from toolwire.store.notes import RESPONSE, Note, add_note
from toolwire.store.owners import Owner, owners_folder

_COLUMNS = "digest, trace, call_id, owner, expires, response"
_INSERT = (
    "INSERT INTO call_records (tenant, caller, tool, key, digest, trace, call_id, owner, expires, response)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)"
)
_WHERE = "tenant = ? AND caller = ? AND tool = ? AND key = ?"


class RecordKey(NamedTuple):
    """A key belongs to whoever uses it and to the tool it is used for."""

    tenant: str
    caller: str
    tool: str
    key: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What a call has to do, and what is kept of the first one under its key (None if it is the first itself)."""

    verdict: Verdict
    first: Kept | None = None


class CallRecords:
    """The records of one store, as one process uses them. `start` before, `close` after."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._owner = Owner(owners_folder(store.file) if store.file is not None else None)
        self._purge_at = 0
        self._waits: dict[RecordKey, _Wait] = {}

    async def start(self) -> None:
        await asyncio.to_thread(self._owner.start)

    async def close(self) -> None:
        for wait in list(self._waits.values()):
            wait.task.cancel()
        await asyncio.to_thread(self._owner.close)

    @property
    def owner(self) -> str:
        """This process, as others know it."""
        return self._owner.name

    def alive(self, owner: str) -> bool:
        return self._owner.alive(owner)

    # Inside a transaction ----------------------------------------------------------------------------------

    def claim(
        self, tables: sqlite3.Connection, key: RecordKey, digest: str, *, trace: str, call_id: str, now: int
    ) -> Claim:
        """Ask to run a call. With `run` the record is made, and is ours.

        So it is with `undecided`, of which `first` is what the one that is gone has left: find out what it did, then
        `finish` or `restart`. Others who ask meanwhile wait for us.
        """
        self._purge(tables, now)
        mine = (*key, digest, trace, call_id, self._owner.name, now + self._lifetime)
        if tables.execute(f"{_INSERT} ON CONFLICT DO NOTHING", mine).rowcount == 1:  # as it is nearly always
            return Claim("run")
        kept = _find(tables, key)
        alive = kept is not None and kept.response is None and self._owner.alive(kept.owner)
        verdict = decide(kept, digest, now, alive)
        if verdict == "run":
            tables.execute(_INSERT.replace("INSERT", "INSERT OR REPLACE", 1), mine)
            return Claim("run")
        if verdict == "undecided":
            tables.execute(f"UPDATE call_records SET owner = ? WHERE {_WHERE}", (self._owner.name, *key))
        return Claim(verdict, kept)

    def known(self, tables: sqlite3.Connection, key: RecordKey) -> bool:
        """Whether anything is kept under a key."""
        return _find(tables, key) is not None

    def of_calls(self, tables: sqlite3.Connection, call_ids: Iterable[str]) -> dict[str, tuple[Kept, bool]]:
        """Records by their call id, each with whether its owner is alive. (After a restart: it looks at all.)"""
        rows = tables.execute(
            f"SELECT {_COLUMNS} FROM call_records WHERE call_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(call_ids)),),
        )
        found = [Kept(*row) for row in rows]
        return {kept.call_id: (kept, self._owner.alive(kept.owner)) for kept in found}

    def restart(self, tables: sqlite3.Connection, key: RecordKey, *, call_id: str) -> None:
        """What was undecided has turned out not to have happened: it is run again, under a fresh call id."""
        self._change(tables, key, "call_id = ?", call_id)

    def finish(self, tables: sqlite3.Connection, key: RecordKey, response: str, now: int) -> None:
        """The call has ended with this response, which is the answer to every further one."""
        kept = self._change(tables, key, "response = ?", response)
        note = Note(now, RESPONSE, subject_of(key), kept.trace, response_digest(key, kept), kept.expires)
        add_note(tables, note)

    def abandon(self, tables: sqlite3.Connection, key: RecordKey) -> None:
        """No effect has begun, and none will: as if the key had never been used."""
        tables.execute(
            f"DELETE FROM call_records WHERE {_WHERE} AND owner = ? AND response IS NULL", (*key, self._owner.name)
        )

    def _change(self, tables: sqlite3.Connection, key: RecordKey, change: str, value: str) -> Kept:
        changed = tables.execute(
            f"UPDATE call_records SET {change} WHERE {_WHERE} AND owner = ? AND response IS NULL"
            f" RETURNING {_COLUMNS}",
            (value, *key, self._owner.name),
        ).fetchall()
        if len(changed) != 1:
            raise StoreError(f"the record of {key.tool} under key {key.key!r} is not ours to change")
        return Kept(*changed[0])

    # Waiting -----------------------------------------------------------------------------------------------

    async def ended(self, key: RecordKey, limit: float) -> None:
        """Wait until the call that runs under a key has ended, or is gone; then `claim` again. TimeoutError."""
        wait = self._waits.get(key)
        if wait is None:
            wait = self._waits[key] = _Wait(asyncio.create_task(self._watch(key)))
        wait.waiters += 1
        try:
            async with asyncio.timeout(limit):
                await asyncio.shield(wait.task)
        finally:
            wait.waiters -= 1
            if not wait.waiters:
                wait.task.cancel()
                if self._waits.get(key) is wait:
                    del self._waits[key]

    def tell(self, key: RecordKey) -> None:
        """A call of this process has ended, and that is committed: those who wait for it here need not look."""
        wait = self._waits.get(key)
        if wait is not None:
            wait.told.set()

    async def _watch(self, key: RecordKey) -> None:
        """Another process can't call us: look, first often, then less often."""
        wait, pause = self._waits[key], self._settings.call_poll_first
        while await self._store.query(partial(self._runs, key)):
            try:
                async with asyncio.timeout(pause):
                    await wait.told.wait()
                break
            except TimeoutError:
                pause = min(pause * 2, self._settings.call_poll_most)
        # Whoever asks from now on asks anew.
        if self._waits.get(key) is wait:
            del self._waits[key]

    def _runs(self, key: RecordKey, tables: sqlite3.Connection) -> bool:
        kept = _find(tables, key)
        return kept is not None and kept.response is None and self._owner.alive(kept.owner)

    # Forgetting --------------------------------------------------------------------------------------------

    @property
    def _lifetime(self) -> int:
        return int(self._settings.idempotency_hours * 3_600_000)

    def _purge(self, tables: sqlite3.Connection, now: int) -> None:
        """Forget what has expired, now and then; never what still runs."""
        if now < self._purge_at:
            return
        self._purge_at = now + int(self._settings.idempotency_purge * 1000)
        running = "SELECT DISTINCT owner FROM call_records WHERE expires <= ? AND response IS NULL"
        alive = [owner for (owner,) in tables.execute(running, (now,)) if self._owner.alive(owner)]
        tables.execute(
            "DELETE FROM call_records WHERE expires <= ? AND NOT"
            " (response IS NULL AND owner IN (SELECT value FROM json_each(?)))",
            (now, json.dumps(alive)),
        )


class _Wait:
    """Those who wait for one key, and the task that looks for all of them."""

    __slots__ = ("task", "told", "waiters")

    def __init__(self, task: asyncio.Task[None]) -> None:
        self.task = task
        self.told = asyncio.Event()
        self.waiters = 0


def subject_of(key: RecordKey) -> str:
    """How the ledger names a key."""
    return json.dumps(key, ensure_ascii=True, separators=(",", ":"))


def response_digest(key: RecordKey, kept: Kept) -> str:
    """Over the record of an ended call, whole."""
    whole = (*key, kept.digest, kept.trace, kept.call_id, kept.owner, kept.expires, kept.response)
    return hashlib.sha256(json.dumps(whole, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()


def _find(tables: sqlite3.Connection, key: RecordKey) -> Kept | None:
    row = tables.execute(f"SELECT {_COLUMNS} FROM call_records WHERE {_WHERE}", key).fetchone()
    return None if row is None else Kept(*row)
