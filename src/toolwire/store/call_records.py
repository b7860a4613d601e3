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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from json.encoder import encode_basestring_ascii as _quoted
from typing import Literal, NamedTuple

import msgspec

from toolwire.core.idempotency import Kept, Verdict, decide
from toolwire.errors import StoreError
from toolwire.settings import Settings
from toolwire.store.base import Store
from toolwire.store.ledger import RESPONSE, Note
from toolwire.store.owners import Owner, owners_folder
from toolwire.store.tables import together

_COLUMNS = "digest, trace, call_id, owner, expires, response"
_WHERE = "tenant = ? AND caller = ? AND tool = ? AND key = ?"
_OURS = f"{_WHERE} AND owner = ? AND response IS NULL"


_NO_END = 2**63 - 1
_Changed = Literal["response", "call_id"]


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


_RUN = Claim("run")


class CallRecords:
    """The records of one store, as one process uses them. `start` before, `close` after."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._owner = Owner(owners_folder(store.file) if store.file is not None else None)
        self._purge_at = 0
        self._waits: dict[RecordKey, _Wait] = {}
        self._forsaken: set[RecordKey] = set()
        """Keys whose calls have ended here, which the store could not be told."""

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

    def alone(self) -> bool:
        """Whether no other process uses the store."""
        return self._owner.alone()

    async def ask(self, key: RecordKey, digest: str, *, trace: str, call_id: str, now: int) -> Claim:
        """`claim`, in a transaction of its own, which also tells the store of calls that were forsaken."""
        forsaken = frozenset(self._forsaken)

        def work(tables: sqlite3.Connection) -> Claim:
            for left in forsaken:
                together(tables).forget(left)
                tables.execute(f"UPDATE call_records SET owner = '' WHERE {_OURS}", (*left, self._owner.name))
            return self.claim(tables, key, digest, trace=trace, call_id=call_id, now=now)

        self._forsaken -= forsaken
        try:
            return await self._store.transact(work, claims=key)
        except BaseException:
            self._forsaken |= forsaken
            raise

    def forsake(self, key: RecordKey) -> None:
        """A call of ours has ended, and the store can't be told how. Whoever asks next finds out what it did."""
        self._forsaken.add(key)

    # Inside a transaction ----------------------------------------------------------------------------------

    def claim(
        self, tables: sqlite3.Connection, key: RecordKey, digest: str, *, trace: str, call_id: str, now: int
    ) -> Claim:
        """Ask to run a call. With `run` the record is made, and is ours.

        So it is with `undecided`, of which `first` is what the one that is gone has left: find out what it did, then
        `finish` or `restart`. Others who ask meanwhile wait for us.
        """
        self._purge(tables, now)
        shared = together(tables)
        kept = shared.find(tables, key)
        alive = kept is not None and kept.response is None and self._owner.alive(kept.owner)
        verdict = decide(kept, digest, now, alive)
        if verdict == "run":
            if kept is not None:  # what has expired
                shared.forget(key)
                tables.execute(f"DELETE FROM call_records WHERE {_WHERE}", key)
            shared.put(key, Kept(digest, trace, call_id, self._owner.name, now + self._lifetime, None))
            return _RUN
        if verdict == "undecided":
            self._take_over(tables, key)
        return Claim(verdict, kept)

    def known(self, tables: sqlite3.Connection, key: RecordKey) -> bool:
        """Whether anything is kept under a key."""
        return together(tables).find(tables, key) is not None

    def of_calls(self, tables: sqlite3.Connection, call_ids: Iterable[str]) -> dict[str, tuple[Kept, bool]]:
        """Records by their call id, each with whether its owner is alive. (After a restart: it looks at all.)"""
        rows = tables.execute(
            f"SELECT {_COLUMNS} FROM call_records WHERE call_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(call_ids)),),
        )
        found = [Kept(*row) for row in rows]
        return {kept.call_id: (kept, self._owner.alive(kept.owner)) for kept in found}

    def adopt(self, tables: sqlite3.Connection, gone: Mapping[str, str]) -> dict[str, tuple[RecordKey, str]]:
        """Make records without a response ours. `gone`: call id → the owner that is gone. Gives, by call id, the key
        and the trace of each that was still that owner's."""
        taken = {}
        for call_id, owner in gone.items():
            rows = tables.execute(
                "UPDATE call_records SET owner = ? WHERE call_id = ? AND owner = ? AND response IS NULL"
                " RETURNING tenant, caller, tool, key, trace",
                (self._owner.name, call_id, owner),
            )
            for *key, trace in rows.fetchall():
                taken[call_id] = (RecordKey(*key), trace)
                together(tables).forget(taken[call_id][0])
        return taken

    def restart(self, tables: sqlite3.Connection, key: RecordKey, *, call_id: str) -> None:
        """What was undecided has turned out not to have happened: it is run again, under a fresh call id."""
        self._change(tables, key, "call_id", call_id)

    def finish(self, tables: sqlite3.Connection, key: RecordKey, response: str, now: int) -> None:
        """The call has ended with this response, which is the answer to every further one."""
        kept = self._change(tables, key, "response", response)
        note = Note(now, RESPONSE, subject_of(key), kept.trace, response_digest(key, kept), kept.expires)
        together(tables).note(note)

    def abandon(self, tables: sqlite3.Connection, key: RecordKey) -> None:
        """No effect has begun, and none will: as if the key had never been used."""
        shared = together(tables)
        new = shared.new(key)
        if new is None:
            shared.forget(key)
            tables.execute(f"DELETE FROM call_records WHERE {_OURS}", (*key, self._owner.name))
        elif self._is_ours(new):
            shared.put(key, None)

    def _change(self, tables: sqlite3.Connection, key: RecordKey, column: _Changed, value: str) -> Kept:
        shared = together(tables)
        new = shared.new(key)
        if new is None:
            shared.forget(key)
            changed = tables.execute(
                f"UPDATE call_records SET {column} = ? WHERE {_OURS} RETURNING {_COLUMNS}",
                (value, *key, self._owner.name),
            ).fetchall()
            if len(changed) == 1:
                return Kept(*changed[0])
        elif self._is_ours(new):
            call_id, response = (new.call_id, value) if column == "response" else (value, new.response)
            kept = Kept(new.digest, new.trace, call_id, new.owner, new.expires, response)
            shared.put(key, kept)
            return kept
        raise StoreError(f"the record of {key.tool} under key {key.key!r} is not ours to change")

    def _take_over(self, tables: sqlite3.Connection, key: RecordKey) -> None:
        """What the one that is gone has left is ours now."""
        shared = together(tables)
        new = shared.new(key)
        if new is not None:
            shared.put(key, msgspec.structs.replace(new, owner=self._owner.name))
        else:
            shared.forget(key)
            tables.execute(f"UPDATE call_records SET owner = ? WHERE {_WHERE}", (self._owner.name, *key))

    def _is_ours(self, kept: Kept) -> bool:
        """Whether a call runs, and we run it."""
        return kept.response is None and kept.owner == self._owner.name

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
        kept = together(tables).find(tables, key)
        if kept is None or kept.response is not None or key in self._forsaken:
            return False
        return self._owner.alive(kept.owner)

    # Forgetting --------------------------------------------------------------------------------------------

    @property
    def _lifetime(self) -> int:
        return int(self._settings.idempotency_hours * 3_600_000)

    def _purge(self, tables: sqlite3.Connection, now: int) -> None:
        """Forget what has expired, now and then; never what still runs."""
        if now < self._purge_at:
            return
        self._purge_at = now + int(self._settings.idempotency_purge * 1000)
        # Records lie in the order they were made, which is the order they expire in, unless the setting was changed.
        found = tables.execute("SELECT id FROM call_records WHERE expires > ? ORDER BY id LIMIT 1", (now,)).fetchone()
        end = found[0] if found is not None else _NO_END
        running = "SELECT DISTINCT owner FROM call_records WHERE id < ? AND response IS NULL"
        alive = [owner for (owner,) in tables.execute(running, (end,)) if self._owner.alive(owner)]
        tables.execute(
            "DELETE FROM call_records WHERE id < ? AND NOT"
            " (response IS NULL AND owner IN (SELECT value FROM json_each(?)))",
            (end, json.dumps(alive)),
        )


class _Wait:
    """Those who wait for one key, and the task that looks for all of them."""

    __slots__ = ("task", "told", "waiters")

    def __init__(self, task: asyncio.Task[None]) -> None:
        self.task = task
        self.told = asyncio.Event()
        self.waiters = 0


def subject_of(key: RecordKey) -> str:
    """How the ledger names a key: its parts as a JSON array, in ASCII."""
    return f"[{','.join(map(_quoted, key))}]"


def response_digest(key: RecordKey, kept: Kept) -> str:
    """Over the record of an ended call, whole: a JSON array of its columns, in ASCII."""
    before = ",".join(map(_quoted, (*key, kept.digest, kept.trace, kept.call_id, kept.owner)))
    response = "null" if kept.response is None else _quoted(kept.response)
    return hashlib.sha256(f"[{before},{kept.expires},{response}]".encode()).hexdigest()
