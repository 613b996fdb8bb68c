"""Reports that wait together are stored together, and each fails alone."""

import gc
import json

import pytest
from django.utils import timezone

from stackviz.intake.ingest import interpret as interpret_module
from stackviz.intake.ingest import store as store_module
from stackviz.intake.ingest.interpret import interpret, interpret_all
from stackviz.intake.ingest.reread import put_back
from stackviz.records.labs.models import Machine, Report, Snapshot
from stackviz.records.series.models import Result, Series
from tests.report.format.reports import gemm_result, large_report_body, report_body


@pytest.fixture
def waiting(lab):
    """Stores reports of two machines in turn, an hour between them."""
    machines = [Machine.objects.create(lab=lab, slug=slug, name=slug) for slug in ("a", "b")]

    def store(count, **changes) -> list[str]:
        ids = []
        for number in range(count):
            body = report_body(created_at=f"2026-11-20T{number % 24:02}:00:00Z", **changes)
            Report.objects.create(id=body["id"], machine=machines[number % 2], body=json.dumps(body).encode())
            ids.append(body["id"])
        return ids

    return store


@pytest.fixture
def together(monkeypatch) -> list[list[str]]:
    """The reports that were stored together, as they were."""
    loads: list[list[str]] = []
    store = interpret_module.store_reports

    def note(readings):
        loads.append([str(report.pk) for report, _ in readings])
        store(readings)

    monkeypatch.setattr(interpret_module, "store_reports", note)
    return loads


def test_each_status_stands_where_its_report_was_named(waiting):
    first, second = waiting(2)
    Report.objects.filter(pk=second).update(body=b"{}")
    assert interpret_all([second, "00000000-0000-4000-8000-000000000000", first]) == ["failed", "gone", "read"]


def test_what_another_worker_finished_meanwhile_is_said_as_it_is(waiting, monkeypatch):
    ids = waiting(2)
    loads = interpret_module._loads

    def overtaken(reports, most):
        monkeypatch.setattr(interpret_module, "_loads", loads)
        interpret_all(ids[:1])
        return loads(reports, most)

    monkeypatch.setattr(interpret_module, "_loads", overtaken)
    assert interpret_all(ids) == ["read"] * 2


def test_a_machine_points_at_the_newest_of_a_batch(waiting):
    ids = waiting(6)
    interpret_all(list(reversed(ids[1:])))
    interpret(ids[0])  # one that comes late is counted and changes no newest
    machines = Machine.objects.order_by("slug")
    assert [str(machine.latest_snapshot.report_id) for machine in machines] == ids[4:]
    assert [machine.times_read for machine in machines] == [2, 1]


def test_results_of_each_report_are_its_own(waiting):
    ids = waiting(3, results=[gemm_result(samples=[1.0]), gemm_result(samples=[2.0], params={"dtype": "fp64"})])
    interpret_all(ids)
    rows = Result.objects.order_by("report", "position").values_list("report__machine__slug", "position", "median")
    assert sorted(rows) == [("a", 0, 1.0), ("a", 0, 1.0), ("a", 1, 2.0), ("a", 1, 2.0), ("b", 0, 1.0), ("b", 1, 2.0)]
    assert Series.objects.count() == 4
    assert all(result.series.machine == result.report.machine for result in Result.objects.all())


def test_a_batch_of_new_and_reread_reports(waiting):
    ids = waiting(4)
    interpret_all(ids[:2])
    put_back(ids[:1])
    assert interpret_all(ids) == ["read"] * 4
    assert (Snapshot.objects.count(), Result.objects.count()) == (4, 8)


def test_what_the_database_refuses_fails_alone(waiting, monkeypatch, caplog):
    ids = waiting(7)
    odd = report_body(id=ids[4], results=[gemm_result(device="cuda:9")])
    Report.objects.filter(pk=ids[4]).update(body=json.dumps(odd).encode())
    figures = store_module._figures

    def poisoned(result):
        values = figures(result)  # no such state: a constraint of the table
        return (values[0], "odd", *values[2:]) if result.reported.device == "cuda:9" else values

    monkeypatch.setattr(store_module, "_figures", poisoned)
    assert interpret_all(ids) == ["read"] * 4 + ["failed"] + ["read"] * 2
    assert Report.objects.get(status="failed").error == "internal error: IntegrityError"
    assert Result.objects.filter(report_id=ids[4]).count() == 0
    assert Result.objects.count() == 12
    assert caplog.text.count("could not be read") == 1


def test_a_report_that_was_begun_before_is_read_last_and_alone(waiting, together):
    ids = waiting(3)
    Report.objects.filter(pk=ids[0]).update(tries=1, queued_at=timezone.now())
    assert interpret_all(ids) == ["read"] * 3
    assert [set(load) for load in together] == [set(ids[1:]), {ids[0]}]


def test_no_more_than_so_much_text_is_held_at_once(waiting, together, monkeypatch):
    ids = waiting(5)
    monkeypatch.setattr(interpret_module, "BYTES_TOGETHER", 3 * len(bytes(Report.objects.first().body)) - 1)
    assert interpret_all(ids) == ["read"] * 5
    assert list(map(len, together)) == [2, 2, 1]


def test_a_batch_takes_as_many_statements_as_a_report(waiting, django_assert_max_num_queries):
    big = large_report_body(60, 5)["results"]
    interpret_all(waiting(2, results=big))
    ids = waiting(20, results=big)
    with django_assert_max_num_queries(15 + 20):  # on SQLite one more for the snapshot of each
        interpret_all(ids)
    assert interpret(ids[0]) == "read"


def test_the_collector_rests_only_while_reports_are_read(waiting, monkeypatch):
    states = []
    monkeypatch.setattr(interpret_module, "store_reports", lambda _readings: states.append(gc.isenabled()))
    interpret_all(waiting(2))
    assert (states, gc.isenabled()) == ([False], True)
    gc.disable()
    try:
        interpret_all(waiting(2))
        assert not gc.isenabled()
    finally:
        gc.enable()
