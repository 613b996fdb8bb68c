"""A batch that was read is read again, run by tests/postgres and by test_reread.py on their databases."""

import json

from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext

from stackviz.intake.ingest.interpret import interpret_all
from stackviz.intake.ingest.reread import put_back
from stackviz.records.labs.models import Card, Finding, Lab, Machine, Report, Snapshot
from stackviz.records.series.decide_standing import record_decision
from stackviz.records.series.models import Result, Series
from stackviz.records.series.standing import Standing
from tests.report.format.reports import report_body


def read_once(machines: int) -> list[str]:
    """Two reports of each of so many machines."""
    lab, _ = Lab.objects.get_or_create(slug="north", name="North", is_public=True)
    ids = []
    for number in range(2 * machines):
        machine, _ = Machine.objects.get_or_create(lab=lab, slug=f"m{number // 2}", name="m")
        body = report_body(created_at=f"2026-11-20T12:{number:02}:00Z")
        Report.objects.create(id=body["id"], machine=machine, body=json.dumps(body).encode())
        ids.append(body["id"])
    assert set(interpret_all(ids)) == {"read"}
    return ids


class RereadTogether:
    """Collected only where a subclass names its database."""

    def test_fifty_reports_are_read_again_in_as_many_statements_as_four(self):
        counts = []
        for machines in (2, 25):
            ids = read_once(machines)
            put_back(ids)
            with CaptureQueriesContext(connection) as captured:
                assert set(interpret_all(ids)) == {"read"}
            counts.append(len(captured))
            Report.objects.all().delete()
        assert counts[1] == counts[0]

    def test_reports_read_again_together_leave_what_one_reading_left(self):
        ids = read_once(3)
        record_decision(
            Result.objects.get(report=ids[2], position=1), Standing.WITHDRAWN, "the fan was off", AnonymousUser()
        )
        tables = {
            Snapshot: ("report", "machine", "taken_at", "agent", "facts", "absent", "software", "probes"),
            Card: ("snapshot__report", "index", "reported_name"),
            Finding: ("snapshot__report", "rule", "title"),
            Result: ("report", "position", "series", "median", "standing"),
            Machine: ("pk", "latest_snapshot", "latest_taken_at"),
            Series: ("pk", "result_count", "baseline"),
        }
        before = {table: sorted(table.objects.values_list(*columns), key=str) for table, columns in tables.items()}
        Snapshot.objects.update(agent="an older reading", facts={}, software=[])
        put_back(ids)
        assert set(interpret_all(ids)) == {"read"}
        for table, columns in tables.items():
            assert sorted(table.objects.values_list(*columns), key=str) == before[table], table.__name__
        assert set(Machine.objects.values_list("times_read", flat=True)) == {2}
