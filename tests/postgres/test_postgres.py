"""What only PostgreSQL can refuse, or plan badly."""

import json
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import pytest
from django.db import connection
from django.utils import timezone

from stackviz.intake.ingest import store
from stackviz.intake.ingest.interpret import interpret
from stackviz.records.labs.models import Lab, Machine, Report
from stackviz.records.series.models import Result, Series
from stackviz.records.series.queries import latest_results
from stackviz.records.series.rollup import refresh
from tests.intake.ingest.races import new_lab, post
from tests.report.format.reports import apple_report_body, gemm_result, h100_card, report_body

SERIES = 60


@pytest.fixture
def machine() -> Machine:
    lab = Lab.objects.create(slug="north", name="North", is_public=True)
    return Machine.objects.create(lab=lab, slug="m", name="m")


@pytest.mark.parametrize("make", [pytest.param(report_body, marks=pytest.mark.fast), apple_report_body])
def test_a_report_goes_all_the_way(make):
    _, secret = new_lab()
    body = make()
    assert [post(secret, body), post(secret, body)] == [202, 200]
    assert interpret(body["id"]) == "read"
    report = Report.objects.select_related("snapshot").get()
    assert report.snapshot.facts == body["facts"]
    samples = [result.samples for result in Result.objects.order_by("position")]
    assert samples == [result["samples"] for result in body["results"]]
    assert Result.objects.first().conditions == body["results"][0]["conditions"]


TEXTS = ("\N{GRINNING FACE}", "a\tb\nc\\d\\N", "\u2028", "'; DROP TABLE labs_report; --", "{\\x00}")
NUMBERS = (2**63 - 1, -(2**63) + 1, 1e300, 5e-324)


def of_text(text: str) -> dict:
    failed = {"state": "failed", "reason": text, "samples": []}
    return {
        "machine": {"identity": "0" * 64, "name": text},
        "facts": {"os.name": text, text: text},
        "cards": [h100_card(reported_name=text)],
        "results": [gemm_result(device=text, params={text: text}, conditions={text: text}, **failed)],
    }


def of_number(number: float) -> dict:
    whole = number if isinstance(number, int) and number > 0 else 1
    return {
        "cards": [h100_card(index=whole, memory_bytes=whole)],
        "facts": {"lab.number": number},
        "results": [gemm_result(card=whole, version=whole, params={"n": number}, samples=[abs(number)] * 6)],
    }


@pytest.mark.parametrize(
    "changes",
    [
        *map(of_text, TEXTS),
        *map(of_number, NUMBERS),
        *({"created_at": f"{day}T00:00:00Z"} for day in ("0001-01-02", "9999-12-30")),
    ],
)
def test_any_text_number_and_time_of_the_format_can_be_kept(changes):
    _, secret = new_lab()
    body = report_body(**changes)
    assert post(secret, body) == 202
    assert interpret(body["id"]) == "read", Report.objects.get().error
    assert Result.objects.order_by("position").first().conditions == body["results"][0]["conditions"]


def fill(machine: Machine, reports: int) -> None:
    """`reports` reports of SERIES results each, made by the database itself."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO labs_report (id, machine_id, received_at, status, body, encoding, tries, error, warnings,"
            " unknown_fields, read_at) SELECT gen_random_uuid(), %s, now() - n * interval '1 hour', 'read', '', '', 0, '',"
            " '[]', '[]', now() FROM generate_series(1, %s) n",
            [machine.pk, reports],
        )
        cursor.execute(
            "INSERT INTO benchmarks_result (series_id, report_id, position, measured_at, state, reason, unit, median,"
            " sample_count, samples, conditions) SELECT s.id, r.id, row_number() OVER (PARTITION BY r.id), r.received_at,"
            " 'ok', '', 's', 0.1, 1, '[0.1]', '{}' FROM benchmarks_series s CROSS JOIN labs_report r"
            " WHERE NOT EXISTS (SELECT 1 FROM benchmarks_result x WHERE x.report_id = r.id)"
        )
        cursor.execute("ANALYZE")
    refresh((), dict.fromkeys(Series.objects.values_list("pk", flat=True), reports))


def blocks_read(machine: Machine) -> int:
    """Pages of the database that `latest_results` touches, as PostgreSQL itself counts them."""
    touched = 0

    def explain(execute, sql, params, many, context):
        nonlocal touched
        if sql.startswith("SELECT"):
            (plan,) = (
                connection.cursor()
                .connection.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql}", params)
                .fetchone()
            )
            touched += plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"]
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        assert len(latest_results([machine])[machine.pk]) == SERIES
    return touched


def test_newest_results_cost_is_constant(machine):
    for number in range(SERIES):
        Series.objects.create(machine=machine, benchmark="gemm", version=1, device="cpu", params_key=f"{number:064}")
    fill(machine, 50)
    few = blocks_read(machine)
    fill(machine, 950)
    many = blocks_read(machine)
    assert Result.objects.count() == 60_000
    assert many <= few * 1.5, (few, many)


def test_looking_for_waiting_reports_reads_only_those(machine):
    old = datetime(2026, 1, 1, tzinfo=UTC)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO labs_report (id, machine_id, received_at, status, body, encoding, tries, error, warnings,"
            " unknown_fields, read_at) SELECT gen_random_uuid(), %s, %s, 'read', '', '', 0, '', '[]', '[]', now()"
            " FROM generate_series(1, 20000)",
            [machine.pk, old],
        )
        cursor.execute("ANALYZE labs_report")
    waiting = Report.objects.filter(status="received", queued_at__lte=timezone.now() - timedelta(minutes=1))
    assert "report_waiting" in waiting.order_by("queued_at").explain()


def test_half_a_reading_leaves_nothing_behind(machine, monkeypatch):
    body = report_body()
    Report.objects.create(id=body["id"], machine=machine, body=json.dumps(body).encode())
    monkeypatch.setattr(store, "_point_at", Mock(side_effect=RuntimeError("lost power here")))
    assert interpret(body["id"]) == "failed"
    assert (Result.objects.count(), Series.objects.count()) == (0, 0)
