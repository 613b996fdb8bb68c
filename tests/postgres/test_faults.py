"""A fault of the moment is never final, on PostgreSQL: every code it may give, real locks, time-outs and a full disk."""

from contextlib import contextmanager, suppress

import psycopg
import pytest
from django.db import OperationalError, connection

from stackviz.intake.ingest import tasks
from stackviz.intake.ingest.interpret import interpret_all
from stackviz.records.labs import move_lock
from stackviz.records.labs.models import Report
from tests import servers
from tests.conftest import contextmanager_or_skip
from tests.intake.ingest.fault_tests import FaultsOfTheMoment, assert_read_once, waiting
from tests.intake.ingest.races import new_lab, post
from tests.intake.ingest.test_transient import TRANSIENT
from tests.report.format.reports import report_body


@pytest.fixture(autouse=True)
def messages(monkeypatch) -> list[list[str]]:
    """What reached the broker."""
    sent: list[list[str]] = []
    monkeypatch.setattr(tasks.read_report, "delay", lambda *report_ids: sent.append(list(report_ids)))
    return sent


def fail_with(statement: str, table: str = "labs_snapshot") -> None:
    """Lets each INSERT into the table do this first."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {statement}; RETURN NEW; END $$;"
            f"CREATE TRIGGER fail BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION fail()"
        )


def mend() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION fail CASCADE")


class TestFaultsOfTheMomentOnPostgresql(FaultsOfTheMoment):
    def break_database(self):
        fail_with("RAISE EXCEPTION 'no room' USING ERRCODE = '53100'")

    def mend_database(self):
        mend()


@pytest.mark.parametrize("state", sorted(TRANSIENT))
def test_every_fault_of_the_server_is_passed_over(state):
    ids = waiting(2)
    fail_with(f"RAISE EXCEPTION 'simulated' USING ERRCODE = '{state}'", "benchmarks_result")  # inside COPY
    assert interpret_all(ids) == ["received"] * 2
    assert set(Report.objects.values_list("fault", flat=True)) == {TRANSIENT[state]}
    mend()
    assert_read_once(ids)


@pytest.mark.parametrize("state", ["22003", "23514", "54000", "XX001"])
def test_what_a_report_may_cause_itself_is_final(state):
    ids = waiting(2)
    fail_with(f"RAISE EXCEPTION 'simulated' USING ERRCODE = '{state}'")
    assert interpret_all(ids) == ["failed"] * 2
    mend()


def test_a_connection_that_is_cut_is_made_anew():
    ids = waiting(2)
    fail_with("PERFORM pg_terminate_backend(pg_backend_pid())")
    assert interpret_all(ids) == ["received"] * 2
    assert set(Report.objects.values_list("fault", flat=True)) == {Report.Fault.DATABASE}
    mend()
    assert_read_once(ids)


@contextmanager
def locked(url: str):
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE labs_snapshot IN ACCESS EXCLUSIVE MODE")
        yield


def test_a_lock_that_is_held_too_long(on_postgres, monkeypatch):
    ids = waiting(2)
    monkeypatch.setattr(move_lock, "LONGEST_WAIT", "100ms")
    with locked(on_postgres):
        assert interpret_all(ids) == ["received"] * 2
    assert set(Report.objects.values_list("fault", flat=True)) == {Report.Fault.LOCK}
    assert_read_once(ids)


def test_a_statement_that_takes_too_long(on_postgres):
    ids = waiting(2)
    with locked(on_postgres), connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = '200ms'")
        assert interpret_all(ids) == ["received"] * 2
        cursor.execute("RESET statement_timeout")
    assert set(Report.objects.values_list("fault", flat=True)) == {Report.Fault.TIMEOUT}
    assert_read_once(ids)


def test_a_disk_that_is_full_and_gets_room_again(on_postgres):
    """What reports become lies in a tablespace on a file system of 24 MB, which is filled to the last byte."""
    with contextmanager_or_skip(_small_disk(on_postgres)) as disk:
        with psycopg.connect(on_postgres, autocommit=True) as server:
            server.execute(f"CREATE TABLESPACE small LOCATION '{disk.folder}'")
            for table in ("labs_report", "labs_snapshot", "benchmarks_series"):
                server.execute(f"ALTER TABLE {table} SET TABLESPACE small")
        try:
            _fill_and_free(disk)
        finally:
            with psycopg.connect(on_postgres, autocommit=True) as server:
                server.execute("DROP TABLE labs_report, labs_snapshot, benchmarks_series CASCADE")
                server.execute("DROP TABLESPACE small")


@contextmanager
def _small_disk(url: str):
    with servers.small_disk(24 << 20, servers.owner_of(url)) as disk:
        yield disk


def _fill_and_free(disk: servers.SmallDisk) -> None:
    _, secret = new_lab()
    disk.fill(leave_bytes=300_000)
    bodies = [report_body() for _ in range(90)]
    answers = {body["id"]: post(secret, body) for body in bodies}
    assert set(answers.values()) == {202, 503}, "some while there was room, none without"
    accepted = [pk for pk, answer in answers.items() if answer == 202]
    assert Report.objects.count() == len(accepted)
    for pk in accepted:
        with suppress(OperationalError):  # there is no room for the note either
            assert interpret_all([pk])[0] in {"received", "read"}
    assert not Report.objects.filter(status=Report.Status.FAILED).exists()
    assert Report.objects.filter(status=Report.Status.RECEIVED).exists()
    disk.free()
    assert {post(secret, body) for body in bodies} == {200, 202}
    assert_read_once([body["id"] for body in bodies])
