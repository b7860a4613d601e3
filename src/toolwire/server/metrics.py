"""Counts of what a gateway does: plain numbers that hot paths only add to, shown as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


@dataclass(slots=True)
class Metrics:
    messages_in: int = 0
    messages_out: int = 0
    refused: int = 0
    """Messages that did not fit, and were answered with an error."""
    stray_results: int = 0
    """Results for calls nobody waits for."""
    connections_opened: int = 0


_COUNTERS = {
    "messages_in": "Messages received over WebSockets",
    "messages_out": "Messages sent over WebSockets",
    "refused": "Messages refused with an error of their dialect",
    "stray_results": "Tool results for calls nobody waits for",
    "connections_opened": "WebSocket connections opened",
}


class MetricsCollector(Collector):
    """Reads the numbers when they are asked for."""

    def __init__(self, metrics: Metrics, gauges: dict[str, tuple[str, Callable[[], float]]]) -> None:
        self._metrics = metrics
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        for name, text in _COUNTERS.items():
            yield CounterMetricFamily(f"toolwire_{name}", text, value=getattr(self._metrics, name))
        for name, (text, read) in self._gauges.items():
            yield GaugeMetricFamily(f"toolwire_{name}", text, value=read())
