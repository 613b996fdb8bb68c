"""What `make bench` does inside the site's own process: `python -m bench.inside seed 100`. Each command prints JSON.

Run with the environment of one of the two sites (see `bench.places`).
"""

import json
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import uuid4

import django

MACHINES = 20
SAMPLES = 10
START = datetime(2026, 1, 1, tzinfo=UTC)
WARM_UP = 4  # pages of a kind that are requested before any is timed


def body_text(number: int) -> bytes:
    """Report `number` of a run: 60 results, one of MACHINES machines, an hour after the one before."""
    from tests.report.format.reports import large_report_body, sha256

    created = START + timedelta(hours=number)
    name = f"node-{number % MACHINES}"
    body = large_report_body(
        60,
        SAMPLES,
        id=str(uuid4()),
        created_at=created.isoformat().replace("+00:00", "Z"),
        machine={"identity": sha256(name), "name": name},
    )
    # No two machines are drawn alike, or a kept drawing of one would serve the others.
    driver = f"580.65.{10 + number % MACHINES}"
    body["facts"] |= {"nvidia.driver_version": driver}
    for software in body["software"]:
        if software["component"] == "nvidia-driver":
            software["version"] = driver
    for result in body["results"]:
        result["started_at"] = body["created_at"]
    return json.dumps(body).encode()


def tables() -> dict[str, Any]:
    """The yardstick's own table, where the site's are already."""
    from django.db import connection

    from bench.bare.models import BareReport

    if BareReport._meta.db_table not in connection.introspection.table_names():
        with connection.schema_editor() as editor:
            editor.create_model(BareReport)
    return {}


def key() -> dict[str, Any]:
    from stackviz.records.labs.keys import create_key
    from stackviz.records.labs.models import Lab

    lab, _ = Lab.objects.get_or_create(slug="bench", defaults={"name": "Bench", "is_public": True})
    return {"key": create_key(lab=lab, name="bench")[1]}


def seed(wanted: str, share: str = "0/1") -> dict[str, Any]:
    """Fills up to `wanted` read reports through the real reading, `share` of them (`0/2`: every other one)."""
    from stackviz.intake.ingest.interpret import interpret
    from stackviz.records.labs.models import Report

    sync_later()
    first, step = map(int, share.split("/"))
    there = int(os.environ.get("BENCH_THERE", "0"))
    numbers = range(there + first, int(wanted), step)
    machines = machine_ids()
    for number in numbers:
        body = body_text(number)
        report = Report(id=json.loads(body)["id"], machine_id=machines[number % MACHINES], body=body)
        report.save(force_insert=True)
        status = interpret(str(report.pk))
        if status != "read":
            report.refresh_from_db()
            raise RuntimeError(f"a seeded report became {status}: {report.error}")
    return {"seeded": len(numbers)}


def sync_later() -> None:
    """Filling is not measured: SQLite need not wait for the disk after each report."""
    from django.db import connection

    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA synchronous=OFF")


def machine_ids() -> list[int]:
    from stackviz.records.labs.models import Lab, Machine
    from tests.report.format.reports import sha256

    lab, _ = Lab.objects.get_or_create(slug="bench", defaults={"name": "Bench", "is_public": True})
    made = []
    for number in range(MACHINES):
        name = f"node-{number}"
        machine, _ = Machine.objects.get_or_create(
            lab=lab, slug=name, defaults={"name": name, "identity": sha256(name)}
        )
        made.append(machine.pk)
    return made


