"""The events of a lab as Atom: valid, bounded, and of a private lab for its people only."""

from xml.etree import ElementTree as ET

import pytest
from django.contrib.auth.models import User

from stackviz.intake.notices.feed import ENTRIES
from stackviz.intake.notices.models import LabEvent
from stackviz.records.labs.models import Machine, Report
from tests.pages.machines.factories import START, make_lab, make_machine, make_report

pytestmark = pytest.mark.django_db

ATOM = "{http://www.w3.org/2005/Atom}"
FEED = "/labs/north/events.atom"


@pytest.fixture
def lab():
    return make_lab("north")


def note(lab, count=1, title="Torch sees no card", **details):
    """Events of one machine, a report each."""
    machine = Machine.objects.filter(lab=lab).first() or make_machine(lab, "dgx-07")
    plain = {"lab": lab, "machine": machine, "kind": "finding", "happened_at": START}
    plain |= {"details": {"title": title, "severity": "broken", **details}}
    reports = (make_report(machine, software=[]) for _number in range(count))
    return [LabEvent.objects.create(key=str(n), report=report, **plain) for n, report in enumerate(reports)]


def entries(answer):
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("application/atom+xml")
    return ET.fromstring(answer.content).findall(f"{ATOM}entry")


def test_a_public_lab_has_a_feed_for_everybody(client, lab):
    note(lab)
    answer = client.get(FEED)
    (entry,) = entries(answer)
    assert entry.find(f"{ATOM}title").text == "dgx-07: Torch sees no card"
    assert entry.find(f"{ATOM}summary").text == "new finding · broken · 2026-11-20 08:00 UTC"
    assert entry.find(f"{ATOM}link").get("href") == "http://testserver/machines/north/dgx-07/"
    assert entry.find(f"{ATOM}id").text.startswith("urn:uuid:")
    root = ET.fromstring(answer.content)
    assert root.find(f"{ATOM}title").text == "North lab: events"
    assert {link.get("rel"): link.get("href") for link in root.findall(f"{ATOM}link")} == {
        "alternate": "http://testserver/machines/north/",
        "self": f"http://testserver{FEED}",
    }
    assert FEED in client.get("/machines/north/").content.decode()


def test_it_is_there_in_each_language(client, lab):
    note(lab)
    (entry,) = entries(client.get(f"/zh-hans{FEED}"))
    assert "新诊断" in entry.find(f"{ATOM}summary").text
    assert entry.find(f"{ATOM}link").get("href") == "http://testserver/zh-hans/machines/north/dgx-07/"


def test_it_has_the_newest_and_no_more(client, lab):
    events = note(lab, ENTRIES + 5)
    found = entries(client.get(FEED))
    assert len(found) == ENTRIES
    assert len({entry.find(f"{ATOM}id").text for entry in found}) == ENTRIES
    LabEvent.objects.filter(pk=events[-1].pk).update(details={"title": "newest", "severity": "warning"})
    assert entries(client.get(FEED))[0].find(f"{ATOM}title").text == "dgx-07: newest"


def test_what_no_xml_can_hold_is_left_out(client, lab):
    assert entries(client.get(FEED)) == []
    assert client.post(FEED).status_code == 405
    note(lab, title="a\x00b\x1b[31m<script>&")
    (entry,) = entries(client.get(FEED))
    assert entry.find(f"{ATOM}title").text == "dgx-07: ab[31m<script>&"


def test_a_reader_that_has_it_gets_304_until_something_changes(client, lab):
    (event,) = note(lab)
    first = client.get(FEED)
    assert first["Last-Modified"]
    assert first["Cache-Control"] == "public, no-cache"
    same = client.get(FEED, headers={"If-None-Match": first["ETag"]})
    assert (same.status_code, same.content) == (304, b"")
    Machine.objects.update(name="renamed")
    renamed = client.get(FEED, headers={"If-None-Match": first["ETag"]})
    assert entries(renamed)[0].find(f"{ATOM}title").text == "renamed: Torch sees no card"
    Report.objects.filter(pk=event.report_id).update(withdrawal="withdrawn")
    assert entries(client.get(FEED, headers={"If-None-Match": renamed["ETag"]})) == []


@pytest.mark.parametrize(
    ("role", "status"),
    [("", 404), ("stranger", 404), ("viewer", 200), ("member", 200), ("owner", 200), ("superuser", 200)],
)
def test_a_private_lab_has_one_for_its_people(client, lab, role, status):
    type(lab).objects.update(is_public=False)
    note(lab)
    if role:
        user = User.objects.create_user(role, is_superuser=role == "superuser")
        if role in ("viewer", "member", "owner"):
            lab.memberships.create(user=user, role=role)
        client.force_login(user)
    answer = client.get(FEED)
    assert answer.status_code == status
    assert ("Torch sees no card" in answer.content.decode()) == (status == 200)
    if status == 200:
        assert "no-store" in answer["Cache-Control"]


def test_it_costs_two_queries_however_much_happened(client, lab, django_assert_num_queries):
    note(lab, 20)
    client.get(FEED)
    with django_assert_num_queries(2):
        client.get(FEED)
