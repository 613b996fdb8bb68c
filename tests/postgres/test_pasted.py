"""Many at once on PostgreSQL: a private link is saved once, a pasted machine is added once."""

from collections import Counter
from threading import BoundedSemaphore

from django.contrib.auth.models import User
from django.test import Client

from stackviz.pages.diagnose import links
from stackviz.pages.diagnose.models import PrivateLink
from stackviz.records.labs.models import AgentKey, Lab, Machine, Membership, Report
from stackviz.web.http.at_once import COSTLY
from tests.intake.ingest.races import together
from tests.pages.diagnose.conftest import CPU_WHEEL

AT_ONCE = 6


def test_one_form_sent_by_many_at_once_saves_one_text():
    ticket = links.new_ticket()
    saved = together(*[lambda: links.save_link(ticket, "the text", "collect-env")] * AT_ONCE)
    assert set(saved) == {ticket}
    assert PrivateLink.objects.count() == 1


def test_concurrent_deletion_removes_text_once():
    ticket = links.save_link(links.new_ticket(), "the text", "collect-env")
    deleted = together(
        *[lambda: links.delete_link(ticket.token, ticket.code)] * (AT_ONCE - 1), lambda: links.delete_expired() == 0
    )
    assert deleted == [True] * AT_ONCE
    assert PrivateLink.objects.count() == 0


def test_same_dump_added_concurrently_is_one_report(monkeypatch):
    lab = Lab.objects.create(slug="north", name="North", is_public=True)
    user = User.objects.create_user("member", password="x")
    Membership.objects.create(lab=lab, user=user)

    def add() -> int:
        visitor = Client()
        visitor.force_login(user)
        return visitor.post("/diagnose/add/", {"text": CPU_WHEEL, "lab": "north", "name-1": "desk"}).status_code

    monkeypatch.setattr(COSTLY, "_free", BoundedSemaphore(AT_ONCE))  # as if each came to a process of its own
    assert Counter(together(*[add] * AT_ONCE)) == {302: AT_ONCE}
    assert (Report.objects.count(), Machine.objects.count(), AgentKey.objects.count()) == (1, 1, 1)