def analyze() -> dict[str, Any]:
    """As a database in service would have: statistics for the planner, what was filled in put away."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
        if connection.vendor == "postgresql":  # or autovacuum and the next checkpoint work beside what is measured
            cursor.execute("CHECKPOINT")
    return {}


# --- storing results ---


def store(rounds: str, each: str) -> dict[str, Any]:
    """Reports a second: the real reading, in batches and one by one, against a bulk insert of the very rows it made, a
    transaction for each report and one for each batch; in turns."""
    from stackviz.intake.ingest.interpret import REPORTS_TOGETHER, interpret_all
    from stackviz.intake.ingest.tasks import REPORTS_PER_MESSAGE

    speeds: dict[str, list[float]] = {name: [] for name in ("ours", "ours alone", "bare", "bare batched")}
    count = int(each)
    for turn in range(int(rounds)):
        ids = waiting_reports(2 * count, turn)
        together, alone = ids[:count], ids[count:]
        speeds["ours"].append(per_second(together, REPORTS_PER_MESSAGE, interpret_all))
        speeds["ours alone"].append(per_second(alone, 1, interpret_all))
        speeds["bare"].append(bulk_insert_again(together, 1))
        speeds["bare batched"].append(bulk_insert_again(together, REPORTS_TOGETHER))
    return speeds


def per_second(ids: list[str], at_once: int, read: Callable[[list[str]], list[str]]) -> float:
    started = time.perf_counter()
    for start in range(0, len(ids), at_once):
        if set(read(ids[start : start + at_once])) != {"read"}:
            raise RuntimeError("a report could not be read")
    return len(ids) / (time.perf_counter() - started)


def waiting_reports(count: int, turn: int) -> list[str]:
    from stackviz.records.labs.models import Report

    machines = machine_ids()
    bodies = [body_text(100_000 + turn * count + number) for number in range(count)]
    rows = [
        Report(id=json.loads(body)["id"], machine_id=machines[number % MACHINES], body=body)
        for number, body in enumerate(bodies)
    ]
    Report.objects.bulk_create(rows)
    return [str(row.pk) for row in rows]


def bulk_insert_again(report_ids: list[str], at_once: int) -> float:
    """The rows those reports became, written once more: bulk_create, a transaction for every `at_once` reports, tables
    of the same columns and indexes. The objects are made beforehand, and nothing is parsed, matched or judged."""
    from django.db import connection, transaction

    from stackviz.records.labs.models import Card, Finding, Snapshot
    from stackviz.records.series.models import Result

    copies = {model: copy_of(model) for model in (Snapshot, Card, Finding, Result)}
    batches: list[list[tuple[Any, list[Any]]]] = []
    for start in range(0, len(report_ids), at_once):
        ids = report_ids[start : start + at_once]
        rows = {
            Snapshot: list(Snapshot.objects.filter(report__in=ids)),
            Card: list(Card.objects.filter(snapshot__report__in=ids)),
            Finding: list(Finding.objects.filter(snapshot__report__in=ids)),
            Result: list(Result.objects.filter(report__in=ids)),
        }
        batches.append([(copies[model], [twin(copies[model], row) for row in group]) for model, group in rows.items()])
    with connection.cursor() as cursor:  # the unique indexes would refuse them twice
        for copy in copies.values():
            cursor.execute(f"DELETE FROM {copy._meta.db_table}")
    started = time.perf_counter()
    for batch in batches:
        with transaction.atomic():
            for copy, rows_of_it in batch:
                copy.objects.bulk_create(rows_of_it)
    return len(report_ids) / (time.perf_counter() - started)


def twin(copy: Any, row: Any) -> Any:
    return copy(
        **{field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields if not field.primary_key}
    )


_copies: dict[Any, Any] = {}


def copy_of(model: Any) -> Any:
    """A model over a fresh table with the same columns, indexes and constraints, empty."""
    from django.db import connection, models

    if model in _copies:
        return _copies[model]
    table = model._meta.db_table
    copy_table = f"bench_{table}"
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {copy_table}")
        if connection.vendor == "postgresql":
            cursor.execute(f"CREATE TABLE {copy_table} (LIKE {table} INCLUDING ALL)")
            for key in foreign_keys(cursor, table):  # which LIKE leaves out
                cursor.execute(f"ALTER TABLE {copy_table} ADD {key}")
        else:
            cursor.execute("SELECT sql, name FROM sqlite_master WHERE tbl_name = %s AND sql IS NOT NULL", [table])
            for sql, name in cursor.fetchall():
                new = sql.replace(f'"{table}"', f'"{copy_table}"', 1)
                if name != table:
                    new = sql.replace(f'"{name}"', f'"bench_{name}"').replace(f'ON "{table}"', f'ON "{copy_table}"')
                cursor.execute(new)
    fields: dict[str, Any] = {}
    for field in model._meta.concrete_fields:
        if isinstance(field, models.ForeignKey):
            kind = models.UUIDField if isinstance(field.target_field, models.UUIDField) else models.BigIntegerField
            fields[field.attname] = kind(null=field.null, db_column=field.column)
        else:
            fields[field.attname] = field.clone()
    meta = type("Meta", (), {"app_label": "labs", "db_table": copy_table, "managed": False})
    made = type(f"Bench{model.__name__}", (models.Model,), {**fields, "Meta": meta, "__module__": __name__})
    _copies[model] = made
    return made


def foreign_keys(cursor: Any, table: str) -> list[str]:
    """Those of a table, as PostgreSQL writes them."""
    cursor.execute(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'f'", [table]
    )
    return [definition for (definition,) in cursor.fetchall()]


# --- pages ---


def pages() -> dict[str, Any]:
    """The pages that are measured, and the queries of each when it is requested first and again."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from bench import pages

    figures = {}
    for name, requests in pages.pages().items():
        counts = []
        for _ in range(2):
            with CaptureQueriesContext(connection) as captured:
                response(requests[0])
            counts.append(len(captured))
        figures[name] = {"requests": requests, "queries": counts}
    return figures


