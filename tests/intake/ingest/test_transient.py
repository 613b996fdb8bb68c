"""Which errors are faults of the moment: real ones, provoked, and every code that PostgreSQL may give."""

import errno
import os
import sqlite3
from contextlib import closing

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError

from stackviz.intake.ingest.faults import fault_of
from stackviz.records.labs.models import Report
from stackviz.report.format import ReportError

Fault = Report.Fault


def raised_by(action) -> Exception:
    with pytest.raises(Exception) as caught:
        action()
    return caught.value


@pytest.fixture
def file(tmp_path):
    connection = sqlite3.connect(tmp_path / "a.sqlite3", timeout=0.01, isolation_level=None)
    connection.execute("CREATE TABLE t (x)")
    yield connection
    connection.close()


def test_faults_of_sqlite_and_mistakes_in_sql(file, tmp_path):
    def fault_by(statement):
        return fault_of(raised_by(lambda: file.execute(statement)))

    assert fault_by("SELECT * FROM nothing") is None
    file.execute("CREATE UNIQUE INDEX i ON t (x)")
    assert fault_by("INSERT INTO t VALUES (1), (1)") is None
    with closing(sqlite3.connect(tmp_path / "a.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert fault_by("INSERT INTO t VALUES (1)") == Fault.LOCK
    file.execute("PRAGMA max_page_count = 3")
    assert fault_by("INSERT INTO t VALUES (zeroblob(100000))") == Fault.DISK
    assert fault_of(raised_by(lambda: sqlite3.connect(tmp_path / "no" / "a.sqlite3"))) == Fault.DATABASE


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full: it fails as a full disk does")  # noqa: PTH110
def test_a_full_disk():
    with open("/dev/full", "wb", buffering=0) as full:  # noqa: PTH123
        assert fault_of(raised_by(lambda: full.write(b"x"))) == Fault.DISK


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (MemoryError(), Fault.MEMORY),
        (OSError(errno.EMFILE, "Too many open files"), Fault.SYSTEM),
        (FileNotFoundError(errno.ENOENT, "No such file"), None),
        (OperationalError(), Fault.DATABASE),  # no server said anything
        (InterfaceError("connection already closed"), Fault.DATABASE),
        (ProgrammingError(), None),
        (ReportError("id", "is missing"), None),
        (KeyError("x"), None),
    ],
    ids=repr,
)
def test_errors_without_a_server(error, fault):
    assert fault_of(error) == fault


TRANSIENT = {
    "08006": Fault.DATABASE, "08P01": Fault.DATABASE, "40001": Fault.LOCK, "40P01": Fault.LOCK, "53100": Fault.DISK,
    "53200": Fault.MEMORY, "53300": Fault.DATABASE, "55P03": Fault.LOCK, "57014": Fault.TIMEOUT, "57P01": Fault.DATABASE,
    "57P03": Fault.DATABASE, "58030": Fault.DATABASE, "25006": Fault.DATABASE, "42P01": Fault.DATABASE,
}  # fmt: skip


def test_every_code_of_postgresql_is_what_it_says():
    states = {state for state in psycopg.errors._sqlcodes if len(state) == 5}
    found = {state: fault for state in states if (fault := fault_of(psycopg.errors.lookup(state)()))}
    assert found.items() >= TRANSIENT.items()
    assert {state[:2] for state in found} == {"08", "25", "40", "42", "53", "55", "57", "58"}
    # What a report may cause by what is in it: data, constraints, limits of the program, errors of the server.
    assert not {state for state in found if state[:2] in {"22", "23", "54", "XX", "P0", "0A"}}


def test_the_drivers_error_counts_and_not_the_one_made_of_it():
    error = OperationalError("statement too complex")
    error.__cause__ = psycopg.errors.lookup("54001")()
    assert fault_of(error) is None
    error.__cause__ = psycopg.errors.lookup("53100")()
    assert fault_of(error) == Fault.DISK
