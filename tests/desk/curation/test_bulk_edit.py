"""Many values are changed at once: seen before, all or none, with history and reason, by those who may."""

import re

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from stackviz.records.catalog.models import Proposal, Source, SpecValue

VALUES = reverse("admin:catalog_specvalue_changelist")


def person(name: str, *groups: str) -> User:
    user = User.objects.create_user(name, is_staff=True)
    user.groups.set(Group.objects.filter(name__in=groups))
    return user


@pytest.fixture
def two(bandwidth, sheet_source):
    """Two public values of one accelerator from one source."""
    plain = {"accelerator": bandwidth.accelerator, "source": sheet_source, "status": "public", "is_preferred": True}
    return bandwidth, SpecValue.objects.create(field="tdp_w", value="700", unit="W", **plain)


@pytest.fixture
def better(db) -> Source:
    return Source.objects.create(key="new", title="New source", url="https://example.org/new", kind="maker")


@pytest.fixture
def lone(client, db, settings):
    """Somebody who may do everything, alone."""
    settings.CURATION_APPROVALS = 1
    user = User.objects.create_superuser("lone")
    client.force_login(user)
    return user


def edit(client, values, **posted):
    chosen = {"action": "edit_many", "_selected_action": [value.pk for value in values]}
    return client.post(VALUES, {**chosen, "begun": "1", "reason": "a better source", **posted})


def seen_in(response) -> str:
    return re.search(r'name="seen" value="(\w+)"', response.content.decode()).group(1)


def test_a_preview_writes_nothing_and_shows_old_and_new(client, lone, two, better):
    begun = client.post(VALUES, {"action": "edit_many", "_selected_action": [two[0].pk]}).content.decode()
    assert ("1 value is chosen" in begun, "errorlist" in begun) == (True, False)
    answer = edit(client, two, source=better.pk)
    text = answer.content.decode()
    assert f"<ins>{better.title}</ins>" in text
    assert f"<del>{two[0].source.title}</del>" in text
    for figure in ("Memory bandwidth", "Board power"):
        assert re.search(rf"{two[0].accelerator.name}\s*<br>\s*<small>{figure}", text), figure
    assert not Proposal.objects.exists()
    posted = {"source": better.pk, "confirm": "1", "seen": seen_in(answer)}
    assert [edit(client, two, **posted).status_code for _twice in range(2)] == [302, 200]
    for value in two:
        value.refresh_from_db()
        assert value.source == better
        newest = value.history.first()
        assert (newest.history_change_reason, newest.history_user) == ("a better source", lone)
    assert list(Proposal.objects.values_list("state", flat=True)) == ["approved", "approved"]


def test_what_changed_since_the_preview_is_shown_again(client, lone, two):
    answer = edit(client, two, set_note="on", note="checked")
    SpecValue.objects.filter(pk=two[0].pk).update(note="meanwhile")
    again = edit(client, two, set_note="on", note="checked", confirm="1", seen=seen_in(answer))
    assert "different by now" in again.content.decode()
    assert not Proposal.objects.exists()


@pytest.mark.parametrize(
    "posted", [{}, {"reason": ""}, {"set_condition": "on", "condition": "x=y"}, {"unit": "furlong"}, {"unit": "TB/s"}]
)
def test_one_value_that_cannot_be_changed_stops_all(client, lone, two, posted):
    text = edit(client, two, **posted).content.decode()
    assert ("errorlist" in text or "none is" in text, 'name="confirm"' in text) == (True, False)
    assert edit(client, two, **posted, confirm="1", seen="x").status_code == 200
    assert not Proposal.objects.exists()


def test_where_two_are_needed_it_proposes(client, two, settings):
    settings.CURATION_APPROVALS = 2
    client.force_login(person("mira", "Curators"))
    answer = edit(client, two, status="retired")
    assert "Propose 2 changes" in answer.content.decode()
    edit(client, two, status="retired", confirm="1", seen=seen_in(answer))
    assert list(Proposal.objects.values_list("action", "state")) == [("retire", "review")] * 2
    assert SpecValue.objects.filter(pk__in=[value.pk for value in two], status="public").count() == 2


def test_values_that_are_not_public_are_saved_with_their_history(client, lone, two):
    SpecValue.objects.filter(pk=two[1].pk).update(status="unreviewed", is_preferred=False)
    posted = {"set_note": "on", "note": "typed in by hand"}
    seen = seen_in(edit(client, [two[1]], **posted))
    assert edit(client, [two[1]], **posted, confirm="1", seen=seen).status_code == 302
    two[1].refresh_from_db()
    assert (two[1].note, two[1].history.first().history_change_reason) == ("typed in by hand", "a better source")
    assert not Proposal.objects.exists()


def test_only_who_may_propose_edits_many(client, two):
    client.force_login(person("noor", "Approvers"))
    assert "What changes" not in edit(client, two, status="retired").content.decode()
    client.force_login(User.objects.create_user("viewer"))
    assert edit(client, two, status="retired").status_code == 302  # to the login of the admin
    client.logout()
    assert edit(client, two, status="retired").status_code == 302
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_superuser("root"))
    assert edit(strict, two, status="retired").status_code == 403
    assert not Proposal.objects.exists()


def test_a_unit_changes_under_its_source_only_where_confirmed(client, lone, two, better):
    bandwidth, _power = two
    refused = edit(client, [bandwidth], unit="GiB/s").content.decode()
    assert ("The figure changes" in refused, 'name="confirm"' in refused) == (True, False)
    assert "The figure changes" not in edit(client, two, source=better.pk, unit="GiB/s").content.decode()
    ticked = {"unit": "GiB/s", "source_confirmed": "on"}
    answer = edit(client, [bandwidth], **ticked)
    assert edit(client, [bandwidth], **ticked, confirm="1", seen=seen_in(answer)).status_code == 302
    bandwidth.refresh_from_db()
    assert bandwidth.unit == "GiB/s"
