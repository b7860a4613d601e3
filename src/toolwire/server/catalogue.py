"""What can be called by document 3: workspace tools by name, and services of the gateway (sections 2 and 3).

Calls are possible to what stands here and nothing else (section 8, 1).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from toolwire.errors import ConfigError
from toolwire.server.roles import Role
from toolwire.tools.base import Risk

if TYPE_CHECKING:
    from toolwire.server.hub import Hub
    from toolwire.server.security import Caller

Decided = Literal["done", "not_done", "undecidable"]
"""What the content says after a crash. A tool that can tell its result again gives that instead of "done"."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a service tool may use."""

    hub: Hub
    caller: Caller
    """With the role that the request was narrowed to."""
    app_id: str
    session_id: str
    trace_id: str
    call_id: str
    mode: str
    committer: Committer | None = None
    """Set by the call service for a write of an `atomic` entry."""

    async def commit(self, effect: Effect) -> ServiceResult:
        """Make an effect in one store transaction: with the record of the call's outcome, if it is a recorded call.

        `effect` runs in the store's thread on its connection and must touch nothing else; what it raises undoes it.
        """
        if self.committer is not None:
            return await self.committer(effect)
        return await self.hub.store.transact(effect)


@dataclass(frozen=True, slots=True)
class ServiceResult:
    data: dict[str, Any]
    message: str = ""
    rows_affected: int | None = None


Effect = Callable[[sqlite3.Connection], ServiceResult]
Committer = Callable[[Effect], Awaitable[ServiceResult]]


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool as document 3 sees it."""

    tool_id: str
    name_zh: str
    name_en: str
    intent: str
    """The verb: read, save, publish, …"""
    object: str
    risk: Risk
    reads: bool
    """False: a write, which needs an idempotency_key."""
    role: Role
    """The least role that may call it."""
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    placement: Literal["workspace", "service"]
    """A tool of tools/registry, or a coroutine of the gateway."""
    api: tuple[str, str] | None
    """(path, method) as the registry shows it."""
    confirm: bool = False
    """A person is asked before every call, also a program's."""
    run: Callable[[CallContext, dict[str, Any]], Awaitable[ServiceResult]] | None = None
    """For "service"."""
    decide: Callable[[CallContext, dict[str, Any]], Awaitable[Decided | ServiceResult]] | None = None
    """After a crash: did the effect of `context.call_id` happen? (Its result means that it did.)"""
    content_kept: bool = False
    """What it takes and gives lies in the store or the controlled folder: the log has digests of long texts."""
    atomic: bool = False
    """A write: the effect is one store transaction together with its record (`context.commit`), never undecidable.
    A read: it takes a moment, and is on record when it has ended."""
    timeout: float | None = None
    """Seconds it may take; None: the setting `call_timeout`."""

    def __post_init__(self) -> None:
        if not self.tool_id:
            raise ConfigError("a catalogue entry needs a tool_id")
        if (self.placement == "service") != (self.run is not None):
            raise ConfigError(f"{self.tool_id}: a service has `run`, a workspace tool has none", field="run")


class Catalogue:
    """Entries by tool_id; an id stands for one entry."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries: dict[str, Entry] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        if entry.tool_id in self._entries:
            raise ConfigError(f"two tools are called {entry.tool_id}", field="tool_id")
        self._entries[entry.tool_id] = entry

    def find(self, tool_id: str) -> Entry | None:
        return self._entries.get(tool_id)

    def __iter__(self) -> Iterator[Entry]:
        return iter(sorted(self._entries.values(), key=lambda entry: entry.tool_id))

    def __len__(self) -> int:
        return len(self._entries)
