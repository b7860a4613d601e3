"""A call of document 3, understood: envelope checked, tool found, role narrowed (sections 4 and 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec

from toolwire.core.idempotency import digest_of
from toolwire.dialects import flash_calls
from toolwire.dialects.flash_calls import MESSAGES, ToolCall
from toolwire.errors import FlashError, InvalidMessage
from toolwire.server.arguments import Arguments, refuse
from toolwire.server.catalogue import Catalogue, Entry
from toolwire.server.roles import at_least, narrowed
from toolwire.server.security import Caller
from toolwire.store.call_records import RecordKey

DEFAULT_APP: Final = "default"
DEFAULT_SESSION: Final = "calls"
ID_LENGTH: Final = 256
READ_ONLY_MODES: Final = frozenset({"ask", "plan"})
"""Spec README, "mode"."""


class Asked(msgspec.Struct, frozen=True):
    """A call that may be made."""

    entry: Entry
    caller: Caller
    """With the role it was narrowed to."""
    trace_id: str
    app_id: str
    session: str
    project: str
    mode: str
    arguments: dict[str, Any]
    key: RecordKey | None
    """None for a call that reads."""
    digest: str
    """Of the arguments, and of whatever else decides what the effect is."""

    def with_arguments(self, arguments: dict[str, Any]) -> Asked:
        """The same call with the arguments a person has changed; its digest stays what the caller asked for."""
        return msgspec.structs.replace(self, arguments=arguments)


def named(envelope: object) -> tuple[str | None, str | None]:
    """The tool_id and trace_id of whatever came in, for its answer."""
    if not isinstance(envelope, Mapping):
        return None, None
    return _short(envelope.get("tool_id")), _short(envelope.get("trace_id"))


def _short(value: object) -> str | None:
    """What can't be an id is not repeated."""
    return value if isinstance(value, str) and len(value) <= ID_LENGTH else None


def understand(
    envelope: object, caller: Caller, catalogue: Catalogue, arguments: Arguments, projects: Mapping[str, object]
) -> Asked:
    """Raises FlashError: BAD_REQUEST, VALIDATION_FAILED, TOOL_NOT_FOUND or PERMISSION_DENIED."""
    if not isinstance(envelope, Mapping):
        raise FlashError("BAD_REQUEST", MESSAGES["BAD_REQUEST"])
    try:
        call = flash_calls.decode_call(envelope)
    except InvalidMessage as error:
        raise refuse(error.fields) from None
    entry = catalogue.find(call.tool_id)
    if entry is None:
        raise FlashError("TOOL_NOT_FOUND", f"{MESSAGES['TOOL_NOT_FOUND']}: {call.tool_id}")
    options = call.context or flash_calls.CallOptions()
    role = narrowed(caller.role, options.user_role)
    who = caller if role == caller.role else replace(caller, role=role)
    _permit(entry, who, options.mode or "")
    faults = _faults(call, entry, arguments, options.project_key, projects)
    if faults:
        raise refuse(faults)
    app_id = call.app_id or DEFAULT_APP
    session = call.session_id or DEFAULT_SESSION
    return Asked(
        entry=entry,
        caller=who,
        trace_id=call.trace_id,
        app_id=app_id,
        session=session,
        project=options.project_key or next(iter(projects), ""),
        mode=options.mode or "",
        arguments=call.arguments,
        key=_key(call, entry, who),
        digest=_digest(call, entry, app_id, session, options.project_key),
    )


def _permit(entry: Entry, who: Caller, mode: str) -> None:
    if not at_least(who.role, entry.role):
        raise FlashError("PERMISSION_DENIED", MESSAGES["PERMISSION_DENIED"])
    if mode in READ_ONLY_MODES and not entry.reads:
        raise FlashError("PERMISSION_DENIED", f"{mode} 模式只允许读取，未执行 {entry.tool_id}")


def _faults(
    call: ToolCall, entry: Entry, arguments: Arguments, project: str | None, projects: Mapping[str, object]
) -> dict[str, str]:
    faults: dict[str, str] = {}
    if not entry.reads and call.idempotency_key is None:
        faults["idempotency_key"] = "is missing: a write needs one"
    if project is not None and project not in projects:
        faults["context.project_key"] = f"{project!r} is not a project of this gateway"
    return {**faults, **arguments.faults(entry, call.arguments)}


def _key(call: ToolCall, entry: Entry, who: Caller) -> RecordKey | None:
    if entry.reads or call.idempotency_key is None:
        return None
    return RecordKey(who.tenant, who.name, entry.tool_id, call.idempotency_key)


def _digest(call: ToolCall, entry: Entry, app_id: str, session: str, project: str | None) -> str:
    """One key for another app, or in another IDE's workspace, would not be the same write."""
    where = [session, project] if entry.placement == "workspace" else []
    return digest_of({"arguments": call.arguments, "app_id": app_id, "where": where})
