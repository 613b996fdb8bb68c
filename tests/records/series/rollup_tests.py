"""What series keep of their results, run by tests/postgres and by test_rollup.py on their databases."""

import json
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from stackviz.intake.ingest.interpret import interpret_all
from stackviz.intake.ingest.reread import put_back
from stackviz.records.labs.delete_reports import forget_reports
from stackviz.records.labs.models import Lab, Machine, Report
from stackviz.records.series import delete_results
from stackviz.records.series.decide_standing import record_decision
from stackviz.records.series.models import Result, Series
from stackviz.records.series.queries import comparable_runs
from stackviz.records.series.rollup import BASELINE_RUNS, stale_series
from stackviz.records.series.standing import Standing
from tests.report.format.reports import gemm_result, report_body


def stored(machine: Machine, day: int, seconds: float, **changes) -> str:
    """A waiting report of one run that day, its samples around these seconds."""
    changes.setdefault("samples", [seconds * share for share in (0.98, 0.99, 1.0, 1.0, 1.01, 1.02)])
    at = f"2026-10-{day:02}T12:00:00Z"
    result = gemm_result(**{"started_at": at, **changes})
    body = report_body(created_at=at, results=[result])
    Report.objects.create(id=body["id"], machine=machine, body=json.dumps(body).encode())
    return body["id"]


def new_machine() -> Machine:
    lab, _made = Lab.objects.get_or_create(slug="north", defaults={"name": "North", "is_public": True})
    return Machine.objects.create(lab=lab, slug="m", name="m")


def nothing_differs() -> bool:
    return not any(stale_series())


def time(day: int) -> datetime:
    return datetime(2026, 10, day, 12, tzinfo=UTC)


