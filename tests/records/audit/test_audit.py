"""The audit log: what is in it, who reads it, and that nobody changes it."""

from unittest.mock import Mock

import pytest
from django.contrib.auth.models import AnonymousUser, Group, Permission, User
from django.core.exceptions import ValidationError
from django.db import transaction

from stackviz.desk.accounts.second_factor import app_with, confirm_app, new_secret
from stackviz.records.audit.models import AuditEntry, AuditEntryFinal
from stackviz.records.audit.record import record
from stackviz.records.labs.delete_reports import forget_reports
from stackviz.records.labs.keys import create_key, revoke
from stackviz.records.labs.members import accept_invitation, invite, withdraw_invitation
from stackviz.records.labs.models import AgentKey, Lab, Membership, Report
from stackviz.records.series.decide_standing import restore_report, withdraw_report
from tests.pages.machines.factories import make_lab, make_machine, make_report

pytestmark = pytest.mark.django_db


@pytest.fixture
def root() -> User:
    return User.objects.create_superuser("root")


@pytest.fixture
def desk(client, root):
    client.force_login(root)
    return client


@pytest.fixture
def since(root):
    """Actions recorded since the test began, oldest first."""
    before = AuditEntry.objects.count()
    return lambda: [entry.action for entry in AuditEntry.objects.order_by("pk")[before:]]


def newest(action: str) -> AuditEntry:
    return AuditEntry.objects.filter(action=action).first()


# --- what is recorded ---


def test_keys_are_recorded_with_who_made_and_revoked_them(desk, root, since):
    lab = make_lab()
    form = {"lab": lab.pk, "machine": "", "name": "cron", "expires_at_0": "", "expires_at_1": ""}
    page = desk.post("/admin/labs/agentkey/add/", form, headers={"X-Request-ID": "of-this-request"}).content.decode()
    key = AgentKey.objects.get()
    made = newest("key.created")
    assert (made.by, made.subject, made.details) == (
        root.pk,
        f"key aw_{key.prefix}_…",
        {"lab_id": lab.pk, "machine_id": None, "scope": "send"},
    )
    assert made.request_id == "of-this-request"
    desk.post("/admin/labs/agentkey/", {"action": "revoke_keys", "_selected_action": [key.pk], "confirmed": "1"})
    assert newest("key.revoked").by == root.pk
    posted = newest("admin.posted")
    assert (posted.details["action"], posted.details["rows"]) == ("revoke_keys", [str(key.pk)])
    secret = next(word for word in page.split() if "aw_" in word and len(word) > 50)
    assert secret[20:50] not in str(list(AuditEntry.objects.values_list("details", "subject")))


def test_revoking_twice_is_recorded_once(since):
    key, _secret = create_key(lab=make_lab(), name="k")
    revoke(key)
    revoke(key)
    assert since().count("key.revoked") == 1


def test_members_and_their_roles_are_recorded(desk, root, since):
    lab, ada = make_lab(), User.objects.create_user("ada")
    member = Membership.objects.create(lab=lab, user=ada)
    member.role = "owner"
    member.save()
    member.delete()
    assert since()[-3:] == ["member.created", "member.changed", "member.deleted"]
    assert newest("member.changed").details == {"role": ["member", "owner"]}
    assert newest("member.changed").subject == f"account {ada.pk} in lab {lab.pk}"


def test_invitations_are_recorded_without_names_and_codes(client, since):
    lab, owner, ada = make_lab(), User.objects.create_user("owner"), User.objects.create_user("ada")
    Membership.objects.create(lab=lab, user=owner, role="owner")
    invitation, code = invite(lab, "Ada of Turin", "member", owner.pk)
    accept_invitation(code, ada)
    withdraw_invitation(invitation)  # accepted meanwhile
    with pytest.raises(ValidationError):
        accept_invitation(code, owner)
    other, _code = invite(lab, "Bo of Turin", "viewer", owner.pk)
    withdraw_invitation(other)
    withdraw_invitation(other)
    assert [action for action in since() if action.startswith("invitation.")] == [
        "invitation.created", "invitation.accepted", "invitation.created", "invitation.withdrawn",
    ]  # fmt: skip
    accepted = newest("invitation.accepted")
    subject = f"invitation {invitation.pk} to lab {lab.pk}"
    assert (accepted.by, accepted.subject, accepted.details) == (ada.pk, subject, {"role": "member"})
    everything = str(list(AuditEntry.objects.values_list("subject", "details")))
    assert not any(word in everything for word in ("Turin", code, invitation.digest))


