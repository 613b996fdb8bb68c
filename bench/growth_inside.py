"""What `bench.growth` does inside the site's process: fill up to so many results in bulk, measure pages."""

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import django

MACHINES, SERIES, MONTHS = 20, 60, 24  # series of each machine; results lie over so many months
RESULTS_A_REPORT = 60


def fill(wanted: int) -> float:
    """Up to `wanted` results -> seconds. The newest report of each machine is a real one, read as any other."""
    from django.db import connection

    from bench.inside import MACHINES as REAL_MACHINES
    from bench.inside import seed, sync_later
    from stackviz.records.series.models import Result
    from stackviz.records.series.rollup import correct, stale_series

    started = time.perf_counter()
    sync_later()
    if not Result.objects.exists():
        seed(str(REAL_MACHINES))
        fill_measured_series()
    missing = wanted - Result.objects.count()
    if missing > 0:
        with connection.cursor() as cursor:
            (fill_postgres if connection.vendor == "postgresql" else fill_sqlite)(cursor, missing)
            cursor.execute("ANALYZE")
    for wrong in stale_series():
        correct(wrong)
    return time.perf_counter() - started


def fill_measured_series() -> None:
    """As many results in the measured series as its page shows, so that the page does not grow with the sizes."""
    from datetime import timedelta

    from django.utils import timezone

    from stackviz.records.series.models import Result
    from stackviz.records.series.queries import HISTORY_POINTS

    series = measured_series()
    newest = Result.objects.filter(series=series).latest("measured_at")
    past = timezone.now() - timedelta(days=2)
    Result.objects.bulk_create(
        Result(
            series=series, report_id=newest.report_id, position=1000 + n, measured_at=past - timedelta(hours=32 * n),
            state="ok", unit="s", median=0.01, q1=0.0099, q3=0.0101, low=0.0098, high=0.0102, sample_count=10,
            samples=[0.01, 0.0101], conditions={},
        )
        for n in range(HISTORY_POINTS)
    )  # fmt: skip


def measured_series() -> Any:
    from stackviz.records.series.models import Series

    return Series.objects.filter(machine__slug="node-0").order_by("pk")[0]


# A result of a series each, in reports that are as many as needed; all older than the real ones.
_COLUMNS = (
    "(series_id, report_id, position, measured_at, state, reason, unit, median, q1, q3, low, high, sample_count,"
    " samples, conditions)"
)


