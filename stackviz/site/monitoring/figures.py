"""The figures of `/metrics`: what all processes counted, and what readiness finds at this moment."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from stackviz.site.monitoring.readiness import readiness
from stackviz.web.metrics import registry_of_all_processes


def all_figures() -> CollectorRegistry:
    registry = registry_of_all_processes()
    registry.register(Present())
    return registry


class Present(Collector):
    """Gauges of this moment, computed when asked."""

    def collect(self) -> Iterator[Metric]:
        state = readiness()
        yield _gauge("build", "1, with the version", ("version",), {(settings.VERSION,): 1})
        checks = {(check.name,): check.holds for check in state.checks}
        yield _gauge("ready", "1 where a check of /readyz holds", ("check",), checks)
        if state.waiting is not None:
            yield _gauge("reports_waiting", "Reports no worker has read", (), {(): state.waiting})
            yield _gauge("oldest_waiting_seconds", "Age of the oldest of them", (), {(): state.oldest_waiting_s})
        silent = {(heartbeat.kind,): heartbeat.silent_s for heartbeat in reversed(state.processes)}
        yield _gauge("silent_seconds", "Since the last heartbeat", ("process",), silent)
        yield _gauge("disk_free_bytes", "Free under VAR_DIR", (), {(): state.disk_free_bytes})


def _gauge(name: str, text: str, labels: tuple[str, ...], values: Mapping[Any, float]) -> Metric:
    """`values`: the values of the labels, in their order -> the figure."""
    gauge = GaugeMetricFamily(f"accelweb_{name}", text, labels=labels)
    for of_labels, value in values.items():
        gauge.add_metric(of_labels, value)
    return gauge
