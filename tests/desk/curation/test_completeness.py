"""Catalogue completeness: what each cell says, what rows and columns come to, the page and the file."""

import csv
import io
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from stackviz.desk.curation.completeness import COUNTED, read_matrix, remaining
from stackviz.records.catalog.asked_for import most_requested
from stackviz.records.catalog.fields import FIELDS, HEADLINES
from stackviz.records.catalog.models import Accelerator, Source, SpecValue, Vendor

PAGE = "/admin/catalog/completeness/"


@pytest.fixture
def desk(client, db):
    client.force_login(User.objects.create_superuser("mira", "mira@example.org", "secret"))
    return client


@pytest.fixture
def second_source(db) -> Source:
    return Source.objects.create(key="press", title="Press", url="https://press.example/", kind="press")


def cell_of(accelerator, field="memory_bandwidth_gb_s", now=None):
    rows = Accelerator.objects.filter(pk=accelerator.pk)
    return read_matrix(rows, [FIELDS[field]], now or timezone.now()).devices[0].cells[0]


def again(value: SpecValue, **changes) -> SpecValue:
    """Another row that says the same."""
    value = SpecValue.objects.get(pk=value.pk)
    value.pk, value.is_preferred = None, False
    for name, changed in changes.items():
        setattr(value, name, changed)
    value.save(force_insert=True)
    return value


# --- what a cell says ---


def test_a_second_public_source_makes_a_value_sound(bandwidth, card, second_source):
    def counted():
        cell = cell_of(card)
        return cell.state, cell.values, cell.sources, cell.waiting

    assert counted() == ("one-source", 1, 1, 0)
    again(bandwidth)  # of the same source
    assert counted() == ("one-source", 2, 1, 0)
    draft = again(bandwidth, source=second_source, status="draft")
    assert counted() == ("one-source", 2, 1, 1)
    SpecValue.objects.filter(pk=draft.pk).update(status="public")
    assert counted() == ("sound", 3, 2, 0)


def test_unstated_is_missing_or_not_applicable(bandwidth, card):
    assert cell_of(card, "tdp_w").state == "missing"
    assert cell_of(card, "metal_gpu_family").state == "not-applicable"
    draft = {"status": "unreviewed", "said_by": "a friend"}
    SpecValue.objects.create(accelerator=card, field="tdp_w", value="300", unit="W", **draft)
    assert cell_of(card, "tdp_w").state == "unreviewed"
    SpecValue.objects.filter(pk=bandwidth.pk).update(status="retired", is_preferred=False)
    assert (cell_of(card).state, cell_of(card).values, cell_of(card).waiting) == ("missing", 0, 0)


def test_a_value_is_old_two_years_after_its_newest_check(bandwidth, card):
    now = timezone.now()
    for checked, seen, state in (
        (None, 729, "one-source"),
        (None, 731, "old"),
        (-800, 0, "old"),
        (-10, 700, "one-source"),
    ):
        if checked:
            SpecValue.objects.filter(pk=bandwidth.pk).update(checked_at=now + timedelta(days=checked))
        assert cell_of(card, now=now + timedelta(days=seen)).state == state, (checked, seen)


def test_names_are_not_counted_as_values():
    names = {field.name for field in COUNTED}
    assert not names & {"vendor", "nvml_name", "reported_name"}
    assert COUNTED[: len(HEADLINES)] == HEADLINES


# --- what rows and columns come to ---


def test_rows_and_columns_are_counted(bandwidth, card, second_source):
    again(bandwidth, source=second_source)
    Accelerator.objects.create(slug="acme-two", name="Acme Two", vendor=card.vendor, kind="gpu")
    fields = [FIELDS["memory_bandwidth_gb_s"], FIELDS["tdp_w"], FIELDS["metal_gpu_family"]]
    matrix = read_matrix(Accelerator.objects.order_by("name"), fields, timezone.now())
    one, two = (device.tally for device in matrix.devices)
    assert (one.values, one.share, one.missing) == (2, "1/2", 1)
    assert (two.values, two.share, two.missing) == (0, "0/2", 2)
    assert [column.share for column in matrix.columns()] == ["1/2", "0/2", "0/0"]
    assert (matrix.total().values, matrix.total().missing) == (2, 3)