def test_invitations_are_recorded_with_who_made_them(client, since):
    lab, owner = make_lab(), User.objects.create_user("owner")
    Membership.objects.create(lab=lab, user=owner, role="owner")
    client.force_login(owner)
    page = f"/labs/{lab.slug}/people/"
    client.post(page, {"do": "invite", "name": "Ada", "role": "member"})
    client.post(page, {"do": "withdraw", "invitation": lab.invitations.get().pk})
    assert (newest("invitation.created").by, newest("invitation.withdrawn").by) == (owner.pk, owner.pk)
    code = client.post(page, {"do": "invite", "name": "Bo", "role": "viewer"}).context["code"]
    client.logout()
    form = {"code": code, "username": "bo", "password1": "a-password-nobody-guesses"}
    client.post("/labs/join/", {**form, "password2": form["password1"]})
    assert newest("invitation.accepted").by == User.objects.get(username="bo").pk


def test_roles_of_accounts_are_recorded_without_names(since):
    ada = User.objects.create_user("ada", "ada@example.org", "a-password-nobody-guesses")
    curators = Group.objects.create(name="curators")
    curators.permissions.add(Permission.objects.get(codename="approve"))
    ada.groups.add(curators)
    curators.user_set.remove(ada)
    ada.is_staff = True
    ada.set_password("another-password")
    ada.save()
    assert since() == [
        "account.created", "group.created", "group.permissions", "account.groups", "account.groups", "account.changed",
    ]  # fmt: skip
    assert newest("account.changed").details == {"is_staff": [False, True], "password": "changed"}
    assert newest("account.groups").details == {"change": "remove", "names": ["curators"]}
    assert newest("account.groups").subject == f"account {ada.pk}"
    everything = str(list(AuditEntry.objects.values_list("subject", "details")))
    assert not any(word in everything for word in ("ada", "example.org", "password-", "pbkdf2"))


def test_a_login_is_no_change_and_a_second_factor_is(client, since):
    ada = User.objects.create_user("ada", password="a-password-nobody-guesses")
    client.post("/login/", {"username": "ada", "password": "a-password-nobody-guesses"})
    assert since() == ["account.created"]
    confirm_app(app_with(ada, new_secret()))
    assert {"second-factor.created", "recovery-codes.created"} <= set(since())


def test_a_lab_that_becomes_private_is_recorded():
    lab = make_lab()
    lab.is_public = False
    lab.save()
    assert (newest("lab.changed").details, newest("lab.changed").by) == ({"is_public": [True, False]}, None)


def test_withdrawing_restoring_and_deleting_a_report_is_recorded(root, since):
    report = make_report(make_machine(make_lab()))
    withdraw_report(report, "wrong clock", root)
    restore_report(report, root)
    forget_reports(Report.objects.filter(pk=report.pk))
    assert since()[-3:] == ["report.withdrawn", "report.restored", "report.deleted"]
    assert newest("report.withdrawn").details == {"reason": "wrong clock"}
    assert newest("report.deleted").details["reports"] == [str(report.pk)]


def test_deleting_rows_in_the_admin_names_each(desk, since):
    labs = [make_lab(slug) for slug in ("one", "two")]
    chosen = {"action": "delete_selected", "_selected_action": [lab.pk for lab in labs], "post": "yes"}
    desk.post("/admin/labs/lab/", chosen)
    assert not Lab.objects.exists()
    assert since()[-5:] == ["lab.deleted", "lab.withdrawn", "lab.deleted", "lab.withdrawn", "admin.posted"]


