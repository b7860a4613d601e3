"""A span for every call of document 3, where OpenTelemetry's SDK is set up (extra `telemetry`); otherwise nothing.

Whoever embeds or starts the gateway sets the SDK up, with OpenTelemetry's own means.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

NO_SPAN: AbstractContextManager[Any] = nullcontext()


def call_span(tool_id: str | None, trace_id: str | None, caller: str) -> AbstractContextManager[Any]:
    """Spans that begin inside, in nested calls or tools, become its children."""
    if "opentelemetry.sdk.trace" not in sys.modules:
        return NO_SPAN
    from opentelemetry import trace

    attributes = {"toolwire.tool_id": tool_id or "", "toolwire.trace_id": trace_id or "", "toolwire.caller": caller}
    span: AbstractContextManager[Any] = trace.get_tracer("toolwire").start_as_current_span(
        f"call {tool_id}", attributes=attributes
    )
    return span
