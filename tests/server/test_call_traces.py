"""The trace of a call: in log lines and spans, beside the answer and the events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import structlog
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from server.programs import program, service
from toolwire.server.catalogue import CallContext, ServiceResult
from toolwire.server.logs import log


@pytest.fixture(scope="module")
def spans() -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


async def test_a_call_is_a_span_and_what_its_tool_does_is_inside(tmp_path: Path, spans: InMemorySpanExporter) -> None:
    async def works(_: CallContext, __: dict[str, Any]) -> ServiceResult:
        with trace.get_tracer("tool").start_as_current_span("inside"):
            return ServiceResult({})

    async with program(tmp_path) as it:
        it.add(service(works))
        await it.call("test.tool", idempotency_key="k")
    named = {span.name: span for span in spans.get_finished_spans()}
    inside, call = named["inside"], named["call test.tool"]
    assert inside.parent is not None
    assert call.context is not None
    assert inside.parent.span_id == call.context.span_id
    assert call.attributes is not None
    assert call.attributes["toolwire.trace_id"] == "tr-1"


async def test_what_a_tool_logs_carries_the_trace(tmp_path: Path) -> None:
    seen: list[Any] = []

    async def logs(_: CallContext, __: dict[str, Any]) -> ServiceResult:
        log.warning("working")
        seen.append(structlog.contextvars.get_contextvars().get("trace_id"))
        return ServiceResult({})

    async with program(tmp_path) as it:
        it.add(service(logs))
        await it.call("test.tool", idempotency_key="k")
    assert seen == ["tr-1"]
    assert "trace_id" not in structlog.contextvars.get_contextvars()
