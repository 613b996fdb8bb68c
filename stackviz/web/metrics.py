"""What processes count for Prometheus, with METRICS=1: requests, tasks, reports, refusals, failures of the queue.

Web processes and workers are many, and a scrape reaches one of them: each writes its counts to separate files in
`VAR_DIR/metrics`, which `/metrics` adds up (the library's multiprocess mode). Files are named for host and process, so
that containers may share the folder. What the database knows is computed when it is asked: `stackviz.site.monitoring`.
"""

import os
import socket
import time
from collections import Counter as Counted
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpRequest

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_STALE_S = 7 * 24 * 3600  # counts of a process that wrote none for so long are dropped
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_TASK_SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120)


class ProcessCounters:
    """The counters of this process."""

    def __init__(self) -> None:
        from prometheus_client import Counter, Histogram

        def counter(name: str, text: str, *labels: str) -> Any:  # noqa: ANN401 (a Counter)
            return Counter(f"accelweb_{name}", text, labels, registry=None)

        self.requests = Histogram(
            "accelweb_request_seconds",
            "Time to answer, by route name; never by address",
            ("route", "method", "status"),
            buckets=_SECONDS,
            registry=None,
        )
        self.tasks = Histogram(
            "accelweb_task_seconds", "Time of a task", ("task", "state"), buckets=_TASK_SECONDS, registry=None
        )
        self.accepted = counter("reports_accepted", "Reports stored for the first time")
        self.interpreted = counter("reports_interpreted", "Reports that a worker finished", "status")
        self.limited = counter("rate_limited", "Requests refused with 429", "limit")
        self.queue_failures = counter("queue_failures", "Messages to workers that could not be sent")


@cache
def _instruments() -> ProcessCounters | None:
    """None without METRICS."""
    if not settings.METRICS:
        return None
    from prometheus_client import values

    folder = metrics_folder()
    folder.mkdir(parents=True, exist_ok=True)
    _drop_stale(folder)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    values.ValueClass = values.MultiProcessValue(_process_name)  # type: ignore[no-untyped-call]
    return ProcessCounters()


def metrics_folder() -> Path:
    return Path(settings.VAR_DIR) / "metrics"


def _process_name() -> str:
    """The library splits names of files at underscores."""
    return f"{socket.gethostname().replace('_', '-')}-{os.getpid()}"


def _drop_stale(folder: Path) -> None:
    for file in folder.glob("*.db"):
        try:
            if file.stat().st_mtime < time.time() - _STALE_S:
                file.unlink()
        except FileNotFoundError:  # another process that starts now was first
            continue


def registry_of_all_processes() -> "CollectorRegistry":
    """The counts of all processes, added up."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    metrics_folder().mkdir(parents=True, exist_ok=True)
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(metrics_folder()))  # type: ignore[no-untyped-call]
    return registry


# --- what is counted ---


def observe_request(request: HttpRequest, status: int, seconds: float) -> None:
    if instruments := _instruments():
        match = request.resolver_match
        route = (match.view_name if match else "") or "none"
        method = request.method if request.method in ("GET", "HEAD", "POST", "OPTIONS") else "other"
        instruments.requests.labels(route, method, str(status)).observe(seconds)


def observe_task(name: str, state: str, seconds: float) -> None:
    if instruments := _instruments():
        instruments.tasks.labels(name, state).observe(seconds)


def count_accepted_report() -> None:
    if instruments := _instruments():
        instruments.accepted.inc()


def count_interpreted_reports(statuses: Iterable[str]) -> None:
    if instruments := _instruments():
        for status, count in Counted(statuses).items():
            instruments.interpreted.labels(status).inc(count)


def count_rate_limited(limit: str) -> None:
    if instruments := _instruments():
        instruments.limited.labels(limit).inc()


def count_queue_failure() -> None:
    if instruments := _instruments():
        instruments.queue_failures.inc()
