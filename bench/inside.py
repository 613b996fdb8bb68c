"""What `make bench` does inside the site's own process: `python -m bench.inside seed 100`. Each command prints JSON.

Run with the environment of one of the two sites (see `bench.places`).
"""

import json
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import django

MACHINES = 20
SAMPLES = 10
START = datetime(2026, 1, 1, tzinfo=UTC)
H100, M3_MAX = "nvidia-h100-sxm5-80gb", "apple-m3-max-40"


def body_text(number: int) -> bytes:
    """Report `number` of a run: 60 results, one of MACHINES machines, an hour after the one before."""
    from tests.wire.reports import large_report_body, sha256

    created = START + timedelta(hours=number)
    name = f"node-{number % MACHINES}"
    body = large_report_body(
        60,
        SAMPLES,
        id=str(uuid4()),
        created_at=created.isoformat().replace("+00:00", "Z"),
        machine={"identity": sha256(name), "name": name},
    )
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
    from stackviz.labs.keys import create_key
    from stackviz.labs.models import Lab

    lab, _ = Lab.objects.get_or_create(slug="bench", defaults={"name": "Bench"})
    return {"key": create_key(lab=lab, name="bench")[1]}


def seed(wanted: str, share: str = "0/1") -> dict[str, Any]:
    """Fills up to `wanted` read reports through the real reading, `share` of them (`0/2`: every other one)."""
    from stackviz.ingest.interpret import interpret
    from stackviz.labs.models import Report

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
    from stackviz.labs.models import Lab, Machine
    from tests.wire.reports import sha256

    lab, _ = Lab.objects.get_or_create(slug="bench", defaults={"name": "Bench"})
    made = []
    for number in range(MACHINES):
        name = f"node-{number}"
        machine, _ = Machine.objects.get_or_create(
            lab=lab, slug=name, defaults={"name": name, "identity": sha256(name)}
        )
        made.append(machine.pk)
    return made


def analyze() -> dict[str, Any]:
    """As a database in service would have: statistics for the planner."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return {}


# --- storing results ---


def store(rounds: str, each: str) -> dict[str, Any]:
    """Reports a second: the real reading against a bulk insert of the very rows it made, in turns."""
    from stackviz.ingest.interpret import interpret

    ours, bare = [], []
    for turn in range(int(rounds)):
        ids = waiting_reports(int(each), turn)
        started = time.perf_counter()
        for report_id in ids:
            interpret(report_id)
        ours.append(len(ids) / (time.perf_counter() - started))
        bare.append(bulk_insert_again(ids))
    return {"ours": ours, "bare": bare}


def waiting_reports(count: int, turn: int) -> list[str]:
    from stackviz.labs.models import Report

    machines = machine_ids()
    bodies = [body_text(100_000 + turn * count + number) for number in range(count)]
    rows = [
        Report(id=json.loads(body)["id"], machine_id=machines[number % MACHINES], body=body)
        for number, body in enumerate(bodies)
    ]
    Report.objects.bulk_create(rows)
    return [str(row.pk) for row in rows]


def bulk_insert_again(report_ids: list[str]) -> float:
    """The rows those reports became, written once more: bulk_create, a transaction a report, tables of the same columns
    and indexes. The objects are made beforehand, and nothing is parsed, matched or judged."""
    from django.db import transaction

    from stackviz.benchmarks.models import Result
    from stackviz.labs.models import Card, Finding, Snapshot

    copies = {model: copy_of(model) for model in (Snapshot, Card, Finding, Result)}
    batches: list[list[tuple[Any, list[Any]]]] = []
    for report_id in report_ids:
        snapshot = Snapshot.objects.get(report_id=report_id)
        rows = {
            Snapshot: [snapshot],
            Card: list(snapshot.cards.all()),
            Finding: list(snapshot.findings.all()),
            Result: list(Result.objects.filter(report_id=report_id)),
        }
        batches.append([(copies[model], [twin(copies[model], row) for row in found]) for model, found in rows.items()])
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


# --- pages ---


def pages() -> dict[str, Any]:
    """The pages that are measured, their queries when asked first and again, and the other files they load."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(SERVER_NAME="127.0.0.1")
    found = {}
    for name, paths in addresses().items():
        counts = []
        for _ in range(2):
            with CaptureQueriesContext(connection) as captured:
                answer = client.get(paths[0])
            if answer.status_code != 200:
                raise RuntimeError(f"{paths[0]} answered {answer.status_code}")
            counts.append(len(captured))
        found[name] = {"paths": paths, "queries": counts}
    return found


def addresses() -> dict[str, list[str]]:
    """Pages of each kind, the one that is looked at closely first; the others to be asked for the first time."""
    from django.urls import reverse

    from stackviz.catalog.models import Accelerator
    from stackviz.labs.models import Machine

    public = Accelerator.objects.filter(is_public=True)
    others = list(public.filter(vendor__slug="nvidia").order_by("slug").values_list("slug", flat=True)[:MACHINES])
    machines = Machine.objects.filter(lab__slug="bench").order_by("pk").values_list("slug", flat=True)[:MACHINES]
    compare, machine = reverse("compare:page"), "machines:machine"
    trios = [(H100, M3_MAX, machines[0]), *zip(others[1:], others, machines[1:], strict=False)]
    return {
        "compare": [f"{compare}?a={one}&a={other}&a=machine:bench/{name}" for one, other, name in trios],
        "machine": [reverse(machine, args=["bench", name]) for name in machines],
        "accelerator": [reverse("catalog:sheet", args=[slug]) for slug in dict.fromkeys([H100, *others])],
    }


COMMANDS: dict[str, Callable[..., dict[str, Any]]] = {
    "tables": tables, "key": key, "seed": seed, "analyze": analyze, "store": store, "pages": pages,
}  # fmt: skip

if __name__ == "__main__":
    django.setup()
    print(json.dumps(COMMANDS[sys.argv[1]](*sys.argv[2:])))
