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
    power = SpecValue.objects.create(
        accelerator=bandwidth.accelerator,
        field="tdp_w",
        value="700",
        unit="W",
        source=sheet_source,
        status="public",
        is_preferred=True,
    )
    return bandwidth, power


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


def test_the_action_asks_what_to_change(client, lone, two):
    text = client.post(VALUES, {"action": "edit_many", "_selected_action": [two[0].pk]}).content.decode()
    assert "1 value is chosen" in text
    assert "errorlist" not in text


def test_a_preview_writes_nothing_and_shows_old_and_new(client, lone, two):
    source = Source.objects.create(key="new", title="New source", url="https://example.org/new", kind="maker")
    answer = edit(client, two, source=source.pk)
    text = answer.content.decode()
    assert f"<ins>{source.title}</ins>" in text
    assert f"<del>{two[0].source.title}</del>" in text
    assert not Proposal.objects.exists()
    confirmed = edit(client, two, source=source.pk, confirm="1", seen=seen_in(answer))
    assert confirmed.status_code == 302
    for value in two:
        value.refresh_from_db()
        assert value.source == source
        newest = value.history.first()
        assert (newest.history_change_reason, newest.history_user) == ("a better source", lone)
    assert set(Proposal.objects.values_list("state", flat=True)) == {"approved"}


def test_the_preview_names_accelerator_and_figure_of_each_row(client, lone, two):
    text = edit(client, two, set_note="on", note="checked").content.decode()
    for figure in ("Memory bandwidth", "Board power"):
        assert re.search(rf"{two[0].accelerator.name}\s*<br>\s*<small>{figure}", text), figure


def test_sent_twice_it_is_done_once(client, lone, two):
    answer = edit(client, two, set_note="on", note="checked")
    posted = {"set_note": "on", "note": "checked", "confirm": "1", "seen": seen_in(answer)}
    assert edit(client, two, **posted).status_code == 302
    assert edit(client, two, **posted).status_code == 200
    assert Proposal.objects.count() == 2


def test_what_changed_since_the_preview_is_shown_again(client, lone, two):
    answer = edit(client, two, set_note="on", note="checked")
    SpecValue.objects.filter(pk=two[0].pk).update(note="meanwhile")
    again = edit(client, two, set_note="on", note="checked", confirm="1", seen=seen_in(answer))
    assert "different by now" in again.content.decode()
    assert not Proposal.objects.exists()


def test_one_value_that_cannot_be_changed_stops_all(client, lone, two):
    answer = edit(client, two, unit="TB/s")
    assert "none is" in answer.content.decode()
    assert 'name="confirm"' not in answer.content.decode()
    forced = edit(client, two, unit="TB/s", confirm="1", seen="x")
    assert forced.status_code == 200
    assert not Proposal.objects.exists()


def test_where_two_are_needed_it_proposes(client, two, settings):
    settings.CURATION_APPROVALS = 2
    client.force_login(person("mira", "Curators"))
    answer = edit(client, two, status="retired")
    assert "Propose 2 changes" in answer.content.decode()
    edit(client, two, status="retired", confirm="1", seen=seen_in(answer))
    assert list(Proposal.objects.values_list("action", "state")) == [("retire", "review")] * 2
    assert SpecValue.objects.filter(pk__in=[value.pk for value in two], status="public").count() == 2


@pytest.mark.parametrize(
    "posted", [{}, {"reason": ""}, {"set_condition": "on", "condition": "x=y"}, {"unit": "furlong"}]
)
def test_what_makes_no_sense_is_refused_beside_its_field(client, lone, two, posted):
    answer = edit(client, two, **posted)
    assert "errorlist" in answer.content.decode()
    assert not Proposal.objects.exists()


def test_values_that_are_not_public_are_saved_with_their_history(client, lone, two):
    SpecValue.objects.filter(pk=two[1].pk).update(status="unreviewed", is_preferred=False)
    answer = edit(client, [two[1]], set_note="on", note="typed in by hand")
    assert (
        edit(client, [two[1]], set_note="on", note="typed in by hand", confirm="1", seen=seen_in(answer)).status_code
        == 302
    )
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
    assert not Proposal.objects.exists()


def test_it_needs_the_form_of_this_site(two):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_superuser("root"))
    assert edit(strict, two, status="retired").status_code == 403


def test_a_unit_changes_under_the_same_source_only_where_somebody_confirms_it(client, lone, two):
    bandwidth, _power = two
    refused = edit(client, [bandwidth], unit="GiB/s").content.decode()
    assert "The figure changes but its source does not." in refused
    assert 'name="confirm"' not in refused
    ticked = {"unit": "GiB/s", "source_confirmed": "on"}
    answer = edit(client, [bandwidth], **ticked)
    assert edit(client, [bandwidth], **ticked, confirm="1", seen=seen_in(answer)).status_code == 302
    bandwidth.refresh_from_db()
    assert bandwidth.unit == "GiB/s"


def test_a_new_source_of_many_values_needs_no_confirmation(client, lone, two):
    source = Source.objects.create(key="new", title="New source", url="https://example.org/new", kind="maker")
    assert "The figure changes" not in edit(client, two, source=source.pk, unit="GiB/s").content.decode()
