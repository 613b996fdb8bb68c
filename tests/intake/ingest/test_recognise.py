"""A computer whose identity has changed keeps its history on the site, whatever its agent knew of it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from stackviz.intake.ingest.interpret import interpret
from stackviz.records.labs.models import Lab, Machine, Report
from tests.report.format.reports import h100_card, report_body, sha256


def by_cards(*names, identity=None, recognised_by="cards", **facts):
    """A report of a container with these cards; `recognised_by` None: of an older agent."""
    told = {"machine.container": "docker", **facts}
    if recognised_by:
        told |= {"machine.recognised_by": recognised_by, "machine.identity_by_cards": sha256("".join(names))}
    cards = [h100_card(index=index, uuid_hash=sha256(name)) for index, name in enumerate(names)]
    return report_body(
        machine={"identity": identity or sha256("".join(names)), "name": "node"}, facts=told, cards=cards, results=[]
    )


@pytest.fixture
def read(post):
    """Post a report and have it read."""

    def run(body):
        response = post(body)
        assert response.status_code == 202, response.content
        interpret(response.json()["id"])

    return run


EIGHT = [f"card {number}" for number in range(8)]


def shown():
    return Machine.objects.filter(merged_into__isnull=True)


@pytest.mark.parametrize("recognised_by", ["cards", None])
@pytest.mark.parametrize("cards", [EIGHT[:-1], EIGHT[:1], [*EIGHT[:-1], "a new one"]])
def test_the_machine_with_these_cards_gets_the_report(read, recognised_by, cards):
    read(by_cards(*EIGHT, recognised_by=recognised_by))
    read(by_cards(*cards, recognised_by=recognised_by))
    (machine,) = shown()
    assert Report.objects.filter(machine=machine).count() == 2
    assert machine.latest_snapshot.cards.count() == len(cards)


def test_half_of_the_cards_are_not_enough(read):
    read(by_cards("a", "b"))
    read(by_cards("b", "c"))
    assert shown().count() == 2


def test_a_machine_that_its_system_tells_is_not_another_one_with_its_cards(read):
    """Cards that were put into another computer."""
    read(by_cards("a", "b", identity=sha256("first"), recognised_by="system"))
    read(by_cards("a", "b", identity=sha256("second"), recognised_by="system"))
    assert shown().count() == 2


def test_a_container_that_learns_its_hosts_id_keeps_its_history(read):
    read(by_cards("a", "b", recognised_by=None))
    read(by_cards("a", "b", identity=sha256("host"), recognised_by="host"))
    read(by_cards("b", identity=sha256("host"), recognised_by="host"))
    (machine,) = shown()
    assert Report.objects.filter(machine=machine).count() == 3


def test_a_key_of_one_machine_is_taken_after_a_card_is_lost(read, sender_with, lab):
    read(by_cards(*EIGHT))
    machine = Machine.objects.get()
    post = sender_with(lab=lab, machine=machine)
    assert post(by_cards(*EIGHT[1:])).status_code == 202
    assert post(by_cards("of another")).status_code == 403


def test_a_machine_of_another_lab_is_none_of_this_one(read, sender_with):
    read(by_cards(*EIGHT))
    other = sender_with(lab=Lab.objects.create(slug="south", name="South lab", is_public=True))
    assert other(by_cards(*EIGHT[1:])).status_code == 202
    assert sorted(shown().values_list("lab__slug", flat=True)) == ["north", "south"]


def test_a_new_identity_costs_two_queries_more(read, post):
    read(by_cards(*EIGHT))
    with CaptureQueriesContext(connection) as without_cards:
        post(by_cards("x", identity=sha256("one"), recognised_by="board") | {"cards": [], "facts": {}})
    with CaptureQueriesContext(connection) as with_cards:
        post(by_cards("x", "y"))
    assert len(with_cards) == len(without_cards) + 2
