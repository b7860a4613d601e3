"""Runs the tools that the gateway itself is asked for, in worker threads. The event loop never runs a tool.

Bounded: so many at once, so many waiting, so long each. A tool that reads is given up at its deadline; a write is
told to stop and waited for a little longer, and if it still has not said what it did, that is what is reported.
"""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolwire.core.events import CallRequested
from toolwire.errors import ToolwireError
from toolwire.server.logs import log
from toolwire.tools.base import Context, Language
from toolwire.tools.registry import as_details, as_markdown, as_object
from toolwire.tools.seen import Seen
from toolwire.tools.texts import sentence

if TYPE_CHECKING:
    from toolwire.server.hub import Hub
    from toolwire.server.live import LiveSession

WRITE_PATIENCE = 2.0
"""A write gets this many times the limit before its outcome is called unknown."""


@dataclass(frozen=True, slots=True)
class Done:
    """How a tool ended."""

    ok: bool = False
    result: Any = None
    error: str = ""
    details: dict[str, Any] | None = None
    kind: str = ""
    """Of a failure: the ToolError's kind."""
    lost: bool = False
    """Nobody can say whether it took effect."""


BUSY = Done(error="the gateway is busy: too many tool calls are waiting; try again", kind="busy")


class Toolroom:
    """The gateway's own hands."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._workers = ThreadPoolExecutor(hub.settings.tool_workers, thread_name_prefix="tool")
        self._seen: dict[tuple[int, str], Seen] = {}
        self._idle: dict[tuple[int, str], Seen] = {}
        """The same, of sessions that are not live: the last few."""
        self._waiting = 0

    def run(self, live: LiveSession, call: CallRequested) -> None:
        """Start a call; its outcome goes to `live.tool_done`, exactly once."""
        if self._busy:
            live.tool_done(call.call_id, BUSY)
            return
        self._hub.keep(asyncio.create_task(self._run(live, call), name=f"tool {call.call_id}"))

    async def _run(self, live: LiveSession, call: CallRequested) -> None:
        entry = self._hub.calls.catalogue.find(call.tool)
        if entry is not None and entry.placement == "service":
            running = live.core.running
            asked = running.asked if running is not None and running.id == call.turn else None
            done = await self._hub.calls.serve(live, call, entry, asked)
        else:
            done = await self.execute(live.record.number, call, markdown=bool(call.asked_by))
        if done.lost:
            live.tool_lost(call.call_id)
        else:
            live.tool_done(call.call_id, done)

    async def execute(self, session: int, call: CallRequested, *, markdown: bool = False) -> Done:
        """Run a call and give its outcome; `session` is the number of the one whose reads and writes count."""
        if self._busy:
            return BUSY
        stop = threading.Event()
        limit = self._hub.settings.server_tool_timeout
        self._waiting += 1
        seen = self._seen_by(session, call.project)
        work = self._hub.loop.run_in_executor(self._workers, self._work, seen, call, stop, markdown)
        try:
            async with asyncio.timeout(limit if call.reads else limit * WRITE_PATIENCE):
                return await asyncio.shield(work)
        except TimeoutError:
            stop.set()
            error = f"{call.tool} took longer than {limit:g} s and was given up"
            return Done(error=error, kind="timeout", lost=not call.reads)
        finally:
            self._waiting -= 1

    @property
    def _busy(self) -> bool:
        return self._waiting >= self._hub.settings.tool_backlog + self._hub.settings.tool_workers

    def _work(self, seen: Seen, call: CallRequested, stop: threading.Event, markdown: bool) -> Done:
        """In a worker thread."""
        hub = self._hub
        language: Language = "en" if hub.settings.language == "en" else "zh"
        try:
            context = Context(
                workspace=hub.projects.workspace(call.project),
                settings=hub.settings,
                seen=seen,
                deadline=time.monotonic() + hub.settings.server_tool_timeout,
                call_id=call.call_id,
                stop=stop,
            )
            outcome = hub.tools.registry.run(call.tool, call.arguments, context)
            if outcome.error is not None:
                refused = outcome.error
                return Done(error=sentence(refused, language if markdown else "en"), kind=refused.kind)
            if not markdown:
                return Done(ok=True, result=as_object(outcome, "en"))
            details = None if call.reads else as_details(outcome)
            return Done(ok=True, result=as_markdown(outcome, language), details=details)
        except ToolwireError as error:
            return Done(error=error.message)
        except Exception:  # a tool's defect is ours, and must not take the worker or the peer with it
            log.exception("a tool failed unexpectedly", tool=call.tool, call_id=call.call_id)
            return Done(error=f"{call.tool} failed unexpectedly; the gateway's log has the details")

    def forget(self, session: int) -> None:
        """A session is no longer live. What it has read is remembered for a while, in case it comes back."""
        for key in [key for key in self._seen if key[0] == session]:
            self._idle[key] = self._seen.pop(key)
        while len(self._idle) > self._hub.settings.seen_sessions:
            del self._idle[next(iter(self._idle))]

    def _seen_by(self, session: int, project: str) -> Seen:
        """A program's session is live only while it calls: what it read before it may still change now."""
        key = (session, project)
        seen = self._seen.get(key)
        if seen is None:
            seen = self._seen[key] = self._idle.pop(key) if key in self._idle else Seen()
        return seen

    def close(self) -> None:
        self._workers.shutdown(wait=False, cancel_futures=True)
