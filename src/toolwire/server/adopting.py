"""Calls that a gateway which is gone has left without an outcome.

What it ran in its own workspaces is decided by what is there now. What an IDE was asked to run waits for that IDE
(`core/lasting.py`). If a program made the call, the outcome ends the record under its idempotency key as well, in one
transaction; until then the record is this process's own, and whoever sends the call again waits for the outcome.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import orjson

from toolwire.core.events import CallRequested, CallSettled
from toolwire.errors import FlashError, ToolwireError
from toolwire.server import responses
from toolwire.server.catalogue import Decided
from toolwire.server.clock import now_ms
from toolwire.server.logs import log
from toolwire.server.programs import PROGRAM, Program, Record
from toolwire.server.recovering import IN_IDE
from toolwire.server.responses import Response
from toolwire.server.toolroom import Done
from toolwire.store.call_records import RecordKey
from toolwire.tools import undo
from toolwire.tools.base import Language, as_fields
from toolwire.tools.writing import WriteResult, markdown

if TYPE_CHECKING:
    from toolwire.server.hub import Hub
    from toolwire.server.live import LiveSession


NOT_RUN = "{tool} was not run: the gateway was stopped before it took effect"


async def take_on(hub: Hub, live: LiveSession, dead: Mapping[str, str]) -> None:
    """Look after a session's calls. `dead`: call ids of their records → owners that are gone."""
    in_ide = [call for call in live.core.calls.of_client() if call.asked_by.startswith(PROGRAM)]
    await _adopt(hub, {IN_IDE + call.call_id: call for call in in_ide}, dead)
    alone = await asyncio.to_thread(hub.records.alone)
    for call in [call for call in live.core.calls if call.placement == "server" and not call.reads]:
        became = await asyncio.to_thread(_became, hub, call)
        if isinstance(became, WriteResult):
            await _adopt(hub, {call.call_id: call}, dead)
            live.settle(call.call_id, _told(hub, call, became))
        elif became == "not_done" and alone:  # else another gateway may be about to do it
            # The record of a program's call stays as it is: the call is run when it is sent again.
            live.settle(call.call_id, Done(error=NOT_RUN.format(tool=call.tool)))


async def _adopt(hub: Hub, calls: Mapping[str, CallRequested], dead: Mapping[str, str]) -> None:
    gone = {noted: owner for noted, owner in dead.items() if noted in calls}
    if gone:
        for noted, (key, trace) in (await hub.store.transact(partial(hub.records.adopt, gone=gone))).items():
            Adopted(hub, calls[noted], key, trace)


def _became(hub: Hub, call: CallRequested) -> WriteResult | Decided:
    """By content; of a call whose effect is one transaction with its outcome, by the outcome not being there."""
    entry = hub.calls.catalogue.find(call.tool)
    if entry is None or call.project not in hub.projects.roots:
        return "undecidable"
    if entry.atomic:
        return "not_done"
    tool = hub.tools.registry.get(call.tool) if entry.placement == "workspace" else None
    if tool is None or not issubclass(tool.output, WriteResult):
        return "undecidable"
    try:
        workspace = hub.projects.workspace(call.project)
        decision = undo.decide(workspace, call.call_id)
        return undo.recovered(workspace, call.call_id) if decision == "done" else decision
    except (ToolwireError, OSError) as error:
        log.warning("can't tell what became of a call", call_id=call.call_id, error=str(error))
        return "undecidable"


def _told(hub: Hub, call: CallRequested, write: WriteResult) -> Done:
    """As the tool itself would have told it: a client that asked reads Markdown, others an object."""
    language: Language = "en" if hub.settings.language == "en" else "zh"
    fields = {**as_fields(write), "recovered": True}
    if call.asked_by and not call.asked_by.startswith(PROGRAM):
        return Done(True, markdown(write, language), details=fields)
    return Done(True, {"content": markdown(write, "en"), **fields})


class Adopted:
    """One such call, from here to its outcome."""

    def __init__(self, hub: Hub, call: CallRequested, key: RecordKey, trace: str) -> None:
        self._hub = hub
        self._call = call
        self._key = key
        self._trace = trace
        self._program = Program(call.call_id, self._record_of)
        self._program.settled.add_done_callback(self._over)
        hub.programs.add(self._program)

    def _over(self, settled: asyncio.Future[CallSettled]) -> None:
        self._hub.programs.remove(self._program)
        if settled.cancelled() or settled.exception() is not None:
            self._hub.records.forsake(self._key)
        self._hub.records.tell(self._key)

    def _record_of(self, event: CallSettled) -> Record:
        text = orjson.dumps(self._respond(event)).decode()

        def record(tables: sqlite3.Connection) -> None:
            self._hub.records.finish(tables, self._key, text, now_ms())

        return record

    def _respond(self, event: CallSettled) -> Response:
        entry = self._hub.calls.catalogue.find(self._call.tool)
        if entry is None:  # the tool was taken out of the catalogue meanwhile
            error = FlashError("TOOL_NOT_FOUND", f"{self._call.tool} is no longer a tool of this gateway", began=True)
            return responses.failure(error, self._call.tool, self._trace)
        if event.outcome == "ok":
            response = responses.success(entry, self._trace, responses.data_of(event), ms=event.ms)
            response["meta"]["recovered"] = True
            return response
        if event.outcome == "indeterminate":
            return responses.failure(responses.indeterminate(), entry.tool_id, self._trace)
        error = responses.upstream(entry, event, "", in_gateway=False)
        return responses.failure(error, entry.tool_id, self._trace)
