"""Withdrawing a machine, a lab, a person, a report: what goes, what stays, who may, and that it is recorded."""

from io import StringIO

import pytest
from django.contrib.auth.models import Permission, User
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from stackviz.desk.accounts.withdraw import withdraw_person
from stackviz.records.audit.models import AuditEntry
from stackviz.records.labs.keys import create_key
from stackviz.records.labs.models import AgentKey, Lab, Machine, Membership, Report, ReportWithdrawal, Snapshot
from stackviz.records.labs.withdraw import withdraw_lab, withdraw_machine
from stackviz.records.series.decide_standing import withdraw_report
from stackviz.records.series.models import Result, Series
from tests.pages.machines.factories import gemm, h100, make_lab, make_machine, make_report

pytestmark = pytest.mark.django_db
DATA = "/labs/north/data/"


@pytest.fixture
def north():
    """A private lab with two machines that reported, keys, an owner and a member; another lab beside it."""
    lab = make_lab("north", is_public=False)
    for name in ("dgx-07", "dgx-08"):
        machine = make_machine(lab, name)
        make_report(machine, cards=[h100(0)], results=[gemm("bf16", [0.001] * 8)])
        create_key(lab=lab, machine=machine, name="cron")
    make_report(make_machine(make_lab("south"), "m"), results=[gemm("bf16", [0.001] * 8)])
    for name, role in (("owner", "owner"), ("member", "member")):
        Membership.objects.create(lab=lab, user=User.objects.create_user(name), role=role)
    User.objects.create_user("stranger")
    return lab


@pytest.fixture
def browser(client, north):
    def of(name):
        client.force_login(User.objects.get(username=name))
        return client

    return of


def newest(action: str) -> AuditEntry:
    return AuditEntry.objects.filter(action=action).first()


# --- what goes, what stays ---


def test_a_machine_goes_with_all_it_sent_and_its_counts_stay(north):
    """It takes those that were merged into it along."""
    machine = Machine.objects.get(slug="dgx-07")
    make_machine(north, "merged", merged_into=machine)
    number, gone = machine.pk, withdraw_machine(machine)
    assert (gone["labs.Report"], gone["benchmarks.Result"], gone["labs.AgentKey"]) == (1, 1, 1)
    assert [machine.slug for machine in north.machines.all()] == ["dgx-08"]
    assert [model.objects.count() for model in (Report, Result, Series, Snapshot)] == [2, 2, 2, 2]
    entry = newest("machine.withdrawn")
    assert (entry.subject, entry.details["rows"]["labs.Report"]) == (f"machine {number} of lab {north.pk}", 1)
    assert "dgx-07" not in str(list(AuditEntry.objects.values_list("subject", "details")))


def test_a_lab_goes_and_the_accounts_of_its_members_stay(north):
    withdraw_lab(north)
    assert [lab.slug for lab in Lab.objects.all()] == ["south"]
    assert (Report.objects.count(), AgentKey.objects.count(), Membership.objects.count()) == (1, 0, 0)
    assert User.objects.filter(username__in=("owner", "member")).count() == 2
    assert newest("lab.withdrawn").details["rows"]["labs.Machine"] == 2


def test_of_a_person_what_was_decided_stays_without_a_name(north):
    ada = User.objects.create_user("ada", "ada@example.org")
    report = Report.objects.filter(machine__slug="dgx-07").get()
    withdraw_report(report, "wrong clock", ada)
    assert Result.objects.get(report=report).standing == "withdrawn"  # the report stays and counts nothing
    key, _secret = create_key(lab=north, name="of ada", created_by=ada)
    number = ada.pk
    withdraw_person(ada)
    assert not User.objects.filter(username="ada").exists()
    assert ReportWithdrawal.objects.get().made_by is None
    key.refresh_from_db()
    assert (key.created_by, key.revoked_at) == (None, None)
    assert newest("account.withdrawn").subject == f"account {number}"
    assert "ada" not in str(list(AuditEntry.objects.values_list("subject", "details")))


def test_a_person_whom_a_lab_or_the_site_needs_stays(north):
    owner = User.objects.get(username="owner")
    with pytest.raises(CommandError, match="no other owner"):
        call_command("withdraw", "person", "owner")
    with pytest.raises(ValidationError, match="North lab has no other owner"):
        withdraw_person(owner)
    Membership.objects.filter(user__username="member").update(role="owner")
    withdraw_person(owner)
    assert [member.user.username for member in north.memberships.all()] == ["member"]
    with pytest.raises(ValidationError, match="no other superuser"):
        withdraw_person(User.objects.create_superuser("root"))


# --- through the admin ---


def test_deleting_in_the_admin_is_withdrawing(client, north):
    root = User.objects.create_superuser("root")
    client.force_login(root)
    machine = Machine.objects.get(slug="dgx-07")
    client.post(f"/admin/labs/machine/{machine.pk}/delete/", {"post": "yes"})
    assert newest("machine.withdrawn").by == root.pk
    chosen = [machine.pk for machine in Machine.objects.filter(lab=north)]
    client.post("/admin/labs/machine/", {"action": "delete_selected", "_selected_action": chosen, "post": "yes"})
    assert not north.machines.exists()
    client.post(f"/admin/labs/lab/{north.pk}/delete/", {"post": "yes"})
    assert newest("lab.withdrawn").by == root.pk
    person = User.objects.get(username="stranger")
    client.post(f"/admin/auth/user/{person.pk}/delete/", {"post": "yes"})
    assert newest("account.withdrawn").subject == f"account {person.pk}"


