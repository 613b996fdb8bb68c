"""Decisions on one host at the same moment, on a real PostgreSQL: published once, and never public in parts."""

from contextlib import suppress
from threading import Barrier, BrokenBarrierError

import pytest
from django.contrib.auth.models import User

from stackviz.records.catalog.models import Accelerator, Vendor
from stackviz.records.cited import decide_host
from stackviz.records.cited.decide_host import PublishRefused, publish_host, withdraw_host, withdraw_proposed_host
from stackviz.records.cited.models import CitedResult, HostProposal
from stackviz.records.hosts.models import Host
from tests.intake.ingest.races import together
from tests.records.cited.test_decide_host import PROPOSED
from tests.records.hosts.factories import add_host, card_fields

MEETING_S = 0.5  # both are there at once within milliseconds, unless one of them waits for the other


@pytest.fixture
def proposal(on_postgres, monkeypatch):
    """A proposal; two who have looked at its state meet before they write a new one, if nothing keeps them apart."""
    vendor = Vendor.objects.create(slug="nvidia", name="NVIDIA")
    sheet = Accelerator.objects.create(slug="nvidia-geforce-rtx-4090", name="RTX 4090", vendor=vendor, kind="gpu")
    host = add_host(vendor, title="A rig", cards=[card_fields(sheet)], state="proposed")
    meeting, write_state = Barrier(2), decide_host._write_state

    def meet(*args):
        try:
            meeting.wait(MEETING_S)
        except BrokenBarrierError:
            meeting.reset()
        write_state(*args)

    monkeypatch.setattr(decide_host, "_write_state", meet)
    return HostProposal.objects.create(host=host, token_digest="a" * 64, results=[PROPOSED])


def curator(name):
    return User.objects.create_superuser(name)


def test_of_two_who_say_yes_at_once_one_publishes(proposal):
    first, second = curator("first"), curator("second")
    seen = [Host.objects.get(), Host.objects.get()]
    answers = together(lambda: publish_host(seen[0], first, "yes"), lambda: publish_host(seen[1], second, "yes"))
    assert sorted(answers) == [False, True]
    assert Host.objects.get().state == "public"
    assert Host.history.filter(state="public").count() == 1
    assert [row.state for row in CitedResult.objects.all()] == ["public"]


@pytest.mark.parametrize("was", ["proposed", "withdrawn"])
def test_a_yes_beside_a_withdrawal_leaves_nothing_public(proposal, was):
    first = curator("first")
    if was == "withdrawn":
        publish_host(Host.objects.get(), first, "yes")
        withdraw_host(Host.objects.get(), first, "the post is gone")
    seen = Host.objects.get()

    def say_yes():
        with suppress(PublishRefused):  # where the withdrawal came first
            publish_host(seen, first, "yes")

    together(say_yes, lambda: withdraw_proposed_host(proposal))
    assert Host.objects.get().state == "withdrawn"
    assert not CitedResult.objects.exclude(state="withdrawn").exists()


def test_a_yes_beside_a_refusal_leaves_nothing_public(proposal):
    first, second = curator("first"), curator("second")
    seen = [Host.objects.get(), Host.objects.get()]
    together(lambda: publish_host(seen[0], first, "yes"), lambda: withdraw_host(seen[1], second, "another card"))
    assert Host.objects.get().state == "withdrawn"
    assert not CitedResult.objects.exclude(state="withdrawn").exists()