class RollUps:
    """Collected only where a subclass names its database."""

    def test_out_of_order_reports_leave_the_newest_as_latest(self):
        machine = new_machine()
        ids = [stored(machine, day, seconds) for day, seconds in ((5, 0.5), (9, 0.9), (7, 0.7))]
        interpret_all(ids[:2])
        interpret_all(ids[2:])
        series = Series.objects.get()
        newest = Result.objects.get(report_id=ids[1])
        assert (series.latest_result, series.latest_at, series.result_count) == (newest.pk, time(9), 3)
        assert (series.baseline, series.baseline_runs) == (pytest.approx(0.7), 3)
        assert series.baseline_spread == pytest.approx(0.2)
        assert nothing_differs()

    def test_only_the_newest_runs_make_the_baseline(self):
        machine = new_machine()
        interpret_all([stored(machine, day, 100.0 if day < 3 else 1.0) for day in range(1, BASELINE_RUNS + 3)])
        series = Series.objects.get()
        assert (series.baseline, series.baseline_spread) == (pytest.approx(1.0), pytest.approx(0.0))
        assert (series.baseline_runs, series.result_count) == (BASELINE_RUNS, BASELINE_RUNS + 2)

    def test_a_failed_run_is_latest_and_in_no_baseline(self):
        machine = new_machine()
        failed = {"state": "failed", "reason": "out of memory", "samples": []}
        interpret_all([stored(machine, 1, 1.0), stored(machine, 2, 0.0, **failed)])
        series = Series.objects.get()
        assert (series.latest_at, series.baseline_runs, series.result_count) == (time(2), 1, 2)

    def test_flagged_runs_count_once_accepted(self):
        machine = new_machine()
        interpret_all([stored(machine, 1, 1.0), stored(machine, 2, 3.0, samples=[3.0])])  # one sample: flagged
        assert Series.objects.get().baseline == pytest.approx(1.0)
        record_decision(Result.objects.get(median=3.0), Standing.ACCEPTED, "seen", User.objects.create(username="a"))
        assert Series.objects.get().baseline == pytest.approx(2.0)
        assert nothing_differs()

    def test_comparable_runs_are_the_newest_that_count(self):
        machine = new_machine()
        failed = {"state": "failed", "reason": "out of memory", "samples": []}
        days = [stored(machine, day, float(day)) for day in range(1, 6)]
        interpret_all([*days, stored(machine, 6, 0.0, **failed), stored(machine, 7, 3.0, samples=[3.0])])
        other = stored(machine, 1, 9.0, params={"dtype": "x", "m": 1, "n": 1, "k": 1})
        interpret_all([other, stored(machine, 8, 4.0)])
        with CaptureQueriesContext(connection) as captured:
            runs = comparable_runs(Series.objects.values_list("pk", flat=True))
        assert [(run.params["dtype"], run.measured_at) for run in runs] == [
            ("bf16", time(8)), ("bf16", time(5)), ("bf16", time(4)), ("x", time(1)),
        ]  # fmt: skip
        assert len(captured) <= 7
        assert not any("OFFSET" in query["sql"] or "COUNT(" in query["sql"] for query in captured.captured_queries)

    def test_runs_before_many_that_do_not_count_are_not_looked_for(self):
        machine = new_machine()
        failed = {"state": "failed", "reason": "out of memory", "samples": []}
        interpret_all([stored(machine, 1, 1.0)])
        interpret_all([stored(machine, 2 + number, 0.0, **failed) for number in range(BASELINE_RUNS)])
        assert Series.objects.get().result_count == BASELINE_RUNS + 1
        assert comparable_runs(Series.objects.values_list("pk", flat=True)) == []
        assert comparable_runs([]) == []

    def test_reread_report_may_change_its_series(self):
        machine = new_machine()
        ids = [stored(machine, day, 1.0) for day in (1, 2)]
        interpret_all(ids)
        other = report_body(id=ids[1], created_at="2026-10-02T12:00:00Z", results=[gemm_result(params={"dtype": "x"})])
        Report.objects.filter(pk=ids[1]).update(body=json.dumps(other).encode())
        put_back(Report.objects.values_list("pk", flat=True))
        interpret_all(ids)
        counts = dict(Series.objects.values_list("params__dtype", "result_count"))
        assert counts == {"bf16": 1, "x": 1}
        assert Series.objects.get(params__dtype="bf16").latest_at == time(1)
        assert nothing_differs()

    def test_deleted_reports_leave_what_remains(self):
        machine = new_machine()
        ids = [stored(machine, day, float(day)) for day in (1, 2, 3)]
        interpret_all(ids)
        forget_reports(Report.objects.filter(pk__in=ids[1:]))
        series = Series.objects.get()
        assert (series.latest_at, series.result_count, series.baseline) == (time(1), 1, pytest.approx(1.0))
        forget_reports(Report.objects.filter(pk=ids[0]))
        series = Series.objects.get()
        assert (series.latest_result, series.latest_at, series.baseline, series.result_count) == (None, None, None, 0)
        assert nothing_differs()

    def test_old_results_go_and_their_reports_stay(self, monkeypatch):
        monkeypatch.setattr(delete_results, "ROWS_TOGETHER", 2)
        machine = new_machine()
        interpret_all([stored(machine, day, float(day)) for day in (1, 2, 3, 4)])
        assert delete_results.delete_results_before(time(4)) == 3
        series = Series.objects.get()
        assert (series.latest_at, series.result_count, series.baseline) == (time(4), 1, pytest.approx(4.0))
        assert Report.objects.filter(status="read").count() == 4
        assert nothing_differs()

    def test_differences_are_named_and_corrected(self):
        machine = new_machine()
        interpret_all([stored(machine, day, 1.0) for day in (1, 2)])
        series = Series.objects.get()
        Series.objects.update(result_count=7, baseline=9.0)
        out = StringIO()
        with pytest.raises(CommandError, match="1 series differ"):
            call_command("check_series", stdout=out)
        assert f"series {series.pk}: " in out.getvalue()
        call_command("check_series", "--fix", stdout=out)
        assert Series.objects.get().result_count == 2
        assert nothing_differs()
