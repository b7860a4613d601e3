"""Group commit: what the event loop queues goes to one writer thread in batches, and comes back in the same order.

While the writer is busy everything waits for the next batch, so the busier the gateway, the more events share one
commit. An idle writer is not woken at once: turns of the loop pass as long as each brings more, so that what other
tasks and peers of the same moment produce gets into the same commit.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread, main_thread
from typing import Any, Generic, TypeVar

from toolwire.core.events import AnyEvent
from toolwire.errors import StoreError
from toolwire.store.base import Committed, Failed
from toolwire.store.refusals import closed, not_started
from toolwire.store.tables import Key

T = TypeVar("T")

GATHERING_TURNS = 16
"""Turns of the loop that a hand-over is put off at most while each of them brings more to commit."""
LOOK_UP_SECONDS = 1.0
"""How often an idle writer looks whether the program is still there."""


class Work:
    """Something for the writer. `error` is set there if it could not be done; `finish` runs on the loop."""

    __slots__ = ("error",)

    def __init__(self) -> None:
        self.error: Exception | None = None

    def size(self) -> int:
        return 0

    def finish(self) -> None:
        """Tell whoever asked."""


class Append(Work):
    """Consecutive events of one session."""

    __slots__ = ("committed", "events", "failed", "session")

    def __init__(self, session: int, events: list[AnyEvent], committed: Committed, failed: Failed) -> None:
        self.error = None
        self.session = session
        self.events = events
        self.committed = committed
        self.failed = failed

    def size(self) -> int:
        return len(self.events)

    def finish(self) -> None:
        if self.error is None:
            self.committed(self.events)
        else:
            error = self.error
            self.failed(self.events, error if isinstance(error, StoreError) else StoreError(str(error)))


class Errand(Work, Generic[T]):
    """A function that the writer runs inside the batch's transaction, after everything queued before it."""

    __slots__ = ("future", "result", "run")

    def __init__(self, run: Callable[[], T], future: asyncio.Future[T]) -> None:
        super().__init__()
        self.run = run
        self.future = future
        self.result: T

    def finish(self) -> None:
        if self.future.done():
            return
        if self.error is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.error)


class Transact(Errand[T]):
    """An errand on tables: synced, undone alone if it fails, with events that are committed together with it."""

    __slots__ = ("append", "claims")

    def __init__(
        self, run: Callable[[], T], future: asyncio.Future[T], append: Append | None, claims: Key | None = None
    ) -> None:
        self.error = None
        self.run = run
        self.future = future
        self.append = append
        self.claims = claims
        """The idempotency key it will look up: those of a whole batch are found together."""

    def size(self) -> int:
        return self.append.size() if self.append else 0

    def finish(self) -> None:
        if self.append is not None:
            if self.error is not None:
                self.append.error = (
                    self.error if isinstance(self.error, StoreError) else StoreError(f"not stored: {self.error}")
                )
            self.append.finish()
        super().finish()