# --- the most asked for ---


def test_the_most_asked_for_are_the_files_first_fifty(tmp_path):
    assert most_requested(tmp_path) == ()
    lines = ["device,why", *(f"card-{number},asked" for number in range(60)), "", "card-1,again"]
    (tmp_path / "asked_for.csv").write_text("\n".join(lines))
    assert most_requested(tmp_path) == tuple(f"card-{number}" for number in range(50))
    (tmp_path / "asked_for.csv").write_text("")
    assert most_requested(tmp_path) == ()


def test_requested_gaps_are_headline_fields(bandwidth, card):
    matrix = read_matrix(Accelerator.objects.all(), HEADLINES, timezone.now())
    (left,) = remaining(matrix, ["acme-one", "never-heard-of"])
    assert left.one_source == ("Memory bandwidth",)
    assert "Board power" in left.missing
    assert not left.is_done


# --- the page ---


def test_the_page_shows_the_count_of_each_accelerator_and_field(desk, bandwidth, card):
    Accelerator.objects.create(slug="secret", name="Secret", vendor=card.vendor, kind="gpu", is_public=False)
    page = desk.get(PAGE).content.decode()
    for text in ("Acme One", 'title="one source only, 1 values from 1 sources, checked', "0/1"):
        assert text in page
    assert "Secret" not in page
    assert "Secret" in desk.get(f"{PAGE}?only=hidden").content.decode()
    first = desk.get("/admin/").content.decode()
    assert (PAGE in first, "/admin/labs/card/names/" in first) == (True, True)


KNOWN = ["vendor=acme", "fields=rates", "fields=all", "state=missing", "only=asked", "only=hidden", "page=7"]
UNKNOWN = ["vendor=nobody", "fields=colour", "state=perfect", "only=mine", "vendor=%00x"]


@pytest.mark.parametrize("query", [*KNOWN, *UNKNOWN])
def test_the_page_is_filtered_and_notes_unknown_filters(desk, bandwidth, query):
    answer = desk.get(f"{PAGE}?{query}")
    assert (answer.status_code, b"note warning" in answer.content) == (200, query in UNKNOWN)
    for state, is_listed in (("one-source", True), ("old", False)):
        assert ("Acme One" in desk.get(f"{PAGE}?state={state}").content.decode()) is is_listed


def test_the_file_has_a_line_for_each_cell(desk, bandwidth, card):
    Vendor.objects.create(slug="none", name="None")
    rows = list(csv.DictReader(io.StringIO(desk.get(f"{PAGE}?fields=memory&format=csv").content.decode())))
    found = {row["field"]: row for row in rows}
    assert found["memory_bandwidth_gb_s"] | {"checked": ""} == {
        "device": "acme-one", "name": "Acme One", "vendor": "acme", "field": "memory_bandwidth_gb_s", "state": "one-source",
        "values": "1", "sources": "1", "not_public": "0", "checked": "",
    }  # fmt: skip
    assert found["memory_gb"]["state"] == "missing"
    assert found["gpu_memory_limit_mb"]["state"] == "not-applicable"


def test_who_may_not_see_values_does_not_see_the_page(client, db):
    assert client.get(PAGE).status_code == 302
    clerk = User.objects.create_user("clerk", is_staff=True)
    client.force_login(clerk)
    assert client.get(PAGE).status_code == 403
    assert PAGE not in client.get("/admin/").content.decode()
    clerk.user_permissions.add(Permission.objects.get(codename="view_specvalue"))
    assert client.get(PAGE).status_code == 200


def test_requested_accelerators_list_their_gaps(desk, bandwidth, monkeypatch, tmp_path):
    (tmp_path / "asked_for.csv").write_text("device\nacme-one\n")
    monkeypatch.setattr(most_requested, "__defaults__", (tmp_path,))
    page = desk.get(PAGE).content.decode()
    assert "<td>Memory bandwidth</td>" in page
