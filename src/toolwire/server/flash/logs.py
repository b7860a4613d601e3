"""Execution logs (spec README, "Resources"): who ran what, when, and how it ended. Lines are added, never changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from toolwire.server.catalogue import CallContext, ServiceResult
from toolwire.server.clock import now_ms
from toolwire.server.flash import rows
from toolwire.server.flash.rows import LOGS, Page


async def queried(context: CallContext, page: Page) -> ServiceResult:
    found = await context.hub.store.query(lambda connection: rows.select(connection, LOGS, context.caller, page))
    return ServiceResult({"logs": found}, f"共 {len(found)} 条记录")


async def append(context: CallContext, fields: Mapping[str, Any]) -> ServiceResult:
    """Add a line. Who and when are the gateway's to say."""
    caller, at = context.caller, rows.now_text(now_ms())
    empty = dict.fromkeys(LOGS.columns)
    given = {**empty, "trace_id": context.trace_id, "status": "completed", **fields}
    line = {**given, "id": context.hub.ids.next(now_ms()), "executed_by": caller.name, "executed_at": at}

    def effect(connection: sqlite3.Connection) -> ServiceResult:
        rows.insert(connection, LOGS, caller.tenant, line)
        return ServiceResult({"log": line}, "记录已写入", rows_affected=1)

    return await context.commit(effect)


async def note(
    context: CallContext,
    tool_id: str,
    status: str,
    asked: Mapping[str, Any],
    answer: Mapping[str, Any],
    error: str | None = None,
) -> None:
    """The gateway's own line about a tool whose effect is not in the store."""
    line = {
        "id": context.hub.ids.next(now_ms()),
        "app_id": context.app_id,
        "execution_id": context.call_id,
        "task_id": context.session_id or None,
        "tool_id": tool_id,
        "trace_id": context.trace_id,
        "status": status,
        "input_data": dict(asked),
        "output_data": dict(answer),
        "error_message": error,
        "executed_by": context.caller.name,
        "executed_at": rows.now_text(now_ms()),
    }
    await context.hub.store.transact(lambda connection: rows.insert(connection, LOGS, context.caller.tenant, line))
