"""A public host and its results become public, and go, together: by each way that leads there, with history."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from stackviz.records.cited.decide_host import PublishRefused, publish_host, withdraw_host, withdraw_proposed_host
from stackviz.records.cited.load import load_cited
from stackviz.records.cited.models import CitedResult, HostProposal
from stackviz.records.hosts.models import Host, HostLoad
from stackviz.web.http.tickets import digest_of, new_token
from tests.records.cited.conftest import LINE, write_csv
from tests.records.cited.test_hosts import HOST as SLUG
from tests.records.cited.test_hosts import OF_HOST
from tests.records.hosts.factories import add_host, card_fields

TOKEN = new_token()
PROPOSED = LINE | {"benchmark": "llama-bench", "source": "host-source", "value": "150.21", "date": "2026-07-01"}


@pytest.fixture
def proposal(rtx_4090):
    host = add_host(rtx_4090.vendor, title="A rig", cards=[card_fields(rtx_4090)], state="proposed")
    return HostProposal.objects.create(host=host, token_digest=digest_of(TOKEN), results=[PROPOSED])


@pytest.fixture
def curator(db):
    return User.objects.create_superuser("curator", password="x")


@pytest.fixture
def desk(client, curator):
    """`desk("host", "publish", row)` presses a button of the admin."""
    client.force_login(curator)

    def press(model, action, row, why="read beside the post"):
        address = reverse({"host": "admin:hosts_host_changelist"}.get(model, "admin:cited_hostproposal_changelist"))
        return client.post(address, {"action": action, "_selected_action": [row.pk], "why": why}, follow=True).text

    return press


def states(host):
    """The state of the host, and those of its results, as they are stored."""
    return Host.objects.get(pk=host.pk).state, [row.state for row in CitedResult.objects.filter(host=host)]


@pytest.mark.parametrize("way", ["host", "proposal"])
def test_both_pages_of_the_admin_publish_host_and_results(proposal, desk, curator, way):
    row = proposal.host if way == "host" else proposal
    assert "1 host decided" in desk(way, "publish", row)
    assert states(proposal.host) == ("public", ["public"])
    records = [proposal.host.history.first(), CitedResult.objects.get().history.first()]
    assert {(item.history_user, item.history_change_reason) for item in records} == {(curator, "read beside the post")}
    assert HostProposal.objects.get().decided_at
    desk("host", "publish", proposal.host)
    assert CitedResult.objects.count() == 1


@pytest.mark.parametrize("way", ["host", "private address", "deletion"])
def test_every_way_to_withdraw_takes_the_results_along(proposal, desk, curator, client, way):
    publish_host(proposal.host, curator, "read")
    if way == "host":
        desk(way, "withdraw", proposal.host, why="the post is gone")
    elif way == "private address":
        Client().post(reverse("diagnose:host", args=[TOKEN]))
    else:
        proposal.delete()  # the admin deletes no host that somebody may still withdraw
        client.post(reverse("admin:hosts_host_delete", args=[proposal.host.pk]), {"post": "yes"})
        assert not Host.objects.exists()
    [result] = CitedResult.objects.all()
    why = {"host": "the post is gone", "private address": "Withdrawn by who published it."}.get(
        way, "Deleted in the admin"
    )
    assert (result.state, result.reason) == ("withdrawn", f"withdrawn with its host: {why}")
    host_record, record = Host.history.filter(state="withdrawn").last(), result.history.first()
    by = None if way == "private address" else curator
    assert {(item.history_user, item.history_change_reason) for item in (host_record, record)} == {(by, why)}


def test_a_refused_host_can_still_be_published(proposal, desk):
    desk("proposal", "refuse", proposal, why="another card")
    assert states(proposal.host) == ("withdrawn", [])
    assert Host.objects.get().reason == "another card"
    desk("host", "publish", proposal.host)
    assert states(proposal.host) == ("public", ["public"])


def test_results_come_back_as_they_were(proposal, curator):
    proposal.results = [PROPOSED, PROPOSED | {"params": "model=Llama 2 7B; test=tg64", "doubt": "copied by hand"}]
    proposal.results.append(PROPOSED | {"params": "model=Llama 2 7B; test=tg32"})
    proposal.save()
    publish_host(proposal.host, curator, "read")
    alone = CitedResult.objects.get(params__test="tg32")
    alone.state, alone.reason = "withdrawn", "measured on battery"
    alone.save()
    withdraw_host(Host.objects.get(), curator, "the post is gone")
    assert states(proposal.host) == ("withdrawn", ["withdrawn"] * 3)
    publish_host(Host.objects.get(), curator, "the post is back")
    rows = CitedResult.objects.order_by("pk").values_list("state", "reason")
    assert list(rows) == [("public", ""), ("doubtful", "copied by hand"), ("withdrawn", "measured on battery")]
    assert CitedResult.objects.first().history.first().history_change_reason == "the post is back"


def test_a_result_whose_sheet_is_gone_comes_back_unmatched(proposal, curator, rtx_4090):
    publish_host(proposal.host, curator, "read")
    withdraw_host(proposal.host, curator, "the post is gone")
    rtx_4090.delete()
    publish_host(Host.objects.get(), curator, "the post is back")
    assert states(proposal.host) == ("public", ["unmatched"])


def test_what_its_proposer_withdrew_no_curator_publishes(proposal, desk, curator):
    withdraw_proposed_host(proposal)
    assert "who proposed it has withdrawn it" in desk("host", "publish", Host.objects.get())
    assert "0 hosts decided" in desk("proposal", "publish", proposal)
    with pytest.raises(PublishRefused):
        publish_host(Host.objects.get(), curator, "read")
    assert states(proposal.host) == ("withdrawn", [])


def test_a_decision_on_a_state_that_has_changed_is_none(proposal, curator):
    seen = Host.objects.get()
    withdraw_host(proposal.host, curator, "another card")
    assert publish_host(seen, curator, "read") is False
    assert withdraw_host(seen, curator, "again") is False
    assert states(proposal.host) == ("withdrawn", [])


def test_a_form_or_an_old_version_changes_no_state(proposal, curator, client):
    publish_host(proposal.host, curator, "read")
    withdraw_host(Host.objects.get(), curator, "the post is gone")
    host = Host.objects.get()
    was_public = host.history.get(state="public")
    fields = {
        "slug": host.slug, "title": host.title, "vendor": host.vendor_id, "seen_on": host.seen_on, "why": "as before",
        "source_url": host.source_url, "source_kind": host.source_kind,
    }  # fmt: skip
    client.force_login(curator)
    client.post(reverse("admin:hosts_host_simple_history", args=[host.pk, was_public.pk]), fields)
    assert host.history.first().history_change_reason == "as before"
    assert states(host) == ("withdrawn", ["withdrawn"])


def test_a_result_of_a_withdrawn_host_is_not_accepted(proposal, desk, curator, client):
    publish_host(proposal.host, curator, "read")
    withdraw_host(proposal.host, curator, "the post is gone")
    chosen = {"action": "accept", "_selected_action": [CitedResult.objects.get().pk], "why": "sound"}
    client.force_login(curator)
    assert (
        "Its host was withdrawn."
        in client.post(reverse("admin:cited_citedresult_changelist"), chosen, follow=True).text
    )
    assert CitedResult.objects.get().state == "withdrawn"


@pytest.fixture
def curated_host(rtx_4090, folder):
    """A host of the curated files with one result, and a way to load them again with these lines."""
    host = add_host(rtx_4090.vendor, slug=SLUG, title="RTX 4090 on a Raspberry Pi", cards=[card_fields(rtx_4090)])

    def load(*lines):
        path = folder([])
        (path / "hosts").mkdir(exist_ok=True)
        write_csv(path / "hosts" / "llama-bench.csv", list(OF_HOST), list(lines))
        HostLoad.objects.create(version=str(HostLoad.objects.count()))
        load_cited(path)

    load(OF_HOST)
    return host, load


def test_no_load_brings_results_of_a_withdrawn_host_back(curated_host, curator):
    host, load = curated_host
    withdraw_host(host, curator, "the post is gone")
    load(OF_HOST, OF_HOST | {"params": "model=Llama 2 7B; quant=Q4_0; test=tg64"})
    assert states(host) == ("withdrawn", ["withdrawn"])
    publish_host(Host.objects.get(), curator, "the post is back")
    assert states(host) == ("public", ["public"])
    assert not CitedResult.objects.get().is_corrected_here
    load(OF_HOST, OF_HOST | {"params": "model=Llama 2 7B; quant=Q4_0; test=tg64"})
    assert states(host) == ("public", ["public", "public"])
