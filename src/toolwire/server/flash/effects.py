"""A write of document 3's resources: one store transaction that also leaves a line in the execution log."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from toolwire.errors import ToolError
from toolwire.server.catalogue import CallContext, ServiceResult
from toolwire.server.clock import now_ms
from toolwire.server.flash import rows
from toolwire.server.flash.controlled import refused

Work = Callable[[sqlite3.Connection, str], ServiceResult]
"""Does it, given the connection and the time as text; what it raises undoes it."""


async def write(context: CallContext, tool_id: str, told: Mapping[str, Any], work: Work) -> ServiceResult:
    """Make an effect, once, with its line in the log. `told` is what the log says was asked for."""
    at = rows.now_text(now_ms())
    log_id = context.hub.ids.next(now_ms())

    def effect(connection: sqlite3.Connection) -> ServiceResult:
        try:
            result = work(connection, at)
        except ToolError as error:
            raise refused(error) from error
        line = {
            "id": log_id,
            "app_id": context.app_id,
            "execution_id": context.call_id,
            "task_id": context.session_id or None,
            "tool_id": tool_id,
            "trace_id": context.trace_id,
            "status": "completed",
            "input_data": dict(told),
            "output_data": {"message": result.message, "rows_affected": result.rows_affected},
            "executed_by": context.caller.name,
            "executed_at": at,
        }
        rows.insert(connection, rows.LOGS, context.caller.tenant, line)
        return result

    return await context.commit(effect)
