"""What goes when it is old: how much, when, and what a dry run says of it."""

import os
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.utils import timezone

from stackviz.desk.retention import old
from stackviz.desk.retention.tasks import delete_what_is_old
from stackviz.pages.data.dump import write_dump
from stackviz.pages.diagnose.links import new_ticket, save_link
from stackviz.pages.diagnose.models import PrivateLink
from stackviz.records.audit.models import AuditEntry
from stackviz.records.labs.models import Report
from tests.pages.machines.factories import gemm, make_lab, make_machine, make_report

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(days=1_000)


@pytest.fixture
def _years(settings, tmp_path):
    """One of each that is old, one that is not."""
    settings.VAR_DIR, settings.DATA_DIR = tmp_path, tmp_path / "data"
    settings.RAW_REPORT_DAYS, settings.DATA_DAYS, settings.AUDIT_DAYS, settings.LOG_DAYS = 30, 30, 730, 30
    settings.RESULT_DAYS = 30
    now = timezone.now()
    root = User.objects.create_superuser("root")
    AuditEntry.objects.all()._raw_delete("default")
    for at in (now, now - LONG_AGO):
        AuditEntry.objects.create(at=at, action="lab.changed", subject=f"{at:%Y}")
        kind = ContentType.objects.get_for_model(User)
        entry = LogEntry.objects.create(
            user=root, content_type=kind, object_id="1", object_repr="", action_flag=CHANGE, change_message=""
        )
        LogEntry.objects.filter(pk=entry.pk).update(action_time=at)
        save_link(new_ticket(), f"text {at}", "nvidia-smi")
        Session.objects.create(session_key=f"{at:%Y}", session_data="", expire_date=at + timedelta(days=1))
    PrivateLink.objects.filter(text=f"text {now - LONG_AGO}").update(
        created_at=now - LONG_AGO, expires_at=now - timedelta(days=900)
    )
    machine = make_machine(make_lab())
    for at in (now, now - LONG_AGO):
        report = make_report(machine, at=at, results=[gemm("bf16", [0.1] * 6)])
        Report.objects.filter(pk=report.pk).update(received_at=at, body=b"{}")
        machine.events.create(
            lab=machine.lab, kind="silence", key=at.isoformat(), happened_at=at, noted_at=at, details={}
        )
    AuditEntry.objects.filter(action="machine.created")._raw_delete("default")
    AuditEntry.objects.filter(action="lab.created")._raw_delete("default")
    first = write_dump()
    (tmp_path / "data" / first.name).rename(tmp_path / "data" / "20200101T020000Z")
    write_dump()
    (tmp_path / "log").mkdir()
    for name, at in (("web.log", LONG_AGO), ("web.log.1", LONG_AGO), ("worker.log.1", timedelta())):
        (tmp_path / "log" / name).write_text("line\n")
        moment = (now - at).timestamp()
        os.utime(tmp_path / "log" / name, (moment, moment))


def counts(found) -> dict[str, int]:
    return {each.retained.name: each.count for each in found}


@pytest.mark.usefixtures("_years")
def test_a_dry_run_counts_and_deletes_nothing():
    before = counts(old.look_for_old())
    assert before == dict.fromkeys((each.name for each in old.RETAINED), 1)
    printed = StringIO()
    call_command("delete_old", "--dry-run", stdout=printed)
    assert "1 to delete: raw reports, from before " in printed.getvalue()
    assert "1 to delete: private links of Diagnose, past their own end" in printed.getvalue()
    assert counts(old.look_for_old()) == before


@pytest.mark.usefixtures("_years")
def test_what_is_old_goes_once_and_the_rest_stays(tmp_path):
    assert counts(old.delete_old()) == dict.fromkeys((each.name for each in old.RETAINED), 1)
    assert counts(old.delete_old()) == dict.fromkeys((each.name for each in old.RETAINED), 0)
    assert AuditEntry.objects.count() == LogEntry.objects.count() == PrivateLink.objects.count() == 1
    assert Session.objects.count() == 1
    assert Report.objects.filter(content_digest__isnull=True).count() == 1
    assert Report.objects.count() == 2
    assert sorted(file.name for file in (tmp_path / "log").iterdir()) == ["web.log", "worker.log.1"]
    assert not (tmp_path / "data/20200101T020000Z").exists()
    assert (tmp_path / "data" / (tmp_path / "data/latest").read_text().strip()).is_dir()


@pytest.mark.usefixtures("_years")
def test_nought_days_are_for_ever(settings):
    settings.RAW_REPORT_DAYS = settings.DATA_DAYS = settings.AUDIT_DAYS = settings.LOG_DAYS = settings.EVENT_DAYS = 0
    settings.RESULT_DAYS = 0
    assert {name for name, count in counts(old.delete_old()).items() if count} == {
        "private links of Diagnose",
        "sessions that have ended",
    }
    printed = StringIO()
    call_command("delete_old", stdout=printed)
    assert "0 deleted: entries of the audit log, stored for ever (AUDIT_DAYS=0)" in printed.getvalue()


@pytest.mark.usefixtures("_years")
def test_very_many_rows_go_in_parts(monkeypatch):
    monkeypatch.setattr(old, "ROWS_TOGETHER", 2)
    long_ago = timezone.now() - LONG_AGO
    AuditEntry.objects.bulk_create(AuditEntry(at=long_ago, action="lab.changed", subject=str(n)) for n in range(6))
    assert counts(old.delete_old())["entries of the audit log"] == 7


@pytest.mark.usefixtures("_years")
def test_the_task_says_what_went(settings):
    assert delete_what_is_old.name in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert delete_what_is_old().startswith("1 raw reports, 1 results, 1 private links of Diagnose, ")
    assert delete_what_is_old() == "nothing is old"
