"""Responses of document 3, section 5, from what happened. The one place where an outcome gets its code."""

from __future__ import annotations

from typing import Any, Final

from toolwire.core.events import CallSettled
from toolwire.dialects.flash_calls import MESSAGES
from toolwire.errors import FLASH_STATUS, FlashCode, FlashError
from toolwire.server.catalogue import Entry, ServiceResult

Response = dict[str, Any]

REFUSED_ARGUMENTS: Final = frozenset({"bad_arguments", "invalid_pattern"})
"""Kinds of a tool's refusal that are the fault of what it was given."""


def success(
    entry: Entry, trace_id: str, data: dict[str, Any], *, message: str = "", rows: int | None = None, ms: int = 0
) -> Response:
    meta: dict[str, Any] = {"risk_level": entry.risk, "duration_ms": ms}
    if rows is not None:
        meta["rows_affected"] = rows
    return {
        "ok": True,
        "code": "OK",
        "message": message or MESSAGES["OK"],
        "tool_id": entry.tool_id,
        "trace_id": trace_id,
        "data": data,
        "meta": meta,
    }


def served(entry: Entry, trace_id: str, result: ServiceResult, ms: int) -> Response:
    return success(entry, trace_id, result.data, message=result.message, rows=result.rows_affected, ms=ms)


def failure(error: FlashError, tool_id: str | None, trace_id: str | None) -> Response:
    told: dict[str, Any] = {"reason_code": error.reason, "http_status": error.http_status}
    told.update((name, value) for name, value in error.more.items() if value is not None)
    if error.hint:
        told["hint"] = error.hint
    return {
        "ok": False,
        "code": error.code,
        "message": error.message,
        "tool_id": tool_id,
        "trace_id": trace_id,
        "error": told,
    }


def data_of(event: CallSettled) -> dict[str, Any]:
    """What a workspace tool gave: its object, or its text with the typed fields that came beside it."""
    if isinstance(event.result, dict):
        return event.result
    return {"content": event.result, **(event.details or {})}


def status_of(response: Response) -> int:
    return FLASH_STATUS[response["code"]]


def replayed(stored: Response, trace_id: str, first_trace_id: str) -> Response:
    """A stored response given again: marked, under the present trace_id, with the first one in `meta`."""
    meta = {**stored.get("meta", {}), "idempotent_replay": True, "first_trace_id": first_trace_id}
    return {**stored, "trace_id": trace_id, "meta": meta}


def upstream(entry: Entry, event: CallSettled, kind: str, *, in_gateway: bool) -> FlashError:
    """Why a workspace tool has no result. `kind` is the tool's own word for it, if the gateway ran it."""
    if event.outcome == "timed_out" or kind == "timeout":
        return FlashError("TIMEOUT", _told("TIMEOUT", event.error), indeterminate=None if entry.reads else True)
    if event.outcome == "indeterminate":
        code: FlashCode = "INTERNAL_ERROR" if in_gateway else "UPSTREAM_ERROR"
        return FlashError(code, _told(code, event.error), indeterminate=True)
    if kind in REFUSED_ARGUMENTS:
        return FlashError("VALIDATION_FAILED", _told("VALIDATION_FAILED", event.error), reason=kind.upper())
    if kind == "internal_error":
        return FlashError("INTERNAL_ERROR", _told("INTERNAL_ERROR", event.error))
    return FlashError("UPSTREAM_ERROR", _told("UPSTREAM_ERROR", event.error), reason=kind.upper() or None)


def indeterminate(message: str = "") -> FlashError:
    """After a crash: the effect may or may not have happened, and nothing tells which."""
    told = message or "网关在执行过程中中断，无法确定操作是否已生效，请人工核对后使用新的幂等键重试"
    return FlashError("INTERNAL_ERROR", told, reason="INDETERMINATE", indeterminate=True, began=True)


def _told(code: str, detail: str) -> str:
    return f"{MESSAGES[code]}: {detail}" if detail else MESSAGES[code]
