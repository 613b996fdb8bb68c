"""Queueing never makes the sender wait, and what is not delivered is queued again later."""

import threading
import time
from datetime import timedelta
from types import SimpleNamespace
from uuid import UUID

import pytest
from celery import current_app
from django.utils import timezone

from stackviz.intake.ingest import tasks
from stackviz.intake.ingest.tasks import REPORTS_PER_MESSAGE, ReportQueue
from stackviz.records.labs.models import Machine, Report
from stackviz.web.http import circuit_breaker
from stackviz.web.http.circuit_breaker import Breaker
from tests.report.format.reports import report_body


@pytest.fixture
def messages(monkeypatch) -> list[list[str]]:
    """What reached the broker."""
    sent: list[list[str]] = []
    monkeypatch.setattr(tasks.read_report, "delay", lambda *report_ids: sent.append(list(report_ids)))
    return sent


def wait_until(is_so, patience_s=60.0):
    deadline = time.monotonic() + patience_s
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert is_so()


def test_reports_queued_together_travel_in_few_messages():
    messages: list[list[str]] = []
    report_queue = ReportQueue(messages.append)
    names = [str(number) for number in range(REPORTS_PER_MESSAGE * 3)]
    for name in names:
        report_queue.put(name)
    wait_until(lambda: sum(map(len, messages)) == len(names))
    assert [name for message in messages for name in message] == names
    assert max(map(len, messages)) <= REPORTS_PER_MESSAGE
    assert len(messages) < len(names) / 2


def test_a_broker_that_hangs_does_not_hold_up_the_sender():
    is_back = threading.Event()
    report_queue = ReportQueue(lambda _: is_back.wait(60))
    started = time.perf_counter()
    for number in range(100):
        report_queue.put(str(number))
    assert time.perf_counter() - started < 30
    is_back.set()


def test_after_a_failure_the_broker_is_left_in_peace():
    tried: list[list[str]] = []

    def fail(report_ids):
        tried.append(report_ids)
        raise ConnectionRefusedError("no broker")

    report_queue = ReportQueue(fail)
    report_queue.put("first")
    wait_until(lambda: report_queue.breaker.is_open)
    report_queue.put("second")
    time.sleep(0.05)
    assert tried == [["first"]]


def test_a_breaker_closes_after_its_rest(monkeypatch):
    breaker = Breaker(rest_s=20.0)
    moments = iter([1000.0, 1019.9, 1020.1])
    monkeypatch.setattr(circuit_breaker, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    breaker.trip()
    assert breaker.is_open
    assert not breaker.is_open


def test_what_waits_is_published_when_the_process_ends(monkeypatch):
    messages: list[list[str]] = []
    report_queue = ReportQueue(messages.append)
    monkeypatch.setattr(report_queue, "_start", lambda: None)
    report_queue.put("one")
    report_queue.put("two")
    report_queue.flush()
    assert messages == [["one", "two"]]


def test_with_eager_tasks_the_report_is_read_at_once(messages):
    current_app.conf.task_always_eager = True
    try:
        tasks.enqueue("now")
    finally:
        current_app.conf.task_always_eager = False
    assert messages == [["now"]]


# --- the periodic task ---


@pytest.fixture
def waiting(lab):
    machine = Machine.objects.create(lab=lab, slug="m", name="m")

    def make(**fields) -> str:
        body = report_body()
        fields = {"status": "received", "received_at": timezone.now(), **fields}
        Report.objects.create(id=body["id"], machine=machine, body=b"{}", **fields)
        return body["id"]

    return make


def test_unread_reports_are_queued_again(waiting, messages, settings):
    long_ago = timezone.now() - timedelta(seconds=settings.REQUEUE_AFTER_S + 1)
    forgotten = waiting(queued_at=long_ago)
    never_queued = waiting(queued_at=None)
    waiting(queued_at=timezone.now())
    waiting(queued_at=long_ago, status="read", read_at=long_ago)
    assert tasks.requeue_waiting_reports() == "2 queued"
    assert messages == [[never_queued, forgotten]]
    assert tasks.requeue_waiting_reports() == "0 queued"  # they are left alone for a while


def test_a_clock_that_was_set_back_lets_no_report_wait(waiting, messages, settings):
    in_an_hour = timezone.now() + timedelta(hours=1)
    requeued, put_off = waiting(queued_at=in_an_hour), waiting(retry_at=in_an_hour, fault="disk-full", faults=1)
    waiting(queued_at=timezone.now() + timedelta(seconds=5))  # by another machine, whose clock is a little ahead
    assert tasks.requeue_waiting_reports() == "2 queued"
    assert messages == [[put_off, requeued]]
    assert tasks.requeue_waiting_reports() == "0 queued"


def test_a_report_begun_before_gets_a_message_of_its_own(waiting, messages):
    begun, other = waiting(queued_at=None, tries=1), waiting(queued_at=None)
    tasks.requeue_waiting_reports()
    assert sorted(messages) == sorted([[begun], [other]])


def test_broker_failure_midway_leaves_rest_for_later(waiting, monkeypatch):
    def fail(*_report_ids):
        raise ConnectionRefusedError

    waiting(queued_at=None)
    monkeypatch.setattr(tasks.read_report, "delay", fail)
    with pytest.raises(ConnectionRefusedError):
        tasks.requeue_waiting_reports()
    assert Report.objects.get().queued_at is not None


def test_looking_for_waiting_reports_uses_their_index(db):
    plan = Report.objects.filter(status="received", queued_at__lte=timezone.now()).order_by("queued_at").explain()
    assert "report_waiting" in plan


def test_the_task_reads_each_report_it_is_queued(waiting):
    reports = [waiting(), waiting(status="read", read_at=timezone.now())]
    assert tasks.read_report(*reports, str(UUID(int=0))) == "failed read gone"


def test_the_periodic_task_has_the_name_the_schedule_uses(settings):
    current_app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert tasks.requeue_waiting_reports.name in scheduled
    assert scheduled <= current_app.tasks.keys()
