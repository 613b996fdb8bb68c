"""A frozen address shows figures, machines and stacks of its moment for ever, and says what it cannot."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from stackviz.pages.compare.subjects import MOST_NAMED
from stackviz.pages.compare.views import citations
from stackviz.records.catalog.models import Accelerator, CatalogueEdition, SpecValue
from stackviz.records.labs.models import Report
from stackviz.records.stacks.models import Component, Placement, Stack
from stackviz.records.stacks.past import described_columns_at, public_stacks_at
from stackviz.records.stacks.queries import described_columns, public_stacks
from stackviz.web.http.address import write_moment
from tests.pages.machines.factories import (
    DGX_FACTS,
    START,
    days,
    gemm,
    h100,
    make_lab,
    make_machine,
    make_report,
    warning,
)

URL = "/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40"


@pytest.fixture(scope="module")
def curated(small_catalogue):
    """A dozen sheets are enough here, for the fixtures of this folder too."""


def bandwidth(response) -> list[str]:
    lines = response.context["comparison"].sheets.rows
    (line,) = [line for line in lines if line.row.field == "memory_bandwidth_gb_s"]
    return [cell.text for cell in line.cells]


@pytest.fixture
def corrected(curated, db) -> str:
    """The moment before the bandwidth of the M3 Max was corrected."""
    before = write_moment(timezone.now())
    value = SpecValue.objects.get(accelerator__slug="apple-m3-max-40", field="memory_bandwidth_gb_s", is_preferred=True)
    value.value = "411"
    value.save()
    return before


def test_frozen_comparison_is_entirely_of_its_moment(client, corrected):
    now, frozen = client.get(URL), client.get(f"{URL}&at={corrected}")
    assert bandwidth(now) == ["3,350", "411"]
    assert bandwidth(frozen) == ["3,350", "400"]
    assert f'datetime="{corrected}"' in frozen.content.decode()
    ridge = [
        next(line for line in page.context["comparison"].sheets.rows if line.row.field == "ridge-point-fp32")
        for page in (frozen, now)
    ]
    assert ridge[0].cells[1].text != ridge[1].cells[1].text
    tiles = {tile.title: tile for tile in frozen.context["comparison"].tiles}
    assert "400 GB/s" in [line.figure for line in tiles["Memory bandwidth"].lines]
    assert not tiles.keys() & {"Decode rate", "Cited results, like for like"}
    assert client.get(f"{URL}&at=2020-01-01").status_code == 200  # before there was a catalogue


def test_citation_address_survives_corrections(client, curated, db):
    page = client.get(URL)
    address = page.context["about"].frozen
    SpecValue.objects.filter(accelerator__slug="apple-m3-max-40", field="memory_bandwidth_gb_s").first().delete()
    CatalogueEdition.renew()
    cache.clear()
    again = client.get(address)
    now, then = (page.context["comparison"].sheets.rows for page in (page, again))
    dated = [line.cells for line in now if line.row.field != "nvidia_driver"]  # the tables of drivers keep no past
    assert dated == [line.cells for line in then]
    assert again.context["about"].frozen == address


MIXED = "/compare/?a=machine:north/dgx-07&a=nvidia-h100-sxm5-80gb&a=stack:apple-metal"
FASTER = gemm("bf16", [0.00122] * 8)


def frozen_file(client, at: str) -> dict:
    return client.get(f"{MIXED}&at={at}&format=json").json()


def reported(data: dict, title: str) -> str:
    (row,) = [row for row in data["reported"] if row["title"] == title]
    return row["cells"][0]["text"]


def rate(data: dict) -> float:
    return data["measured"][0]["cells"][0]["rate_si"]


def newer_report(dgx, **when):
    """A report that arrives now, of a newer torch and a faster run, taken at `at` or now."""
    made = make_report(dgx, facts={**DGX_FACTS, "torch.version": "2.9.0"}, results=[FASTER], **when)
    Report.objects.filter(pk=made.pk).update(received_at=timezone.now())
    cache.clear()
    return made


def test_the_frozen_address_names_every_subject(client, dgx):
    page = client.get(MIXED)
    frozen = page.context["about"].frozen
    assert client.get(f"{MIXED}&format=json").json()["frozen_address"].startswith(frozen.partition("&at=")[0])
    again = client.get(frozen).context["comparison"]
    assert [head.name for head in again.heads] == [head.name for head in page.context["comparison"].heads]
    assert "{dgx-07 vs. H100 SXM5 80GB and Apple Metal on macOS}" in page.context["citations"][0].text
    assert 'id="cite"' in client.get("/compare/?a=machine:north/dgx-07").content.decode()


@pytest.mark.parametrize("taken", [days(2), days(-2)])
def test_a_report_that_arrived_later_is_not_in_it(client, dgx, taken):
    """Also one that was taken before: an agent sends what it could not deliver."""
    at = write_moment(timezone.now())
    before = frozen_file(client, at)
    newer_report(dgx, at=START + taken)
    assert frozen_file(client, at) == before
    assert (reported(before, "PyTorch"), rate(before)) == ("2.8.0+cu128", pytest.approx(2 * 8192**3 / 0.00141))
    now = frozen_file(client, write_moment(timezone.now()))
    assert rate(now) == pytest.approx(2 * 8192**3 / (0.00122 if taken > days(0) else 0.00141))


def test_before_its_first_report_a_machine_has_none(client, dgx):
    page = client.get(f"{MIXED}&at=2026-11-19")
    comparison = page.context["comparison"]
    assert [head.name for head in comparison.machines] == ["machine:north/dgx-07"]
    assert (comparison.probed, comparison.measured.rows) == ((), ())
    assert "No report yet." in page.content.decode()


def test_the_share_of_the_peak_is_that_of_then(client, dgx):
    before = write_moment(timezone.now())
    of_h100 = SpecValue.objects.filter(accelerator__slug="nvidia-h100-sxm5-80gb", field="bf16_tensor_tflops")
    value = of_h100.get(condition__contains="dense", is_preferred=True)
    value.value = "1978.8"
    value.save()
    cell = frozen_file(client, before)["measured"][0]["cells"][0]
    assert cell["share_of_peak"] == pytest.approx(0.788, abs=0.001)
    now = client.get(f"{MIXED}&format=json").json()["measured"][0]["cells"][0]
    assert now["share_of_peak"] == pytest.approx(0.394, abs=0.001)


def test_a_withdrawn_report_leaves_what_is_frozen(client, dgx):
    second = newer_report(dgx, at=START + days(1))
    at = write_moment(timezone.now())
    assert reported(frozen_file(client, at), "PyTorch") == "2.9.0"
    Report.objects.filter(pk=second.pk).update(withdrawal="withdrawn")
    data = frozen_file(client, at)
    assert reported(data, "PyTorch") == "2.8.0+cu128"
    assert "reports that their lab has withdrawn since" in data["left_out"]


def test_findings_are_judged_anew_and_left_out(client, lab):
    machine = make_machine(lab, "judged")
    make_report(machine, facts=DGX_FACTS, cards=[h100()], findings=[warning()])
    address = "/compare/?a=machine:north/judged&a=stack:nvidia-cuda"
    assert client.get(address).context["comparison"].faults
    page = client.get(f"{address}&at={write_moment(timezone.now())}")
    assert page.context["comparison"].faults == ()
    assert "findings: the rules of today judge reports anew" in page.content.decode()


def test_a_private_machine_of_the_past_is_unknown_to_others(client, curated, db):
    make_report(make_machine(make_lab("south", is_public=False), "sealed"), facts=DGX_FACTS)
    at = write_moment(timezone.now())
    hidden, missing = (client.get(f"/compare/?a=machine:south/{name}&at={at}") for name in ("sealed", "nobody"))
    assert (hidden.status_code, missing.status_code) == (404, 404)
    said = str(missing.context["notes"][0])
    assert str(hidden.context["notes"][0]) == said.replace("nobody", "sealed") != ""
    mixed = client.get(f"/compare/?a=machine:south/sealed&a=stack:apple-metal&at={at}")
    assert "sealed" not in mixed.context["heading"]


def test_a_stack_is_as_it_was_described(client, curated, db):
    address = "/compare/?a=stack:apple-metal&a=stack:nvidia-cuda"
    at = write_moment(timezone.now())
    before = client.get(f"{address}&at={at}&format=json").json()["stacks"]
    component = Component.objects.get(slug="mpsgraph")
    component.name = "Renamed graph"
    component.save()
    Placement.objects.get(component__slug="cudnn", stack__slug="nvidia-cuda").delete()
    cache.clear()
    assert client.get(f"{address}&at={at}&format=json").json()["stacks"] == before
    assert "MPSGraph" in str(before)
    assert "cudnn" in str(before)
    for form in ("svg", "words"):
        assert "Renamed graph" not in client.get(f"{address}&at={at}&format={form}").content.decode()
        assert "Renamed graph" in client.get(f"{address}&format={form}").content.decode()
    now = client.get(f"{address}&at={write_moment(timezone.now())}&format=json").json()["stacks"]
    assert "Renamed graph" in str(now)
    assert "'component': 'cudnn'" not in str(now)


def test_a_stack_that_is_private_today_has_no_public_past(client, curated, db):
    at = write_moment(timezone.now())
    address = f"/compare/?a=stack:apple-metal&a=stack:nvidia-cuda&at={at}"
    Stack.objects.get(slug="apple-metal").delete()
    assert "Apple Metal" in str(client.get(f"{address}&format=json").json()["stacks"])  # removed, never hidden
    stack = Stack.objects.get(slug="nvidia-cuda")
    stack.is_public = False
    stack.save()
    cache.clear()
    page = client.get(address)
    assert [str(note) for note in page.context["notes"]] == [
        "“stack:nvidia-cuda” was public at this moment and is not any more; it is left out."
    ]
    shown = client.get(f"{address}&format=json").json()
    assert "cudnn" not in str(shown)
    of_sheets = client.get(f"/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40&at={at}&format=json").json()
    assert stack.name not in str(of_sheets["stacks"])
    never = client.get(f"/compare/?a=stack:nvidia-cuda&a=stack:apple-metal&at={write_moment(timezone.now())}")
    assert "Unknown subject “stack:nvidia-cuda”" in str(never.context["notes"][0])


def test_a_stack_that_was_hidden_and_then_removed_stays_hidden(client, curated, db):
    at = write_moment(timezone.now())
    stack = Stack.objects.get(slug="nvidia-cuda")
    stack.is_public = False
    stack.save()
    stack.delete()
    cache.clear()
    page = client.get(f"/compare/?a=stack:nvidia-cuda&a=stack:apple-metal&at={at}")
    assert "was public at this moment and is not any more" in str(page.context["notes"][0])


def test_figures_withdrawn_since_are_shown_and_named(client, curated, db):
    at = write_moment(timezone.now())
    address = f"/compare/?a=nvidia-t4&a=nvidia-h100-sxm5-80gb&at={at}"
    assert client.get(address).context["notes"] == ()
    values = SpecValue.objects.filter(accelerator__slug="nvidia-t4", status="public", is_preferred=True)
    retire(values.get(field="tdp_w"), "the sheet of another card")
    (note,) = client.get(address).context["notes"]
    assert "T4, Board power: 70 W was withdrawn since (the sheet of another card)" in str(note)
    assert "70" in client.get(address).content.decode()
    assert client.get(f"/compare/?a=nvidia-t4&at={write_moment(timezone.now())}").context["notes"] == ()
    for value in values[: MOST_NAMED + 1]:
        retire(value)
    notes = client.get(address).context["notes"]
    assert len(notes) == MOST_NAMED + 1
    assert str(notes[-1]).startswith("2 more figures were withdrawn since")


def retire(value, reason=""):
    value.status, value.is_preferred = "retired", False
    value.set_change_reason(reason)
    value.save()
    cache.clear()


def test_the_described_columns_of_now_are_those_of_their_history(curated, db):
    """But for what has no history: calls, and what releases need."""
    slugs = {stack.slug for stack in public_stacks()}
    assert [stack.slug for stack in public_stacks_at(timezone.now())] == [stack.slug for stack in public_stacks()]
    now, then = described_columns(slugs), described_columns_at(slugs, timezone.now())
    assert then.keys() == now.keys()
    for slug, column in then.items():
        boxes = [replace(box, requires=None, calls=()) for box in now[slug].boxes]
        assert list(column.boxes) == boxes


@pytest.mark.parametrize(
    "at", ["tomorrow", "2999-01-01", "2026-02-31", "0001-01-01T00:00:00+14:00", "1" * 5000, "\x00"]
)
def test_invalid_moment_shows_the_present(client, curated, db, at):
    page = client.get(URL, {"a": ["nvidia-h100-sxm5-80gb", "apple-m3-max-40"], "at": at})
    assert page.status_code == 200
    assert "is not a past moment" in page.content.decode()


@pytest.mark.parametrize("count", [2, 5])
def test_the_past_costs_a_fixed_number_of_queries(client, curated, db, count, django_assert_num_queries):
    slugs = ["nvidia-h100-sxm5-80gb", "apple-m3-max-40", "nvidia-t4", "amd-mi300x", "nvidia-geforce-rtx-4090"][:count]
    query = "&".join(f"a={slug}" for slug in slugs)
    moment = write_moment(timezone.now() - timedelta(seconds=0))
    client.get(f"/compare/?{query}")  # what is public and the described stacks are read from now on
    # two editions; accelerators, values and sources of then, and which were retired; stacks and which are hidden, twice,
    # placements, components, counterparts and unfilled roles of then, the sources of the last three, and prices
    with django_assert_num_queries(19):
        client.get(f"/compare/?{query}&at={moment}")


def test_machines_of_the_past_cost_a_fixed_number_of_queries(client, dgx, lab, django_assert_num_queries):
    sheet = Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")
    for name in ("one", "two", "three"):
        make_report(make_machine(lab, name), facts=DGX_FACTS, cards=[h100(0, sheet)], results=[FASTER])
    moment = write_moment(timezone.now())
    both, all_four = (
        "/compare/?" + "&".join(f"a=machine:north/{name}" for name in names) + f"&at={moment}"
        for names in (("dgx-07", "one"), ("dgx-07", "one", "two", "three"))
    )
    client.get(both)
    for address in (both, all_four):
        cache.clear()
        # as for sheets, and machines, snapshots, cards, series, results, and what was published of their cards: three
        with django_assert_num_queries(25):
            client.get(address)


def test_a_citation_is_text_for_each_of_its_readers():
    moment = timezone.datetime(2026, 11, 20, 16, tzinfo=timezone.get_default_timezone())
    bibtex, plain, markdown = citations("A_100 & [B] 50 %", "https://example.org/compare/?a=a&a=b", moment)
    assert r"title = {{A\_100 \& [B] 50 \%}}" in bibtex.text
    assert bibtex.text.startswith("@misc{accelweb-a-100-b-50-20261120,")
    assert "year = {2026}" in bibtex.text
    assert "“A_100 & [B] 50 %”" in plain.text
    assert markdown.text.startswith(r"[A\_100 & \[B\] 50 %](https://example.org/compare/?a=a&a=b)")
