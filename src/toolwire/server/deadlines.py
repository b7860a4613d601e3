"""Time limits of many short things at little cost: one look now and then instead of a timer for each.

Like `asyncio.timeout`, but that a limit is noticed up to a tick of the hub late.
"""

from __future__ import annotations

import asyncio
from types import TracebackType


class Deadlines:
    """Every limit that is being kept. `look` is called by the hub's clock."""

    __slots__ = ("_kept", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._kept: set[Deadline] = set()

    def within(self, seconds: float) -> Deadline:
        """Use with `with`, in a task. Raises TimeoutError at its end if the time was up."""
        return Deadline(self._kept, self._loop.time() + seconds)

    def look(self, now: float) -> None:
        for deadline in [deadline for deadline in self._kept if deadline.until <= now]:
            deadline.pass_by()


class Deadline:
    __slots__ = ("_among", "_cancelled_before", "_passed", "_task", "until")

    def __init__(self, among: set[Deadline], until: float) -> None:
        self._among = among
        self.until = until
        self._passed = False
        self._task: asyncio.Task[object]
        self._cancelled_before = 0

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelled_before = task.cancelling()
        self._among.add(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._among.discard(self)
        # Whoever else has cancelled the task meanwhile means it: then it stays cancelled.
        if self._passed and self._task.uncancel() <= self._cancelled_before and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def pass_by(self) -> None:
        """The time is up."""
        self._among.discard(self)
        self._passed = True
        self._task.cancel()
