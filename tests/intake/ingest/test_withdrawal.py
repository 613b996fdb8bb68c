"""From a receipt, owners withdraw or replace a report; the reason stands in the log, public only of public labs."""

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from stackviz.records.labs.models import Membership, ReportWithdrawal
from tests.pages.machines.factories import START, days, gemm, h100, make_lab, make_machine, make_report

pytestmark = pytest.mark.django_db
LOG = "/benchmarks/withdrawn/"


@pytest.fixture
def lab():
    return make_lab("north")


@pytest.fixture
def report(lab):
    machine = make_machine(lab, "dgx-07")
    make_report(machine, at=START, cards=[h100()], results=[gemm("bf16", [0.0014] * 3)])
    return make_report(machine, at=START + days(1), results=[gemm("bf16", [0.0001] * 3)])


@pytest.fixture
def people(lab, django_user_model):
    made = {name: django_user_model.objects.create_user(name) for name in ("owner", "member", "stranger")}
    lab.memberships.create(user=made["owner"], role=Membership.Role.OWNER)
    lab.memberships.create(user=made["member"])
    for name, codename in (("viewer", "view_result"), ("curator", "propose"), ("staff", "change_result")):
        made[name] = django_user_model.objects.create_user(name, is_staff=True)
        made[name].user_permissions.add(*Permission.objects.filter(codename=codename))
    return made


def withdraw(client, report, **posted):
    return client.post(f"/receipts/{report.pk}/withdraw/", {"reason": "the fan was off", **posted})


@pytest.mark.parametrize(
    ("name", "may"),
    [("owner", True), ("staff", True), ("member", False), ("stranger", False), ("viewer", False), ("curator", False)],
)
def test_only_owners_and_staff_withdraw_a_report(client, report, people, name, may):
    client.force_login(people[name])
    url = f"/receipts/{report.pk}/withdraw/"
    assert (f'href="{url}"' in client.get(report.get_absolute_url()).content.decode()) == may
    assert client.get(url).status_code == (200 if may else 403)
    assert withdraw(client, report).status_code == (302 if may else 403)
    report.refresh_from_db()
    assert (report.withdrawal == "withdrawn") == may


def test_withdrawing_needs_a_login_and_the_form_of_this_site(client, report, people):
    assert withdraw(client, report).url.startswith("/login/")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(people["staff"])
    for action in ("withdraw", "restore"):
        assert strict.post(f"/receipts/{report.pk}/{action}/", {"reason": "x"}).status_code == 403
    client.force_login(people["owner"])
    for posted in ({"reason": ""}, {"reason": "x" * 301}, {"replaced_by": "x"}, {"replaced_by": str(report.pk)}):
        assert withdraw(client, report, **posted).status_code == 422
    assert not ReportWithdrawal.objects.exists()


def test_the_receipt_the_machine_and_the_log_say_so(client, report, people, django_assert_num_queries):
    client.get(report.get_absolute_url())
    with django_assert_num_queries(3):
        client.get(report.get_absolute_url())
    client.force_login(people["owner"])
    assert [withdraw(client, report).status_code for _twice in range(2)] == [302, 422]
    assert ReportWithdrawal.objects.count() == 1
    assert client.get(f"/receipts/{report.pk}/withdraw/").url == report.get_absolute_url()
    client.logout()
    for address in (report.get_absolute_url(), LOG, f"{LOG}?state=reports"):
        assert "the fan was off" in client.get(address).content.decode()
    assert "withdrawn" in client.get("/machines/north/dgx-07/").content.decode()


def test_a_private_lab_stands_in_no_public_log(client, report, people, lab):
    lab.is_public = False
    lab.save()
    client.force_login(people["owner"])
    withdraw(client, report)
    assert "the fan was off" in client.get(LOG).content.decode()
    for name in ("stranger", "viewer"):
        client.force_login(people[name])
        assert "the fan was off" not in client.get(LOG).content.decode()
        assert withdraw(client, report).status_code == 404
    client.logout()
    assert "the fan was off" not in client.get(LOG).content.decode()


def test_a_later_report_is_named(client, report, people):
    later = make_report(report.machine, at=START + days(2))
    client.force_login(people["owner"])
    assert str(later.pk) in client.get(f"/receipts/{report.pk}/withdraw/").content.decode()
    assert withdraw(client, report, replaced_by=str(later.pk)).status_code == 302
    assert f'href="{later.get_absolute_url()}"' in client.get(report.get_absolute_url()).content.decode()
    report.refresh_from_db()
    assert report.withdrawal == "superseded"


def test_only_staff_lets_it_count_again(client, report, people):
    client.force_login(people["owner"])
    withdraw(client, report)
    restore = f"/receipts/{report.pk}/restore/"
    for name in ("owner", "member", "stranger", "viewer", "curator"):
        client.force_login(people[name])
        assert client.post(restore).status_code == 403
        assert client.get(restore).url == report.get_absolute_url()
    client.force_login(people["staff"])
    assert "Let it count again" in client.get(report.get_absolute_url()).content.decode()
    assert client.post(restore, follow=True).status_code == 200
    assert "is not withdrawn" in client.post(restore, follow=True).content.decode()
    report.refresh_from_db()
    assert report.withdrawal is None
    assert "the fan was off" not in client.get(LOG).content.decode()


def test_staff_of_no_lab_undo_what_a_private_lab_withdrew(client, report, people, lab):
    """The admin's list of withdrawals leads them to the receipt."""
    lab.is_public = False
    lab.save()
    client.force_login(people["owner"])
    assert withdraw(client, report).status_code == 302
    for name in ("stranger", "viewer", "curator"):
        client.force_login(people[name])
        assert client.get(report.get_absolute_url()).status_code == 404
        assert client.post(f"/receipts/{report.pk}/restore/").status_code == 404
    client.force_login(people["staff"])
    assert "the fan was off" in client.get(report.get_absolute_url()).content.decode()
    assert client.post(f"/receipts/{report.pk}/restore/").status_code == 302
    report.refresh_from_db()
    assert report.withdrawal is None
