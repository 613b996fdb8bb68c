"""Faults of the moment while reports are read, run by tests/postgres and by test_faults.py on their databases."""

import json
from datetime import timedelta

from django.utils import timezone

from stackviz.intake.ingest import tasks
from stackviz.intake.ingest.interpret import MAX_TRIES, interpret_all
from stackviz.records.labs.models import Lab, Machine, Report
from stackviz.records.series.models import Result
from tests.report.format.reports import report_body


def waiting(number: int, **fields) -> list[str]:
    lab, _ = Lab.objects.get_or_create(slug="north", name="North", is_public=True)
    machine, _ = Machine.objects.get_or_create(lab=lab, slug="m", name="m")
    bodies = [report_body() for _ in range(number)]
    for body in bodies:
        Report.objects.create(id=body["id"], machine=machine, body=json.dumps(body).encode(), **fields)
    return [body["id"] for body in bodies]


def come_due() -> None:
    """Lets the time pass after which reports that were put off are tried again, and queues them."""
    Report.objects.filter(retry_at__isnull=False).update(retry_at=timezone.now() - timedelta(seconds=1))
    tasks.requeue_waiting_reports()


def assert_read_once(ids: list[str]) -> None:
    assert set(interpret_all(ids)) == {"read"}
    assert Result.objects.count() == 2 * len(ids)
    assert set(Report.objects.values_list("status", "error", "retry_at")) == {("read", "", None)}


class FaultsOfTheMoment:
    """Collected only where a subclass names its database; it has `break_database` and `mend_database`."""

    FAULT = Report.Fault.DISK

    def test_reports_wait_and_are_read_once_it_is_over(self, messages):
        ids = waiting(3)
        self.break_database()
        earliest = timezone.now() + timedelta(seconds=7)
        assert interpret_all(ids) == ["received"] * 3
        latest = timezone.now() + timedelta(seconds=13)
        self.mend_database()
        report = Report.objects.first()
        assert (report.faults, report.fault, report.tries, report.queued_at) == (1, self.FAULT, 0, None)
        assert earliest < report.retry_at < latest
        assert tasks.requeue_waiting_reports() == "0 queued", "not before its time"
        come_due()
        assert sorted(messages[0]) == sorted(ids)
        assert_read_once(ids)

    def test_no_number_of_faults_makes_a_report_failed(self):
        ids = waiting(1)
        self.break_database()
        waits = []
        for _ in range(MAX_TRIES + 5):
            assert interpret_all(ids) == ["received"]
            waits.append((Report.objects.get().retry_at - timezone.now()).total_seconds())
            come_due()
        self.mend_database()
        assert Report.objects.get().faults == MAX_TRIES + 5
        assert waits[0] < 15
        assert 700 < waits[-1] < 1100, "later and later, and no later than that"
        assert_read_once(ids)

    def test_only_the_report_at_fault_fails_beside_it(self):
        ids = waiting(2)
        Report.objects.filter(pk=ids[0]).update(body=b'{"format": 1}')
        self.break_database()
        assert sorted(interpret_all(ids)) == ["failed", "received"]
        self.mend_database()
        come_due()
        assert sorted(interpret_all(ids)) == ["failed", "read"]