@lru_cache(maxsize=1)
def site() -> Any:
    """The site without a server: one client, for each loads the middleware."""
    from django.test import Client

    return Client(SERVER_NAME="127.0.0.1")


def response(request: dict[str, Any]) -> Any:
    """The site's answer. Raises RuntimeError unless it is 200."""
    client = site()
    path, form = request["path"], request["form"]
    answer = client.get(path) if form is None else client.post(path, form)
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answered {answer.status_code}")
    return answer


def profile(name: str, lines: str = "45") -> dict[str, Any]:
    """Prints where the processor's time goes in cold pages of one kind; their median cost beside a bare page's."""
    import cProfile
    import pstats
    import statistics

    from bench import pages

    requests = pages.pages()[name]
    for request in requests[:WARM_UP]:
        response(request)
    profiler = cProfile.Profile(time.process_time)
    ratios, milliseconds, sizes = [], [], []
    timed, profiled = requests[WARM_UP::2], requests[WARM_UP + 1 :: 2]  # a profiled request is slower
    for request in timed:
        started = time.process_time()
        size = len(response(request).content)
        took = (time.process_time() - started) * 1000
        sizes.append(size)
        milliseconds.append(took)
        ratios.append(took / bare_milliseconds(size))
    for request in profiled:
        profiler.runcall(response, request)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(int(lines))
    pstats.Stats(profiler).sort_stats("cumulative").print_stats("stackviz", int(lines))
    return {
        "profiled": name,
        "milliseconds": round(statistics.median(milliseconds), 1),
        "bytes": statistics.median(sizes),
        "ratio": round(statistics.median(ratios), 2),
    }


def bare_milliseconds(size: int) -> float:
    """What a bare page of so many bytes takes in this process."""
    from bench.bare.urls import page_of

    times = []
    for _ in range(5):
        started = time.process_time()
        page_of(size)
        times.append((time.process_time() - started) * 1000)
    return sorted(times)[2]


COMMANDS: dict[str, Callable[..., dict[str, Any]]] = {
    "tables": tables, "key": key, "seed": seed, "analyze": analyze, "store": store, "pages": pages,
    "profile": profile,
}  # fmt: skip

if __name__ == "__main__":
    django.setup()
    print(json.dumps(COMMANDS[sys.argv[1]](*sys.argv[2:])))