@pytest.mark.parametrize("is_meanwhile", [False, True])
def test_the_admin_says_who_is_needed_and_deletes_nobody(client, north, monkeypatch, is_meanwhile):
    """Also where another last owner goes between the confirmation and the deletion, or the last two together."""
    client.force_login(User.objects.create_superuser("root"))
    if is_meanwhile:
        monkeypatch.setattr("stackviz.desk.accounts.admin.why_needed", lambda *_users: [])
    owner = User.objects.get(username="owner")

    def delete(address, *people):
        form = {"action": "delete_selected", "_selected_action": people} if people else {}
        answer = client.post(f"/admin/auth/user/{address}", {**form, "post": "yes"}, follow=True)
        return answer.status_code, answer.content.decode().count("North lab has no other owner.")

    assert [delete("", owner.pk), delete(f"{owner.pk}/delete/")] == [(200, 1)] * 2
    if not is_meanwhile:
        north.memberships.update(role="owner")
        assert delete("", *north.members.values_list("pk", flat=True)) == (200, 1)
    assert north.memberships.count() == 2


# --- the lab's page ---


@pytest.mark.parametrize(("name", "status"), [("owner", 200), ("member", 403), ("stranger", 404)])
def test_only_owners_of_a_lab_see_its_data(browser, client, name, status):
    assert client.get(DATA)["Location"] == f"/login/?next={DATA}"
    assert browser(name).get(DATA).status_code == status
    if status != 404:
        assert (DATA in browser(name).get("/machines/north/").content.decode()) is (status == 200)
    assert browser(name).post(DATA, {"do": "lab", "confirm": "north"}).status_code in {302, status}
    assert Lab.objects.filter(slug="north").exists() is (status != 200)


def test_staff_may_with_the_permission_alone(client, north):
    client.force_login(User.objects.create_user("staff", is_staff=True))
    assert client.get(DATA).status_code == 404
    client.force_login(User.objects.create_superuser("root"))
    assert client.get(DATA).status_code == 200


def test_an_owner_withdraws_a_machine_after_typing_its_name(browser, north, django_assert_max_num_queries):
    owner = browser("owner")
    for number in range(20):
        make_machine(north, f"more-{number}")
    with django_assert_max_num_queries(6):
        owner.get(DATA)
    asked = owner.get(f"{DATA}?machine=dgx-07").content.decode()
    assert ("Withdraw dgx-07?" in asked, "reports: 1" in asked) == (True, True)
    for machine, confirm, status in (("dgx-07", "dgx-08", 422), ("m", "m", 404)):  # m is of another lab
        assert owner.post(DATA, {"machine": machine, "confirm": confirm}).status_code == status
    done = owner.post(DATA, {"machine": "dgx-07", "confirm": " dgx-07 "}, follow=True)
    assert "dgx-07 was withdrawn" in done.content.decode()
    assert not Machine.objects.filter(slug="dgx-07").exists()
    assert owner.post(DATA, {"machine": "dgx-07", "confirm": "dgx-07"}).status_code == 404
    assert "Download the archive" not in owner.get(f"/zh-hans{DATA}").content.decode()


def test_the_page_that_manages_a_machine_leads_there(browser, client, north):
    manage, there = "/machines/north/dgx-07/manage/", 'href="/labs/north/data/?machine=dgx-07"'
    assert there in browser("owner").get(manage).content.decode()
    support = User.objects.create_user("support", is_staff=True)
    support.user_permissions.add(Permission.objects.get(codename="change_machine"))
    client.force_login(support)  # may rename and merge, not withdraw
    page = client.get(manage)
    assert (page.status_code, there in page.content.decode()) == (200, False)


def test_an_owner_withdraws_the_lab(browser):
    owner = browser("owner")
    assert "Withdraw North lab?" in owner.get("/labs/north/data/?withdraw").content.decode()
    assert owner.post(DATA, {"do": "lab", "confirm": "no"}).status_code == 422
    assert owner.post(DATA, {"do": "lab", "confirm": "north"})["Location"] == "/machines/"
    assert newest("lab.withdrawn").by == User.objects.get(username="owner").pk
    assert owner.get(DATA).status_code == 404


# --- the command ---


def test_the_command_counts_first_and_withdraws_then(north):
    for kind, name in (("report", "no-id"), ("machine", "north"), ("lab", "west"), ("person", "nobody")):
        with pytest.raises(CommandError, match=f"there is no {kind}"):
            call_command("withdraw", kind, name)
    printed = StringIO()
    call_command("withdraw", "lab", "north", "--dry-run", stdout=printed)
    assert "2 reports would go" in printed.getvalue()
    assert Lab.objects.filter(slug="north").exists()
    for kind, name in (("machine", "north/dgx-07"), ("person", "stranger"), ("lab", "north")):
        call_command("withdraw", kind, name, stdout=printed)
    report = Report.objects.get()
    call_command("withdraw", "report", str(report.pk), stdout=printed)
    assert not Report.objects.exists()
    assert "1 labs.Lab deleted" in printed.getvalue()