def test_a_form_with_errors_is_not_recorded(desk, since):
    assert desk.post("/admin/labs/lab/add/", {"name": ""}).status_code == 200
    assert since() == []


# --- the same transaction ---


def test_what_is_rolled_back_leaves_no_entry(since):
    with transaction.atomic():
        create_key(lab=make_lab(), name="k")
        transaction.set_rollback(True)
    assert since() == []
    assert not AgentKey.objects.exists()


def test_what_cannot_be_recorded_is_not_done(monkeypatch, root):
    report = make_report(make_machine(make_lab()))
    monkeypatch.setattr("stackviz.records.series.decide_standing.record", Mock(side_effect=OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        withdraw_report(report, "wrong clock", root)
    report.refresh_from_db()
    assert report.withdrawal is None


def test_a_page_that_fails_after_its_change_changes_nothing(desk, monkeypatch):
    lab = make_lab()
    monkeypatch.setattr("stackviz.records.audit.admin_site.record", Mock(side_effect=OSError("disk full")))
    form = {
        "name": "Another name", "slug": "north", "memberships-TOTAL_FORMS": "0", "memberships-INITIAL_FORMS": "0",
    }  # fmt: skip
    with pytest.raises(OSError, match="disk full"):
        desk.post(f"/admin/labs/lab/{lab.pk}/change/", form)
    lab.refresh_from_db()
    assert lab.name == "North lab"


# --- nobody changes it ---


def test_an_entry_is_neither_changed_nor_deleted():
    record("lab.changed", "lab 1", AnonymousUser())
    entry = newest("lab.changed")
    for attempt in (entry.save, entry.delete, AuditEntry.objects.all().delete, lambda: AuditEntry.objects.update(by=1)):
        with pytest.raises(AuditEntryFinal):
            attempt()
    assert AuditEntry.objects.filter(action="lab.changed", by=None).count() == 1


def test_in_the_admin_it_can_only_be_read(desk):
    record("lab.changed", "lab <b>1</b>", details_of="<script>")
    entry = newest("lab.changed")
    page = desk.get("/admin/audit/auditentry/").content.decode()
    assert "lab &lt;b&gt;1&lt;/b&gt;" in page
    assert desk.get(f"/admin/audit/auditentry/{entry.pk}/change/").status_code == 200
    for path in ("add/", f"{entry.pk}/delete/"):
        assert desk.get(f"/admin/audit/auditentry/{path}").status_code == 403
    assert desk.post(f"/admin/audit/auditentry/{entry.pk}/change/", {"subject": "x"}).status_code == 403
    desk.post("/admin/audit/auditentry/", {"action": "delete_selected", "_selected_action": [entry.pk], "post": "yes"})
    assert newest("lab.changed").subject == "lab <b>1</b>"
    assert set(Permission.objects.filter(content_type__app_label="audit").values_list("codename", flat=True)) == {
        "view_auditentry"
    }


def test_staff_without_the_permission_does_not_read_it(client):
    client.force_login(User.objects.create_user("staff", is_staff=True))
    assert client.get("/admin/audit/auditentry/").status_code == 403
    assert client.get("/admin/").status_code == 200


def test_names_of_accounts_come_with_the_entries(desk, root, django_assert_max_num_queries):
    ada = User.objects.create_user("ada")
    for number in range(30):
        record("lab.changed", f"lab {number}", ada if number % 2 else root)
    with django_assert_max_num_queries(8):
        page = desk.get("/admin/audit/auditentry/").content.decode()
    assert ">ada<" in page
    number = ada.pk
    ada.delete()
    assert f"account {number}, deleted" in desk.get("/admin/audit/auditentry/").content.decode()


@pytest.mark.parametrize(("words", "is_there"), [("lab.changed", True), ("1", True), ("nothing like it", False)])
def test_it_is_searched_by_action_subject_and_account(desk, root, words, is_there):
    record("lab.changed", "lab 1", root)
    answer = desk.get("/admin/audit/auditentry/", {"q": words})
    assert ("lab.changed" in answer.content.decode().partition("result_list")[2]) is is_there
