"""A machine's page leads to until when its parts are supported; the fragment judges it as of today."""

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.urls import reverse

from stackviz.records.labs.models import Membership, Snapshot
from stackviz.records.labs.queries import as_report
from tests.pages.machines.factories import START, h100, make_lab, make_machine, make_report

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def machine():
    machine = make_machine(make_lab())
    make_report(machine, cards=[h100()])
    return machine


def life_of(client, machine, **kwargs):
    return client.get(reverse("machines:life", args=[machine.lab.slug, machine.slug]), **kwargs)


def test_fragment_has_support_dates_and_upgrades(client, machine):
    text = life_of(client, machine, headers=HTMX).content.decode()
    assert "<html" not in text
    for shown in ("535.183.01", "support has ended", "2028-10-31", "Effects of the next upgrade"):
        assert shown in text
    assert "<html" in life_of(client, machine).content.decode()


def test_the_machine_page_leads_there_without_javascript(client, machine):
    text = client.get(machine.get_absolute_url()).content.decode()
    assert f'href="{reverse("machines:life", args=[machine.lab.slug, machine.slug])}"' in text


def test_it_costs_the_same_however_many_cards(client, machine, django_assert_max_num_queries):
    make_report(machine, cards=[h100(index) for index in range(8)], at=START.replace(year=2027))
    cache.clear()
    with django_assert_max_num_queries(10):
        assert life_of(client, machine, headers=HTMX).status_code == 200


def test_unreported_and_private_machines_have_none(client):
    assert life_of(client, make_machine(make_lab())).status_code == 404
    private = make_machine(make_lab("south", is_public=False))
    make_report(private)
    assert life_of(client, private).status_code == 404
    member = User.objects.create_user("m")
    Membership.objects.create(user=member, lab=private.lab)
    client.force_login(member)
    answer = life_of(client, private)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "private, no-store")


def test_a_snapshot_becomes_the_report_it_was(machine):
    snapshot = Snapshot.objects.get()
    report = as_report(snapshot, snapshot.cards.all(), START)
    assert report.facts["torch.version"] == "2.8.0+cu128"
    assert report.absent["rocm.version"].reason == "not_installed"
    assert report.cards[0].facts["compute_capability"] == "9.0"
    assert ("nccl", "2.27.3") in [(found.component, found.version) for found in report.software]
