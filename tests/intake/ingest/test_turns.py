"""Uploads and a worker take turns to write to a SQLite file."""

import fcntl
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import IO

import pytest
from django.db import connection, transaction
from django.utils import timezone

from stackviz.intake.ingest import interpret as interpret_module
from stackviz.intake.ingest.interpret import REPORTS_A_TURN, interpret_all
from stackviz.records.labs.keys import create_key
from stackviz.records.labs.models import Lab, Report
from stackviz.records.series import delete_results
from stackviz.web import turns
from stackviz.web.turns import turn_to_write
from tests.intake.ingest.races import new_lab, post, stored
from tests.report.format.reports import report_body

PATIENCE_S = 20
HOLDER = "import fcntl, sys; file = open(sys.argv[1], 'ab'); fcntl.flock(file, fcntl.LOCK_EX); print('held', flush=True); input()"


@pytest.fixture
def turns_file(sqlite_file) -> Path:
    return sqlite_file.with_name(f"{sqlite_file.name}-turns")


def is_held(file: Path) -> bool:
    with file.open("ab") as mine:
        return not is_ours(mine)


def is_ours(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def test_upload_gets_in_between_two_batches_of_a_worker(sqlite_file, monkeypatch):
    """The worker's pause ends when the upload that waits is answered: it only can be while the worker has no turn."""
    ids = stored(2 * REPORTS_A_TURN)
    body = report_body()
    secret = create_key(lab=Lab.objects.get(), name="k")[1]
    answers, waits, answered = [], threading.Event(), threading.Event()
    reports_before_batch = []
    store_reports = interpret_module.store_reports

    def upload():
        answers.append(post(secret, body))
        connection.close()
        answered.set()

    uploads = threading.Thread(target=upload)

    def sleep(pause_s):
        if pause_s == turns.TRY_EVERY_S:
            waits.set()
            time.sleep(pause_s)
        elif pause_s == turns.GIVE_WAY_S and uploads.is_alive():
            answered.wait(PATIENCE_S)

    def store(readings):
        reports_before_batch.append(Report.objects.count())
        if len(reports_before_batch) == 1:
            uploads.start()
            assert waits.wait(PATIENCE_S)
        store_reports(readings)

    monkeypatch.setattr(turns, "time", SimpleNamespace(monotonic=time.monotonic, sleep=sleep))
    monkeypatch.setattr(turns, "LONGEST_WAIT_S", 3 * PATIENCE_S)
    monkeypatch.setattr(interpret_module, "store_reports", store)
    assert interpret_all(ids) == ["read"] * len(ids)
    uploads.join(PATIENCE_S)
    assert (answers, reports_before_batch) == ([202], [len(ids), len(ids) + 1])


def test_old_results_are_deleted_in_turns_that_give_way(turns_file, monkeypatch):
    interpret_all(stored(2))
    seen = []
    refresh, wait = delete_results.refresh, turns._wait

    def note_refresh(*changes):
        seen.append(is_held(turns_file))
        refresh(*changes)

    def note_wait(file, pause_s):
        seen.append((is_held(turns_file), pause_s))
        wait(file, pause_s)

    monkeypatch.setattr(delete_results, "ROWS_TOGETHER", 2)
    monkeypatch.setattr(delete_results, "refresh", note_refresh)
    monkeypatch.setattr(turns, "_wait", note_wait)
    assert delete_results.delete_results_before(timezone.now() + timedelta(days=1)) == 4
    assert seen == [(False, turns.GIVE_WAY_S), True] * 3  # the last batch finds none


def test_killed_process_gives_its_turn_up(turns_file):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(turns_file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline() == b"held\n"
        assert is_held(turns_file)
        holder.kill()
    assert not is_held(turns_file)
    with turn_to_write():
        assert is_held(turns_file)
    assert not is_held(turns_file)


def test_upload_is_accepted_while_a_turn_does_not_end(turns_file, monkeypatch):
    monkeypatch.setattr(turns, "LONGEST_WAIT_S", 0.05)
    with turns_file.open("ab") as endless:
        assert is_ours(endless)
        assert post(new_lab()[1], report_body()) == 202


def test_reports_are_accepted_and_read_where_turns_cannot_be_taken(turns_file):
    turns_file.mkdir()
    ids = stored(REPORTS_A_TURN + 1)
    assert interpret_all(ids) == ["read"] * len(ids)


def test_no_turn_is_taken_within_a_transaction(turns_file):
    """Whoever has SQLite's lock already must not wait for one who waits for that."""
    with transaction.atomic(), turn_to_write():
        assert not turns_file.exists()
