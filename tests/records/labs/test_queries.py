"""Who may see which lab: a private one's machines appear nowhere public."""

import json

import pytest

from stackviz.intake.ingest.interpret import interpret
from stackviz.records.labs.models import Finding, Lab, Machine, Membership, Report
from stackviz.records.labs.queries import (
    latest_snapshots,
    machine_detail,
    visible_labs,
    visible_machines,
    visible_reports,
)
from tests.report.format.reports import h100_card, report_body


@pytest.fixture
def machines(lab, dark) -> list[Machine]:
    made = []
    for of_lab in (lab, dark):
        machine = Machine.objects.create(lab=of_lab, slug="m", name=f"machine of {of_lab.slug}")
        body = report_body()
        Report.objects.create(id=body["id"], machine=machine, body=json.dumps(body).encode())
        interpret(body["id"])
        machine.refresh_from_db()
        made.append(machine)
    return made


@pytest.mark.parametrize(
    ("who", "labs"),
    [("visitor", ["north"]), ("stranger", ["north"]), ("member", ["dark", "north"]), ("superuser", ["dark", "north"])],
)
def test_each_sees_what_is_public_and_what_is_theirs(machines, people, who, labs):
    user = people[who]
    assert list(visible_labs(user).values_list("slug", flat=True)) == labs
    assert sorted(visible_machines(user).values_list("lab__slug", flat=True)) == labs
    assert sorted(visible_reports(user).values_list("machine__lab__slug", flat=True)) == labs


@pytest.mark.parametrize("who", ["visitor", "stranger"])
def test_a_private_machine_is_as_if_it_were_not_there(machines, people, who):
    with pytest.raises(Machine.DoesNotExist) as hidden:
        machine_detail(people[who], "dark", "m")
    with pytest.raises(Machine.DoesNotExist) as absent:
        machine_detail(people[who], "dark", "never")
    assert str(hidden.value) == str(absent.value)


def test_a_member_of_several_labs_sees_each_machine_once(machines, people, lab):
    Membership.objects.create(lab=lab, user=people["member"])
    assert visible_machines(people["member"]).count() == 2


def test_what_is_visible_is_decided_in_one_query(machines, people, django_assert_num_queries):
    for user in people.values():
        with django_assert_num_queries(1):
            assert [machine.lab.name for machine in visible_machines(user)]


def test_the_body_of_a_report_stays_in_the_database(machines, people):
    report = visible_reports(people["superuser"]).first()
    assert "body" in report.get_deferred_fields()


def test_newest_snapshots_of_many_machines_cost_three_queries(lab, machines, django_assert_num_queries):
    for _ in range(3):
        machine = Machine.objects.create(lab=lab, slug=f"m{Machine.objects.count()}", name="m")
        body = report_body(cards=[h100_card(), h100_card(index=1)])
        Report.objects.create(id=body["id"], machine=machine, body=json.dumps(body).encode())
        interpret(body["id"])
    everybody = list(Machine.objects.all())
    with django_assert_num_queries(3):
        found = latest_snapshots(everybody)
        assert len(found) == 5
        assert sum(len(snapshot.cards.all()) for snapshot in found.values()) == 8
        findings = sum(len(snapshot.findings.all()) for snapshot in found.values())
    assert findings == Finding.objects.filter(snapshot__in=found.values()).count() > 0


def test_machines_that_never_reported_cost_nothing(lab, django_assert_num_queries):
    machine = Machine.objects.create(lab=lab, slug="new", name="new")
    with django_assert_num_queries(0):
        assert latest_snapshots([machine]) == {}


def test_what_fits_is_an_answer_and_no_finding(machines, people):
    detail = machine_detail(people["visitor"], "north", "m")
    Finding.objects.create(snapshot=detail.snapshot, rule="r", severity="fits", title="it fits")
    Finding.objects.create(snapshot=detail.snapshot, rule="r", severity="broken", title="it does not")
    detail = machine_detail(people["visitor"], "north", "m")
    assert "it fits" in [answer.title for answer in detail.answers]
    assert "it fits" not in [finding.title for finding in detail.findings]
    assert "it does not" in [finding.title for finding in detail.findings]


def test_a_lab_that_becomes_private_is_gone_at_once(lab, people):
    Lab.objects.filter(pk=lab.pk).update(is_public=False)
    assert not visible_labs(people["visitor"]).exists()