def fill_postgres(cursor: Any, missing: int) -> None:
    count = max(1, missing // RESULTS_A_REPORT)
    cursor.execute(
        "CREATE TEMP TABLE fresh AS SELECT gen_random_uuid() AS id, n,"
        " (SELECT array_agg(id ORDER BY id) FROM labs_machine) AS machines,"
        " now() - interval '1 day' - random() * interval '%s days' AS at FROM generate_series(1, %s) n",
        [30 * MONTHS, count],
    )
    cursor.execute(
        "INSERT INTO labs_report (id, machine_id, received_at, status, body, encoding, tries, error, warnings,"
        " unknown_fields, read_at) SELECT id, machines[1 + n %% array_length(machines, 1)], at, 'read', '', '', 0, '',"
        " '[]', '[]', at FROM fresh",
        [],
    )
    cursor.execute(
        f"INSERT INTO benchmarks_result {_COLUMNS}"
        " SELECT s.id, r.id, row_number() OVER (PARTITION BY r.id), r.at, 'ok', '', 's', m, m * 0.99, m * 1.01,"
        " m * 0.98, m * 1.02, 10, jsonb_build_array(m, m * 1.01), '{}' FROM fresh r"
        " JOIN benchmarks_series s ON s.machine_id = r.machines[1 + r.n % array_length(r.machines, 1)],"
        " LATERAL (SELECT 0.01 + random() * 0.001 AS m WHERE s.id > 0) AS drawn"
    )
    cursor.execute("DROP TABLE fresh")


def fill_sqlite(cursor: Any, missing: int) -> None:
    import random
    from datetime import datetime, timedelta
    from uuid import uuid4

    machines: dict[int, list[int]] = {}
    cursor.execute("SELECT machine_id, id FROM benchmarks_series")
    for machine, series in cursor.fetchall():
        machines.setdefault(machine, []).append(series)
    now = datetime(2026, 11, 1)  # noqa: DTZ001 (as SQLite keeps times)
    keys = sorted(machines)
    for start in range(0, max(1, missing // RESULTS_A_REPORT), 1000):
        made, rows = [], []
        for number in range(start, min(start + 1000, max(1, missing // RESULTS_A_REPORT))):
            machine, report = keys[number % len(keys)], uuid4().hex
            at = str(now - timedelta(days=random.random() * 30 * MONTHS))
            made.append((report, machine, at, at))
            for position, series in enumerate(machines[machine]):
                m = 0.01 + random.random() * 0.001
                rows.append((series, report, position, at, m, m * 0.99, m * 1.01, m * 0.98, m * 1.02, f"[{m}]"))
        cursor.executemany(
            "INSERT INTO labs_report (id, machine_id, received_at, status, body, encoding, tries, error, warnings,"
            " unknown_fields, read_at) VALUES (%s, %s, %s, 'read', x'', '', 0, '', '[]', '[]', %s)", made,
        )  # fmt: skip
        cursor.executemany(
            f"INSERT INTO benchmarks_result {_COLUMNS}"
            " VALUES (%s, %s, %s, %s, 'ok', '', 's', %s, %s, %s, %s, %s, 10, %s, '{}')", rows,
        )  # fmt: skip


def addresses() -> dict[str, str]:
    from django.urls import reverse

    from bench.pages import H100, M3_MAX

    return {
        "benchmarks": "/benchmarks/",
        "cited": "/benchmarks/llama-bench/",
        "measured": "/benchmarks/gemm/",
        "machine": reverse("machines:machine", args=["bench", "node-0"]),
        "series": reverse("machines:series", args=["bench", "node-0", measured_series().pk]),
        "sheet": reverse("accelerators:sheet", args=[H100]),
        "compare": f"{reverse('compare:page')}?a={H100}&a={M3_MAX}&a=machine:bench/node-0",
    }


@dataclass
class Views:
    """Requests of one page: milliseconds of each, and how many times a bare page of as many bytes took right after."""

    path: str
    bytes: int
    queries: int
    times: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        ordered = sorted(self.times)
        return {
            "p50": statistics.median(ordered),
            "p99": ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))],
            "ratio": statistics.median(self.ratios),
            "queries": self.queries,
            "bytes": self.bytes,
        }


def first_view(path: str) -> Views:
    """The page when this process has served it before, and nothing of it is in the cache."""
    from django.core.cache import cache
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    for _ in range(3):
        size = len(answer(path).content)
    cache.clear()
    with CaptureQueriesContext(connection) as captured:
        answer(path)
    return Views(path, size, len(captured))


def measure(pages: dict[str, Views], views: int) -> None:
    """In turns, so that a machine that slows down slows all of them; none is answered from the cache."""
    from django.core.cache import cache

    from bench.bare.urls import page_of

    for _ in range(views):
        for page in pages.values():
            cache.clear()
            took = milliseconds(lambda page=page: answer(page.path))
            page.times.append(took)
            page.ratios.append(took / milliseconds(lambda page=page: page_of(page.bytes)))


def milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def answer(path: str) -> Any:
    from bench.inside import response

    return response({"path": path, "form": None})


def main(wanted: int, views: int) -> dict[str, dict[str, float]]:
    seconds = fill(wanted)
    pages = {name: first_view(path) for name, path in addresses().items()}
    measure(pages, views)
    return {name: page.figures() for name, page in pages.items()} | {"fill": {"seconds": seconds}}


if __name__ == "__main__":
    django.setup()
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))))
