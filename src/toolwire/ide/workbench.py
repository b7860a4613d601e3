"""Runs the tools of this machine: in worker threads, so many at once, each call once (see `ledger`)."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from toolwire.errors import StoreError, ToolError
from toolwire.ide.call import Call, Form, Outcome
from toolwire.ide.ledger import Ledger
from toolwire.settings import Settings
from toolwire.tools.base import Context, Language, Tool, as_fields
from toolwire.tools.markdown import pick
from toolwire.tools.registry import Registry, as_details, as_markdown, as_object
from toolwire.tools.seen import Seen
from toolwire.tools.texts import sentence
from toolwire.tools.undo import decide, recovered
from toolwire.tools.workspace import Workspace
from toolwire.tools.writing import WriteResult, markdown

log = logging.getLogger("toolwire.ide")


class Workbench:
    """The hands of one IDE session."""

    def __init__(
        self,
        workspace: Workspace,
        registry: Registry,
        ledger: Ledger,
        settings: Settings,
        *,
        form: Form,
        session: str,
    ) -> None:
        self._workspace = workspace
        self._registry = registry
        self._ledger = ledger
        self._settings = settings
        self._form = form
        # People read documents 1 and 2 in the language of the setting; document 5 is for programs.
        self._language: Language = "en" if form == "object" or settings.language == "en" else "zh"
        self._seen = Seen(settings.seen_bytes)
        self._seen.remember(ledger.seen(session))
        self._stop = threading.Event()
        self._workers = ThreadPoolExecutor(settings.tool_workers, thread_name_prefix="tool")

    @property
    def tools(self) -> list[str]:
        return self._registry.names()

    async def run(self, call: Call) -> Outcome:
        """The outcome; never raises but when it is cancelled."""
        return await asyncio.get_running_loop().run_in_executor(self._workers, self._work, call)

    async def close(self) -> None:
        """What waits is not begun; what runs is told to stop, and given a moment to write its outcome down."""
        self._stop.set()
        ended = asyncio.get_running_loop().run_in_executor(
            None, partial(self._workers.shutdown, wait=True, cancel_futures=True)
        )
        await asyncio.wait((ended,), timeout=self._settings.shutdown_grace)

    def _work(self, call: Call) -> Outcome:
        try:
            return self._once(call)
        except Exception as error:  # whatever goes wrong here, the call must not stay unanswered
            log.exception("%s could not be answered", call.tool)
            return self._refused(ToolError("internal_error", tool=call.tool, reason=type(error).__name__))

    def _once(self, call: Call) -> Outcome:
        if call.tool not in self._registry:
            has = "this IDE has: " + ", ".join(self.tools)
            return self._refused(ToolError("unknown_tool", name=call.tool, hint=has))
        tool = self._registry.get(call.tool)
        try:
            earlier = self._ledger.begin(call, reads=tool.reads)
        except StoreError as error:
            if not tool.reads:
                return Outcome(False, error=f"{call.tool} was not run: {error.message}")
            log.warning("%s", error.message)
            earlier = None
        if earlier is not None:
            return earlier if earlier.decided else self._recover(call, tool)
        return self._run(call, reads=tool.reads)

    def _run(self, call: Call, *, reads: bool) -> Outcome:
        started = time.monotonic()
        outcome = self._outcome(call, started)
        self._finish(call, outcome, reads=reads)
        return outcome

    def _finish(self, call: Call, outcome: Outcome, *, reads: bool) -> None:
        try:
            self._ledger.finish(call, outcome, reads=reads, seen=self._seen.changes())
        except StoreError as error:
            # It has happened, and this is what came of it, whether or not it could be written down.
            log.warning("%s", error.message)

    def _outcome(self, call: Call, started: float) -> Outcome:
        context = Context(
            workspace=self._workspace,
            settings=self._settings,
            seen=self._seen,
            deadline=started + self._settings.tool_timeout,
            call_id=call.call_id,
            stop=self._stop,
        )
        ended = self._registry.run(call.tool, call.arguments, context)
        ms = _elapsed(started)
        if ended.error is not None:
            return self._refused(ended.error, ms)
        if self._form == "object":
            return Outcome(True, as_object(ended, self._language), ms=ms)
        details = as_details(ended) if isinstance(ended.output, WriteResult) else None
        return Outcome(True, as_markdown(ended, self._language), ms=ms, details=details)

    def _recover(self, call: Call, tool: Tool) -> Outcome:
        """A write begun before a crash: what the file holds says whether it happened (tools.undo)."""
        # A tool that does not write through the workspace leaves no trace to decide by.
        traced = issubclass(tool.output, WriteResult)
        decision = decide(self._workspace, call.call_id) if traced else "undecidable"
        if decision == "not_done":
            return self._run(call, reads=False)
        if decision == "undecidable":
            error = pick(
                self._language,
                f"{call.tool} 在 IDE 中断前已经开始，无法确定是否已生效，且未再次执行。请读取文件确认当前内容。",
                f"{call.tool} was begun before this IDE was interrupted: it may or may not have taken effect, and it "
                "was not run again. Read the file to see what is there.",
            )
            return Outcome(False, error=error, indeterminate=True, replayed=True)
        done = self._recovered(call, recovered(self._workspace, call.call_id))
        self._finish(call, done, reads=False)
        return done

    def _recovered(self, call: Call, write: WriteResult) -> Outcome:
        """What a write that had happened would have told."""
        if write.hash_after is not None:
            self._seen.note(write.path, write.hash_after)
        text = pick(
            self._language,
            f"{call.tool} 在 IDE 中断前已经生效，未再次执行。",
            f"{call.tool} had taken effect before this IDE was interrupted; it was not run again.",
        )
        content = f"{text}\n\n{markdown(write, self._language)}"
        fields = {**as_fields(write), "recovered": True}
        if self._form == "markdown":
            return Outcome(True, content, details=fields, replayed=True)
        return Outcome(True, {"content": content, **fields}, replayed=True)

    def _refused(self, error: ToolError, ms: int = 0) -> Outcome:
        return Outcome(False, error=sentence(error, self._language), ms=ms)


def _elapsed(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