class Mark(Work):
    """Everything queued before this is done, well or badly."""

    __slots__ = ("future",)

    def __init__(self, future: asyncio.Future[None]) -> None:
        super().__init__()
        self.future = future

    def finish(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


class GroupCommit:
    """The queue on the loop's side and the thread behind it.

    In the thread run `opened` once, `commit` for each batch, `tidy` when it has been reported, `closed` at the end.
    """

    def __init__(
        self,
        *,
        opened: Callable[[], None],
        commit: Callable[[list[Work]], None],
        tidy: Callable[[], None],
        closed: Callable[[], None],
        limit: int,
    ) -> None:
        self._opened = opened
        self._commit = commit
        self._tidy = tidy
        self._closed = closed
        self._limit = limit
        self._waiting: deque[Work] = deque()
        self._appends: dict[int, Append] = {}
        """The append of each session that still waits and may be added to."""
        self._batches: SimpleQueue[list[Work] | None] = SimpleQueue()
        self._backlog = 0
        self._queued = 0
        """Counts what was ever queued: whether a turn of the loop has brought more."""
        self._armed = False
        """A hand-over is on its way: scheduled on the loop, or due when the writer reports."""
        self._refusal: StoreError | None = not_started()
        self._loop: asyncio.AbstractEventLoop
        self._thread: Thread | None = None

    @property
    def backlog(self) -> int:
        return self._backlog

    async def start(self) -> None:
        """Start the writer; what `opened` raises there is raised here."""
        self._loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = self._loop.create_future()
        self._thread = Thread(target=self._write, args=(ready,), name="toolwire-store")
        self._thread.start()
        try:
            await ready
        except asyncio.CancelledError:
            self._batches.put(None)
            raise
        self._refusal = None

    async def close(self, grace: float) -> None:
        """Finish what is queued and end the thread; whatever can't be finished in `grace` seconds fails."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self.drained(), grace)
        self._refusal = closed()
        self._batches.put(None)
        await asyncio.to_thread(thread.join, grace)
        self._fail_waiting(self._refusal)
        if thread.is_alive():
            raise StoreError(f"the store did not close within {grace:g} s")

    def append(self, session: int, events: list[AnyEvent], committed: Committed, failed: Failed) -> None:
        """Queue events. What one session adds before the next hand-over is one piece of work."""
        earlier = self._appends.get(session)
        if earlier is not None and earlier.committed is committed:
            earlier.events.extend(events)
            self._backlog += len(events)
            self._queued += 1
            return
        work = self._appends[session] = Append(session, events, committed, failed)
        self.put(work)

    def put(self, work: Work) -> None:
        """Queue work; called on the loop, any number of times per turn of it."""
        self._waiting.append(work)
        self._backlog += work.size()
        self._queued += 1
        if not self._armed:
            self._armed = True
            self._loop = asyncio.get_running_loop()
            self._gather(0, GATHERING_TURNS)

    async def ask(self, run: Callable[[], T]) -> T:
        """Run a function in the writer, in order, and wait for what it returns."""
        if self._refusal is not None:
            raise self._refusal
        future: asyncio.Future[T] = self._loop.create_future()
        self.put(Errand(run, future))
        return await future

    def transact(self, run: Callable[[], T], append: Append | None, claims: Key | None = None) -> asyncio.Future[T]:
        """Run a function in a savepoint of the batch's transaction, with events that go in with it or not at all."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._appends.clear()  # what is appended from here on comes after this
        self.put(Transact(run, future, append, claims))  # if the store is closed, it fails when it is handed over
        return future

    async def drained(self) -> None:
        if self._armed:
            future: asyncio.Future[None] = self._loop.create_future()
            self.put(Mark(future))
            await future

    # On the loop -------------------------------------------------------------------------------------------

    def _gather(self, before: int, turns: int) -> None:
        """Let the loop turn as long as each turn brings more, but not without end; then hand over."""
        if self._queued != before and turns:
            self._loop.call_soon(self._gather, self._queued, turns - 1)
        else:
            self._hand_over()

    def _hand_over(self) -> None:
        """Give the writer everything that waits, up to the limit."""
        if self._refusal is not None:
            self._armed = False
            self._fail_waiting(self._refusal)
            return
        waiting = self._waiting
        self._appends.clear()
        size = 0
        batch: list[Work] = []
        while waiting and (not batch or size + waiting[0].size() <= self._limit):
            work = waiting.popleft()
            size += work.size()
            batch.append(work)
        self._batches.put(batch)

    def _report(self, batch: list[Work]) -> None:
        """The writer is done with a batch: everybody is told, and what that leads to may join what waits already."""
        if not self._waiting:
            self._armed = False
            self._finish(batch)
        elif self._refusal is None:
            self._finish(batch)
            self._gather(0, GATHERING_TURNS)
        else:
            # Closed meanwhile: what still waits fails, after what was done is told.
            self._finish(batch)
            self._hand_over()

    def _finish(self, batch: list[Work]) -> None:
        for work in batch:
            self._backlog -= work.size()
            try:
                work.finish()
            except Exception as error:
                # One listener's defect must not keep the others from hearing of their events.
                self._loop.call_exception_handler({"message": "a store callback failed", "exception": error})

    def _fail_waiting(self, error: StoreError) -> None:
        batch = list(self._waiting)
        self._waiting.clear()
        self._appends.clear()
        for work in batch:
            work.error = error
        self._finish(batch)

    # In the thread -----------------------------------------------------------------------------------------

    def _write(self, ready: asyncio.Future[None]) -> None:
        try:
            self._opened()
        except Exception as error:
            self._tell(_set_exception, ready, error)
            return
        self._tell(_set_result, ready)
        try:
            while (batch := self._next_batch()) is not None:
                self._commit(batch)
                self._tell(self._report, batch)
                self._tidy()
        finally:
            self._closed()

    def _next_batch(self) -> list[Work] | None:
        """None when there will be no more: the store is closed, or the program has ended without closing it."""
        while True:
            try:
                return self._batches.get(timeout=LOOK_UP_SECONDS)
            except Empty:
                if not main_thread().is_alive():
                    return None

    def _tell(self, function: Callable[..., object], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            # The loop is closed: nobody is left to be told.
            return


def _set_result(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _set_exception(future: asyncio.Future[None], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
