"""Rules the data must keep are constraints of the database, and say their name."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from stackviz.records.labs.delete_reports import forget_reports
from stackviz.records.labs.models import AgentKey, Card, Finding, Lab, Machine, Membership, Report, Snapshot


@pytest.fixture
def report(machine) -> Report:
    return Report.objects.create(id=uuid4(), machine=machine, body=b"{}")


@pytest.fixture
def snapshot(report, machine) -> Snapshot:
    return Snapshot.objects.create(report=report, machine=machine, taken_at=timezone.now())


def refuses(constraint):
    return pytest.raises(IntegrityError, match=constraint)


def test_a_lab_cannot_hide_behind_a_page_of_the_site(db):
    with refuses("lab_slug_is_no_page"):
        Lab.objects.create(slug="add", name="x")


def test_a_machine_has_one_address_and_one_identity_in_its_lab(lab, dark, machine):
    with transaction.atomic(), refuses(r"machine_slug_once_per_lab|slug"):
        Machine.objects.create(lab=lab, slug="m", name="x")
    Machine.objects.create(lab=lab, slug="a", name="a", identity="i")
    Machine.objects.create(lab=dark, slug="a", name="a", identity="i")
    with refuses(r"machine_identity_once_per_lab|identity"):
        Machine.objects.create(lab=lab, slug="b", name="b", identity="i")


def test_an_unknown_identity_is_null_and_never_empty(lab):
    with refuses("machine_identity_unknown_is_null"):
        Machine.objects.create(lab=lab, slug="x", name="x", identity="")


def test_a_form_that_empties_the_identity_makes_it_unknown(machine):
    machine.identity = ""
    machine.full_clean()
    assert machine.identity is None


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"status": "lost"}, "report_status_is_known"),
        ({"encoding": "br"}, "report_encoding_is_known"),
        ({"status": "read"}, "report_read_says_when"),
        ({"status": "failed"}, "report_failed_says_why"),
    ],
)
def test_a_report_is_in_a_state_that_makes_sense(machine, fields, constraint):
    with refuses(constraint):
        Report.objects.create(id=uuid4(), machine=machine, body=b"", **fields)


def test_a_report_is_read_into_one_snapshot(snapshot):
    with refuses("report"):
        Snapshot.objects.create(report=snapshot.report, machine=snapshot.machine, taken_at=timezone.now())


def test_snapshot_cards_are_distinct(snapshot):
    card = {"snapshot": snapshot, "kind": "gpu", "vendor": "x", "reported_name": "x"}
    Card.objects.create(index=0, **card)
    with transaction.atomic(), refuses(r"card_index_once_per_snapshot|index"):
        Card.objects.create(index=0, **card)
    with refuses("card_memory_unknown_is_null"):
        Card.objects.create(index=1, memory_bytes=0, **card)


def test_a_findings_severity_is_known(snapshot):
    with refuses("finding_severity_is_known"):
        Finding.objects.create(snapshot=snapshot, rule="r", severity="catastrophic", title="t")


def test_a_membership_is_one_and_of_a_known_role(lab, people):
    user = people["stranger"]
    Membership.objects.create(lab=lab, user=user)
    with transaction.atomic(), refuses(r"membership_once_per_lab_and_user|user"):
        Membership.objects.create(lab=lab, user=user)
    with refuses("membership_role_is_known"):
        Membership.objects.filter(user=user).update(role="king")


def test_a_keys_machine_is_of_its_lab(dark, machine):
    with pytest.raises(ValidationError, match="another lab"):
        AgentKey(lab=dark, machine=machine, name="k").full_clean(exclude=["prefix", "digest"])


def test_forgetting_the_newest_report_shows_the_one_before(machine):
    now = timezone.now()
    snapshots = []
    for hours in (2, 1):
        report = Report.objects.create(id=uuid4(), machine=machine, body=b"{}")
        taken_at = now - timedelta(hours=hours)
        snapshots.append(Snapshot.objects.create(report=report, machine=machine, taken_at=taken_at))
    machine.latest_snapshot, machine.latest_taken_at = snapshots[1], snapshots[1].taken_at
    machine.save()
    assert forget_reports(Report.objects.filter(pk=snapshots[1].report_id)) == 1
    machine.refresh_from_db()
    assert (machine.latest_snapshot, machine.latest_taken_at) == (snapshots[0], snapshots[0].taken_at)
    forget_reports(Report.objects.all())
    machine.refresh_from_db()
    assert (machine.latest_snapshot, machine.latest_taken_at) == (None, None)
