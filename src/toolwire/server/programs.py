"""Calls made by programs (document 3), as they go through a live session: asked, run, settled, each stored first.

The outcome of such a call and the record under its idempotency key are committed in one transaction, whoever brings
the outcome: the gateway's own tools, a connected IDE, the clock, or the end of a connection.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from toolwire.core.events import AnyEvent, CallRequested, CallSettled
from toolwire.errors import StoreError
from toolwire.store.group_commit import Append

if TYPE_CHECKING:
    from toolwire.server.live import LiveSession

PROGRAM: Final = "program:"
"""What `asked_by` of their calls begins with; the caller's name follows."""

Record = Callable[[sqlite3.Connection], None]
"""What is written into the store together with an outcome."""


class Program:
    """One call of a program while it is under way. `requested` and `settled` tell of events that are committed."""

    __slots__ = ("call_id", "record_of", "requested", "settled", "told")

    def __init__(self, call_id: str, record_of: Callable[[CallSettled], Record | None]) -> None:
        loop = asyncio.get_running_loop()
        self.call_id = call_id
        self.record_of = record_of
        self.requested: asyncio.Future[CallRequested] = loop.create_future()
        self.settled: asyncio.Future[CallSettled] = loop.create_future()
        self.told: CallSettled | None = None
        """The outcome as it was last handed to the store."""

    def again(self) -> None:
        """Its session was lost to another process and is opened anew: what was not stored is to be told again."""
        loop = asyncio.get_running_loop()
        if self.requested.done() and self.requested.exception() is not None:
            self.requested = loop.create_future()
        if self.settled.done() and self.settled.exception() is not None:
            self.settled = loop.create_future()


class Programs:
    """Every such call of this gateway, by call id."""

    def __init__(self) -> None:
        self._open: dict[str, Program] = {}

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(self, program: Program) -> None:
        self._open[program.call_id] = program

    def remove(self, program: Program) -> None:
        self._open.pop(program.call_id, None)

    def begin(self, call: CallRequested) -> None:
        """The request is stored: its effect may begin."""
        program = self._open.get(call.call_id)
        if program is not None and not program.requested.done():
            program.requested.set_result(call)

    def submit(self, live: LiveSession, events: list[AnyEvent]) -> bool:
        """Store events among which are requests or outcomes of programs, with the records of these.

        False if there are none: then nothing was done.
        """
        mine = [(event, program) for event in events if (program := self._of(event)) is not None]
        if not mine:
            return False
        records = []
        for event, program in mine:
            if isinstance(event, CallSettled):
                program.told = event
                if (record := program.record_of(event)) is not None:
                    records.append(record)

        def committed(events: list[AnyEvent]) -> None:
            live.committed(events)
            for event, program in mine:
                if isinstance(event, CallSettled) and not program.settled.done():
                    program.settled.set_result(event)

        def failed(events: list[AnyEvent], error: StoreError) -> None:
            live.lost(events, error)
            for event, program in mine:
                future: asyncio.Future[Any] = program.settled if isinstance(event, CallSettled) else program.requested
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # whoever waits hears of it; nobody need wait

        append = Append(live.record.number, events, committed, failed)
        if records:
            quietly(live.hub.store.transact(lambda tables: _write(records, tables), append=append))
        else:
            live.hub.store.append(append.session, events, committed, failed)
        return True

    def _of(self, event: AnyEvent) -> Program | None:
        if isinstance(event, CallRequested | CallSettled) and event.asked_by.startswith(PROGRAM):
            return self._open.get(event.call_id)
        return None


def quietly(awaitable: Any) -> None:
    """Start something whose failure is told in another way."""
    future = asyncio.ensure_future(awaitable)
    future.add_done_callback(lambda done: done.cancelled() or done.exception())


def _write(records: Sequence[Record], tables: sqlite3.Connection) -> None:
    for record in records:
        record(tables)
