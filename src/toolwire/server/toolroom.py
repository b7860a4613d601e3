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
from toolwire.tools.registry import as_markdown, as_object
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


class Toolroom:
    """The gateway's own hands."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._workers = ThreadPoolExecutor(hub.settings.tool_workers, thread_name_prefix="tool")
        self._seen: dict[tuple[int, str], Seen] = {}
        self._waiting = 0

    def run(self, live: LiveSession, call: CallRequested) -> None:
        """Start a call; its outcome goes to `live.tool_done`, exactly once."""
        settings = self._hub.settings
        if self._waiting >= settings.tool_backlog + settings.tool_workers:
            live.tool_done(
                call.call_id, Done(error="the gateway is busy: too many tool calls are waiting; try again")
            )
            return
        self._waiting += 1
        self._hub.keep(asyncio.create_task(self._run(live, call), name=f"tool {call.call_id}"))

    async def _run(self, live: LiveSession, call: CallRequested) -> None:
        settings = self._hub.settings
        stop = threading.Event()
        limit = settings.server_tool_timeout
        work = self._hub.loop.run_in_executor(self._workers, self._work, live, call, stop)
        try:
            async with asyncio.timeout(limit if call.reads else limit * WRITE_PATIENCE):
                done = await asyncio.shield(work)
            live.tool_done(call.call_id, done)
        except TimeoutError:
            stop.set()
            if call.reads:
                live.tool_done(call.call_id, Done(error=f"{call.tool} took longer than {limit:g} s and was given up"))
            else:
                live.tool_lost(call.call_id)
        finally:
            self._waiting -= 1

    def _work(self, live: LiveSession, call: CallRequested, stop: threading.Event) -> Done:
        """In a worker thread."""
        hub = self._hub
        markdown = bool(call.asked_by)
        language: Language = "en" if hub.settings.language == "en" else "zh"
        try:
            context = Context(
                workspace=hub.projects.workspace(call.project),
                settings=hub.settings,
                seen=self._seen_by(live, call.project),
                deadline=time.monotonic() + hub.settings.server_tool_timeout,
                call_id=call.call_id,
                stop=stop,
            )
            outcome = hub.tools.registry.run(call.tool, call.arguments, context)
            if outcome.error is not None:
                return Done(error=sentence(outcome.error, language if markdown else "en"))
            fields = as_object(outcome, "en")
            if not markdown:
                return Done(ok=True, result=fields)
            return Done(ok=True, result=as_markdown(outcome, language), details=None if call.reads else fields)
        except ToolwireError as error:
            return Done(error=error.message)
        except Exception:  # a tool's defect is ours, and must not take the worker or the peer with it
            log.exception("a tool failed unexpectedly", tool=call.tool, call_id=call.call_id)
            return Done(error=f"{call.tool} failed unexpectedly; the gateway's log has the details")

    def _seen_by(self, live: LiveSession, project: str) -> Seen:
        return self._seen.setdefault((live.record.number, project), Seen())

    def forget(self, session: int) -> None:
        """A session is no longer live, and neither is what it has read."""
        for key in [key for key in self._seen if key[0] == session]:
            del self._seen[key]

    def close(self) -> None:
        self._workers.shutdown(wait=False, cancel_futures=True)
