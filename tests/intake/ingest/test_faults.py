"""A fault of the moment is never final, on SQLite: it is full, as `max_page_count` makes it. And memory, and the API."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from stackviz.intake.ingest import interpret as interpret_module
from stackviz.intake.ingest import tasks
from stackviz.intake.ingest.faults import ALERT_FROM, put_off
from stackviz.intake.ingest.interpret import MAX_TRIES, interpret, interpret_all
from stackviz.records.labs.models import Report
from tests.intake.ingest.fault_tests import FaultsOfTheMoment, assert_read_once, come_due, waiting
from tests.report.format.reports import report_body


@pytest.fixture(autouse=True)
def messages(monkeypatch) -> list[list[str]]:
    """What reached the broker."""
    sent: list[list[str]] = []
    monkeypatch.setattr(tasks.read_report, "delay", lambda *report_ids: sent.append(list(report_ids)))
    return sent


def pragma(text: str) -> int:
    with connection.cursor() as cursor:
        return cursor.execute(f"PRAGMA {text}").fetchone()[0]


@pytest.mark.django_db(transaction=True)
class TestFaultsOfTheMomentOnSqlite(FaultsOfTheMoment):
    def break_database(self):
        """A little is left: the fault itself can be noted, what reports say cannot."""
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE IF NOT EXISTS filler (x)")
        pragma(f"max_page_count = {pragma('page_count') + 50}")
        with connection.cursor() as cursor:
            cursor.execute(
                "CREATE TRIGGER IF NOT EXISTS fill AFTER INSERT ON labs_snapshot BEGIN"
                " INSERT INTO filler VALUES (zeroblob(10000000)); END"
            )

    def mend_database(self):
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER fill")
            cursor.execute("DROP TABLE filler")
        pragma("max_page_count = 1073741823")


def out_of_memory(*_):
    raise MemoryError


def test_a_report_that_met_no_memory_is_read_later(db, monkeypatch):
    ids = waiting(2)
    with monkeypatch.context() as patch:
        patch.setattr(interpret_module, "read", out_of_memory)
        assert interpret_all(ids) == ["received"] * 2
    assert set(Report.objects.values_list("fault", "faults")) == {("out-of-memory", 1)}
    assert_read_once(ids)


def test_a_report_that_kills_its_worker_is_told_apart(db, monkeypatch):
    class Killed(BaseException):
        """As SIGKILL: nothing in the process can catch it."""

    def die(*_):
        raise Killed

    now = datetime.now(UTC)
    (pk,) = waiting(1, received_at=now - timedelta(hours=1), queued_at=now)
    for attempt in range(2 * MAX_TRIES - 1):
        monkeypatch.setattr(interpret_module, "read", out_of_memory if attempt % 2 else die)
        if attempt % 2:
            assert interpret(pk) == "received"
            come_due()
            continue
        with pytest.raises(Killed):
            interpret(pk)
    assert Report.objects.get().tries == MAX_TRIES
    assert interpret(pk) == "failed"
    assert "crashed the worker 5 times" in Report.objects.get().error


def test_what_could_not_be_put_off_is_no_death_of_a_worker(db, monkeypatch):
    """The database is away also for the note: the same process begins again, so that nothing died."""
    now = datetime.now(UTC)
    (pk,) = waiting(1, received_at=now - timedelta(hours=1), queued_at=now)
    monkeypatch.setattr(interpret_module, "read", out_of_memory)
    monkeypatch.setattr(interpret_module, "put_off", out_of_memory)
    for _ in range(3 * MAX_TRIES):
        with pytest.raises(MemoryError):
            interpret(pk)
    assert Report.objects.get().tries == 1
    monkeypatch.undo()
    assert interpret(pk) == "read"


def test_each_fault_halves_how_many_are_read_together(db, caplog):
    ids = waiting(8)
    put_off(ids, Report.Fault.LOCK)
    assert [len(load) for load in interpret_module._divided(ids)] == [8]
    for faults, loads in ((4, [3, 3, 2]), (900, [1] * 8)):  # 50, 25, 12, 6, 3
        Report.objects.update(faults=faults)
        assert [len(load) for load in interpret_module._divided(ids)] == loads
    other = waiting(1)
    caplog.clear()
    for _ in range(ALERT_FROM):
        put_off(other, Report.Fault.DISK)
    levels = [record.levelname for record in caplog.records]
    assert levels == ["WARNING"] * (ALERT_FROM - 1) + ["ERROR"]  # one that lasts
    assert "disk-full" in caplog.text


def test_the_receipt_says_what_the_site_lacked(post, client):
    answer = post(report_body()).json()
    report = Report.objects.get()
    put_off([report.pk], Report.Fault.DISK)
    report.refresh_from_db()
    page = client.get(answer["receipt_url"]).content.decode()
    for text in ("a disk was full", f"{report.retry_at:%H:%M:%S} UTC", 'hx-trigger="every 10s"'):
        assert text in page
    said = client.get(answer["status_url"]).json()
    assert (said["status"], said["put_off"]["fault"], said["put_off"]["faults"]) == ("received", "disk-full", 1)
    assert datetime.fromisoformat(said["put_off"]["retry_at"]) - report.retry_at < timedelta(seconds=1)
    address = answer["receipt_url"].removeprefix("http://testserver")
    assert "磁盘已满" in client.get(f"/zh-hans{address}").content.decode()
    Report.objects.update(retry_at=timezone.now() - timedelta(minutes=1))
    assert "It is tried again now" in client.get(answer["receipt_url"]).content.decode()
    interpret(report.pk)
    assert client.get(answer["status_url"]).json()["put_off"] is None


@pytest.mark.parametrize(
    ("error", "retry_after", "says"),
    [(MemoryError(), "5", "nothing was stored"), (OSError(28, "No space left on device"), "60", "disk is full")],
)
def test_what_cannot_be_stored_is_never_accepted(post, monkeypatch, error, retry_after, says):
    def fail(**_):
        raise error

    monkeypatch.setattr(Report.objects, "create", fail)
    answer = post(report_body())
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, retry_after)
    assert says in answer.json()["error"]
    assert not Report.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_upload_to_a_full_sqlite_is_sent_again(post):
    assert post(report_body()).status_code == 202
    pragma(f"max_page_count = {pragma('page_count')}")
    try:
        answer = post(report_body(facts={"lab.long": "x" * 4_000, **{f"lab.{n}": "y" * 4_000 for n in range(40)}}))
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
    finally:
        pragma("max_page_count = 1073741823")
    assert Report.objects.count() == 1
