"""A pasted dump becomes a machine of a lab: masked, once, by a member, and marked as pasted."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from stackviz.intake.ingest.body import unpack
from stackviz.intake.ingest.from_dump import KEY_NAME
from stackviz.intake.ingest.interpret import interpret
from stackviz.records.labs.models import AgentKey, Lab, Machine, Membership, Report
from tests.pages.diagnose.conftest import CPU_WHEEL, HOSTILE, TWO_MACHINES

ADDRESS = "/diagnose/add/"
SECRETS = f"marie@rack-7:~$ python -m torch.utils.collect_env\n{CPU_WHEEL}\nPATH: /home/marie/env/bin\n"


@pytest.fixture
def lab(db) -> Lab:
    return Lab.objects.create(slug="north", name="North lab", is_public=True)


@pytest.fixture
def member(client, lab, queued):
    user = User.objects.create_user("member", password="x")
    Membership.objects.create(lab=lab, user=user)
    client.force_login(user)
    return client


def add(visitor, text=CPU_WHEEL, **form):
    return visitor.post(ADDRESS, {"text": text, "lab": "north", "name-1": "desk", **form})


def test_the_masked_text_is_shown_before_anything_is_kept(member):
    page = member.post(ADDRESS, {"text": SECRETS})
    assert page.status_code == 200
    assert "marie" not in re.search(r"(?s)<textarea.*?</textarea>", page.content.decode())[0]
    assert "North lab" in page.content.decode()
    assert Report.objects.count() == Machine.objects.count() == AgentKey.objects.count() == 0


def test_pasted_dump_is_masked_and_marked(member, queued, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        answer = add(member, SECRETS)
    report = Report.objects.get()
    assert answer["Location"].startswith(f"/receipts/{report.pk}/")
    assert queued == [str(report.pk)]
    assert b"marie" not in unpack(bytes(report.body), report.encoding)
    assert interpret(report.pk) == "read"
    machine = Machine.objects.get()
    assert (machine.name, machine.lab.slug) == ("desk", "north")
    page = member.get(machine.get_absolute_url()).content.decode()
    assert "pasted dump (collect-env)" in page
    assert "is built without CUDA" in page


def test_the_same_text_twice_is_one_report(member):
    first, second = add(member), add(member)
    assert first["Location"] == second["Location"]
    assert Report.objects.count() == Machine.objects.count() == AgentKey.objects.count() == 1
    add(member, CPU_WHEEL.replace("2.12.0+cpu", "2.12.1+cpu"), **{"name-1": " DESK "})
    assert (Report.objects.count(), Machine.objects.count()) == (2, 1)  # the machine's next report
    key = AgentKey.objects.get()
    assert (key.name, key.created_by.username, key.lab.slug) == (KEY_NAME, "member", "north")
    AgentKey.objects.update(revoked_at=key.created_at)
    add(member, CPU_WHEEL + "\n#")
    assert AgentKey.objects.count() == 2


def test_unnamed_machines_are_left_out(member):
    page = add(member, TWO_MACHINES, **{"name-2": "laptop"})
    assert page.status_code == 200
    assert {machine.name for machine in Machine.objects.all()} == {"desk", "laptop"}
    add(member, TWO_MACHINES + "\n", **{"name-1": "", "name-2": "other"})
    assert Machine.objects.count() == 3


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"name-1": ""}, "Name at least one machine"),
        ({"name-1": " x  y ", "name-2": "X y"}, "Two machines cannot have the same name"),
        ({"lab": "other"}, "Select a valid choice"),
        ({"name-1": "x" * 61}, "at most 60"),
    ],
    ids=["no-name", "same-name", "foreign-lab", "long"],
)
def test_a_form_that_cannot_be_taken_says_why(member, form, says):
    Lab.objects.create(slug="other", name="Other", is_public=True)
    page = add(member, TWO_MACHINES, **form)
    assert page.status_code == 422
    assert says in page.content.decode()
    assert Report.objects.count() == 0


def test_only_members_add_machines_by_the_form_of_this_site(client, lab, member):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.get(username="member"))
    assert add(strict).status_code == 403
    Membership.objects.update(role=Membership.Role.VIEWER)
    assert add(member).status_code == 403
    client.logout()
    assert add(client)["Location"].startswith("/login/")
    client.force_login(User.objects.create_user("guest", password="x"))
    page = add(client)
    assert (page.status_code, "You are not a member" in page.content.decode()) == (403, True)
    assert Report.objects.count() == 0


@pytest.mark.parametrize(
    "text",
    ["", "a diary", "x" * (2 * 1024 * 1024), "\x00", "<nvidia_smi_log><gpu>"],
    ids=["empty", "junk", "big", "nul", "truncated"],
)
def test_what_cannot_be_read_is_refused_in_words(member, text):
    page = add(member, text)
    assert page.status_code in (413, 422)
    assert 'role="alert"' in page.content.decode()
    assert Report.objects.count() == 0


def test_dump_for_a_machine_counts_as_diagnosis(member, settings):
    settings.DIAGNOSES_PER_MINUTE = 2
    answers = [add(member) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [302, 302, 429]
    assert 1 <= int(answers[-1]["Retry-After"]) <= 60


def test_html_in_names_and_dumps_is_text(member):
    page = member.post(
        ADDRESS, {"text": CPU_WHEEL.replace("NVIDIA H100 80GB HBM3", HOSTILE), "lab": "x", "name-1": HOSTILE}
    )
    assert page.status_code == 422
    assert "<script>alert" not in page.content.decode()
    assert "<img src=x" not in page.content.decode()
    add(member, CPU_WHEEL.replace("NVIDIA H100 80GB HBM3", HOSTILE), **{"name-1": "<script>alert(3)"})
    report = Report.objects.get()
    assert interpret(report.pk) == "read"
    assert "<script>alert" not in member.get(report.machine.get_absolute_url()).content.decode()
