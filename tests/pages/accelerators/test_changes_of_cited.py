"""Cited results in the public change log: who changed which, why, from what to what, and a link that works."""

import json
import xml.etree.ElementTree as ET

import pytest
from django.contrib.auth.models import User

from stackviz.pages.accelerators.changes import BULK, CITED, LogFilter, read_log
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.load import load_cited
from stackviz.records.cited.models import CitedLoad, CitedResult
from stackviz.records.cited.words import result_address
from tests.records.cited.conftest import LINE, OTHER, folder, rtx_4090

__all__ = ["folder", "rtx_4090"]


@pytest.fixture
def mira(db) -> User:
    return User.objects.create_user("mira", first_name="Mira", last_name="Okonkwo")


@pytest.fixture
def result(rtx_4090, folder) -> CitedResult:
    load_cited(folder())
    return CitedResult.objects.get(value="189.05")


def save(row: CitedResult, why: str, user: User | None = None, **changes: object) -> CitedResult:
    for name, value in changes.items():
        setattr(row, name, value)
    row.set_change_reason(why)
    row._history_user = user
    row.save()
    return row


def entries(**chosen):
    """Of cited results only, newest first."""
    return read_log(LogFilter(**{"field": CITED, **chosen})).entries


def test_a_correction_says_who_when_what_and_why(result, mira):
    save(result, "read again", mira, value="190")
    entry = entries()[0]
    assert (entry.what, entry.old, entry.new) == ("changed", "189.05 token/s", "190 token/s")
    assert (entry.who, entry.reason) == ("Mira Okonkwo", "read again")
    assert (entry.accelerator, entry.slug) == ("NVIDIA GeForce RTX 4090", "nvidia-geforce-rtx-4090")
    assert (entry.title, entry.condition) == ("llama-bench", "tg128 · Llama 2 7B · Q4_0")
    assert (entry.source_url, entry.url) == (result.source.url, result_address(result))


@pytest.mark.parametrize(
    ("steps", "what", "old", "new"),
    [
        ([("withdrawn", "taken back")], "withdrawn", "189.05 token/s", ""),
        ([("doubtful", "above the peak")], "doubted", "", "189.05 token/s"),
        ([("withdrawn", "taken back"), ("public", "confirmed")], "accepted", "", "189.05 token/s"),
        ([("doubtful", "above the peak"), ("public", "it ran above its clock")], "accepted", "", "189.05 token/s"),
    ],
)
def test_a_decision_is_an_entry_of_its_kind(result, steps, what, old, new):
    for state, reason in steps:
        save(result, reason, state=state, reason=reason)
    entry = entries()[0]
    assert (entry.what, entry.reason) == (what, steps[-1][1])
    assert (entry.new, entry.old if what == "withdrawn" else "") == (new, old)


def test_a_page_links_to_the_result_and_files_name_its_address(client, result, mira):
    assert b"190 token/s" not in client.get("/changes/").content
    save(result, "read again", mira, value="190")
    assert b"190 token/s" in client.get("/changes/").content  # although the page is cached
    address = result_address(result)
    page = client.get("/changes/?field=cited").content.decode()
    assert f'<a href="{address}">' in page
    assert client.get(address).status_code == 200
    data = json.loads(client.get("/changes/?field=cited&format=json").content)
    assert data["entries"][0]["url"] == address
    header, first = client.get("/changes/?field=cited&format=csv").content.decode().splitlines()[:2]
    assert (header.rpartition(",")[2], first.rpartition(",")[2]) == ("url", address)
    feed = ET.fromstring(client.get("/changes/feed/?field=cited").content)
    assert feed.findtext("channel/item/link").endswith(address)


def test_results_without_a_public_sheet_are_named_or_left_out(result, rtx_4090):
    other = CitedResult.objects.get(value=OTHER["value"])
    save(result, "not this card", state="unmatched", accelerator=None, reported_name="RTX 4090 Laptop")
    entry = entries()[0]
    assert (entry.accelerator, entry.slug) == ("RTX 4090 Laptop", "")
    assert "no longer matched to a spec sheet" in entry.details
    result.delete()
    entry = entries()[0]
    assert (entry.what, entry.old, entry.new, entry.url) == ("removed", "189.05 token/s", "", "")
    before = len(entries())
    save(other, "read again", value="190")
    assert len(entries()) == before + 1
    Accelerator.objects.filter(pk=rtx_4090.pk).update(is_public=False)
    assert not [entry for entry in entries() if "190" in entry.new]


def test_the_log_is_filtered_by_accelerator_vendor_and_kind(result, rtx_4090):
    other = Accelerator.objects.create(slug="nvidia-l4", name="NVIDIA L4", vendor=rtx_4090.vendor, kind="gpu")
    save(result, "read again", value="190")
    moved = save(CitedResult.objects.get(value=OTHER["value"]), "another card", accelerator=other)
    assert [entry.url for entry in entries(accelerator="nvidia-l4")] == [result_address(moved)]
    assert len(entries(vendor="nvidia")) == 2
    assert not [entry for entry in entries(field="memory_bandwidth_gb_s") if entry.url]


def test_a_load_of_files_is_one_entry_with_counts(result, folder):
    load_cited(folder([LINE | {"value": "190"}, LINE | {"value": "170", "date": "2026-01-01"}]))
    latest, first = entries()
    assert (first.counts, first.what, first.url) == (("2 cited results added",), "loaded", "")
    assert latest.counts == ("1 cited result added", "1 cited result changed", "1 cited result removed")
    assert latest.reason == f"version {CitedLoad.latest_version()[:12]}"
    assert not entries(accelerator="nvidia-geforce-rtx-4090")


def test_many_at_once_for_one_reason_are_one_entry(client, rtx_4090, folder, mira):
    load_cited(folder([LINE | {"note": f"run {number}"} for number in range(BULK)]))
    for row in CitedResult.objects.all():
        save(row, "the author took them back", mira, state="withdrawn", reason="taken back")
    entry = entries()[0]
    assert (entry.counts, entry.who) == ((f"{BULK} cited results withdrawn",), "Mira Okonkwo")
    assert len(read_log(LogFilter(field=CITED, each=True)).entries) == BULK + 1
    assert "each=1" in client.get("/changes/?field=cited").content.decode()


def test_the_log_costs_the_same_for_many_results(result, rtx_4090, folder, django_assert_max_num_queries):
    for number in range(60):
        save(result, f"reason {number}", value=str(200 + number))
    with django_assert_max_num_queries(13):
        log = read_log(LogFilter())
    assert len(log.entries) == 50
    older = read_log(LogFilter(field=CITED), log.next_place)
    assert [entry.new for entry in older.entries if entry.url][-1] == "200 token/s"
