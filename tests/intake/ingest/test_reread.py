"""Stored reports can be read again: by command and from the admin."""

import json
from io import StringIO

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.utils import timezone

from stackviz.intake.ingest.interpret import interpret
from stackviz.intake.ingest.reading import INTERPRETER
from stackviz.intake.ingest.reread import failed_counts
from stackviz.records.labs.models import Machine, Report, Snapshot
from tests.intake.ingest.reread_tests import RereadTogether
from tests.report.format.reports import report_body


@pytest.fixture
def reports(lab) -> list[Report]:
    """Two that were read, one that failed."""
    machine = Machine.objects.create(lab=lab, slug="m", name="m")
    bodies = [report_body(), report_body(), {"id": report_body()["id"]}]
    made = [Report.objects.create(id=body["id"], machine=machine, body=json.dumps(body).encode()) for body in bodies]
    for report in made:
        interpret(report.pk)
        report.refresh_from_db()
    assert [report.status for report in made] == ["read", "read", "failed"]
    return made


def reread(*arguments) -> str:
    out = StringIO()
    call_command("reread_reports", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_all_reports_are_read_again(reports):
    Snapshot.objects.update(agent="an older reading")
    assert "0 of 1 reports read, 1 failed" in reread("--failed")
    assert set(Snapshot.objects.values_list("agent", flat=True)) == {"an older reading"}
    assert "2 of 3 reports read, 1 failed" in reread("--all")
    assert set(Snapshot.objects.values_list("agent", flat=True)) == {"accelweb-agent 0.1.0"}


def test_report_list_shortens_failure_reason(reports, client):
    Report.objects.filter(pk=reports[2].pk).update(error="a" * 120 + "b")
    client.force_login(User.objects.create_superuser("root"))
    page = client.get("/admin/labs/report/").content.decode()
    assert f">{'a' * 120}<" in page


def test_a_failed_report_is_read_once_we_can(reports):
    Report.objects.filter(pk=reports[2].pk).update(body=json.dumps(report_body()).encode())
    assert "1 of 1 reports read, 0 failed" in reread("--failed")


@pytest.mark.parametrize(
    ("changes", "arguments", "read"),
    [
        ({"interpreter": INTERPRETER - 1}, ["--outdated"], "1 of 2 reports read, 1 failed"),
        ({"received_at": "2020-01-01T00:00:00Z"}, ["--all", "--since", "2025-01-01"], "1 of 2 reports read, 1 failed"),
        ({}, ["--id"], "1 of 1 reports read"),
    ],
)
def test_some_reports_are_read_again(reports, changes, arguments, read):
    Report.objects.filter(pk=reports[0].pk).update(**changes or {"tries": 0})
    assert read in reread(*arguments, *([str(reports[0].pk)] if arguments == ["--id"] else []))


UNCLEAR = [
    [], ["--all", "--failed"], ["--id", "nonsense"], ["--all", "--since", "then"], ["--failed", "--kind", "no such"],
    ["--all", "--dry-run"], ["--all", "--kind", "x"], ["--id", "00000000-0000-4000-8000-000000000000"],
]  # fmt: skip


@pytest.mark.parametrize("arguments", UNCLEAR)
def test_an_unclear_wish_is_refused(failed, arguments):
    with pytest.raises(CommandError):
        reread(*arguments)
    assert statuses() == "f f f f f r"


def test_a_report_put_back_shows_as_waiting_and_is_queued(reports, queued, client, django_capture_on_commit_callbacks):
    client.force_login(User.objects.create_superuser("admin"))
    chosen = [str(reports[0].pk), str(reports[2].pk)]
    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(
            "/admin/labs/report/", {"action": "have_read_again", "_selected_action": chosen}, follow=True
        )
    assert "2 reports are queued to be read again." in response.content.decode()
    assert sorted(queued) == sorted(chosen)
    assert Report.objects.filter(status="received").count() == 2


@pytest.mark.django_db
class TestOnSqlite(RereadTogether):
    pass


# --- all that failed for one reason ---


@pytest.fixture
def failed(lab) -> list[Report]:
    """Three failed for want of something of ours, in two kinds; two are at fault themselves; one was read."""
    machine = Machine.objects.create(lab=lab, slug="m", name="m")

    def store(error: str) -> Report:
        body, status = report_body(), "failed" if error else "read"
        values = {"body": json.dumps(body).encode(), "read_at": timezone.now(), "status": status, "error": error}
        return Report.objects.create(id=body["id"], machine=machine, **values)

    ours, theirs = ["DiskFull", "DiskFull", "KeyError"], [3, 12]
    errors = [*(f"internal error: {name}" for name in ours), *(f"results[{n}].samples: is missing" for n in theirs), ""]
    return [store(error) for error in errors]


def statuses() -> str:
    return " ".join(status[0] for status in Report.objects.order_by("received_at").values_list("status", flat=True))


def test_failed_reports_are_counted_by_kind(failed):
    assert failed_counts() == {
        "internal error: DiskFull": 2, "results[#].samples: is missing": 2, "internal error: KeyError": 1
    }  # fmt: skip
    assert failed_counts(()) == {}
    said = reread("--failed", "--dry-run", "--kind", "internal error")
    assert "      2  internal error: DiskFull\n      1  internal error: KeyError\n3 failed reports" in said
    assert "5 failed reports" in reread("--failed", "--dry-run")
    assert statuses() == "f f f f f r"


def test_all_of_a_kind_are_read_again_by_command(failed):
    assert "2 of 2 reports read" in reread("--failed", "--kind", "internal error: DiskFull")
    assert statuses() == "r r f f f r"
    assert "3 of 3 reports read" in reread("--failed", "--kind", "internal", "--kind", "results[7].samples")


def admin_action(client, reports, **more):
    data = {"action": "have_kinds_read_again", "_selected_action": [str(report.pk) for report in reports], **more}
    return client.post("/admin/labs/report/", data, follow=True)


def test_all_of_a_kind_are_read_again_from_the_admin(failed, client, queued, django_capture_on_commit_callbacks):
    client.force_login(User.objects.create_superuser("root"))
    asked = admin_action(client, [failed[0], failed[3], failed[5]]).content.decode()
    assert "4 failed reports have an error of the kinds selected" in asked
    assert "<code>internal error: DiskFull</code>: 2" in asked
    assert statuses() == "f f f f f r"
    with django_capture_on_commit_callbacks(execute=True):
        done = admin_action(client, [failed[0], failed[3], failed[5]], confirmed="1").content.decode()
    assert "4 reports are queued to be read again." in done
    assert sorted(queued) == sorted(str(failed[n].pk) for n in (0, 1, 3, 4))
    assert failed_counts() == {"internal error: KeyError": 1}


def test_nothing_is_read_again_where_none_failed_or_for_viewers(failed, client, queued):
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_report"))
    for user, chosen in ((User.objects.create_superuser("root"), failed[5]), (viewer, failed[0])):
        client.force_login(user)
        admin_action(client, [chosen])
        admin_action(client, [chosen], confirmed="1")
        assert (statuses(), queued) == ("f f f f f r", [])
