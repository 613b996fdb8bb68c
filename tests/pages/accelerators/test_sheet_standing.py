"""The head of a spec sheet: each figure against its kind, its predecessor and the ladder, and where questions lead."""

import html
import re

import pytest
from django.urls import reverse
from django.utils import timezone

from stackviz.pages.accelerators.relatives import predecessor
from stackviz.pages.accelerators.standing import standings
from stackviz.pages.explore.axes import read_plot_data
from stackviz.pages.explore.ladder import rank
from stackviz.pages.explore.selection import LadderChoice
from stackviz.records.catalog.queries import public_catalogue
from stackviz.web.http.address import write_moment

H100, M3_MAX = "nvidia-h100-sxm5-80gb", "apple-m3-max-40"


def standing_of(slug):
    catalogue = public_catalogue()
    item = catalogue.by_slug[slug]
    return standings(item, predecessor(item, catalogue), catalogue)


@pytest.mark.parametrize(
    ("slug", "before"),
    [
        (H100, "nvidia-a100-sxm4-80gb"),
        (M3_MAX, "apple-m2-max-38"),
        ("apple-m3-max-30", "apple-m2-max-30"),
        ("nvidia-geforce-rtx-5090", "nvidia-geforce-rtx-4090"),
        ("apple-m1-8", None),  # the first of its line
        ("nvidia-dgx-spark-gb10", None),
    ],
)
def test_the_predecessor_has_the_same_share_of_units(curated, db, slug, before):
    catalogue = public_catalogue()
    found = predecessor(catalogue.by_slug[slug], catalogue)
    assert (found.slug if found else None) == before


def test_a_figure_stands_against_its_kind_and_its_predecessor(curated, db):
    bandwidth = standing_of(H100)["memory_bandwidth_gb_s"]
    assert bandwidth["before"] == "2,039 GB/s (1.6×)"
    assert bandwidth["largest"] == "8,000 GB/s"  # of GPUs that one can have: the MI455X is announced
    assert float(bandwidth["length"]) == pytest.approx(3350 / 8000 * 100, abs=0.1)
    assert 0 < float(bandwidth["median_at"]) < float(bandwidth["before_at"]) < float(bandwidth["length"])


@pytest.mark.parametrize("field", ["memory_bandwidth_gb_s", "fp16_tensor_tflops", "bf16_tensor_tflops", "tdp_w"])
def test_its_place_is_that_of_the_ladder(curated, client, db, field):
    found = rank(read_plot_data(), LadderChoice(field=field), {})
    for row in found.rows[:: max(1, len(found.rows) // 9)]:
        standing = standing_of(row.subject.slug)[field]
        if "condition=" in standing["url"]:
            continue  # its headline is under another condition than the ladder's first
        counted = sum(each.rank is not None for each in found.rows)
        expected = "announced" if row.rank is None else f"place {row.rank} of {counted}"
        assert standing["rank"] == expected
        address, _, anchor = standing["url"].partition("#")
        assert f'<tr id="{anchor}">' in client.get(address).content.decode()


def test_the_head_leads_to_what_a_visitor_asks_next(curated, client, db):
    page = html.unescape(client.get(f"/accelerators/{H100}/").content.decode())
    for address in (
        f"/fit/?accelerator={H100}",
        f"/plan/?accelerator={H100}",
        f"{reverse('benchmarks:roofline')}?a={H100}",
        f"/compare/?a=nvidia-a100-sxm4-80gb&a={H100}",
        "/operators/",
    ):
        assert f'href="{address}"' in page, address
        assert client.get(address).status_code == 200
    assert "/plan/?accelerator=amd-mi300x" in client.get("/accelerators/amd-mi300x/").content.decode()


def test_a_past_sheet_is_not_held_against_the_present(curated, client, db):
    moment = write_moment(timezone.now())  # past when it is asked for
    past = client.get(f"/accelerators/{H100}/", {"at": moment})
    assert past.context["moment"]
    assert 'class="standing"' not in past.content.decode()
    present = client.get(f"/accelerators/{H100}/", {"at": "2999-01-01"})  # no past moment: the current sheet
    assert 'class="standing"' in present.content.decode()


def test_a_mac_shows_observed_power_and_why_no_matrix_rate(curated, client, db):
    page = client.get(f"/accelerators/{M3_MAX}/").content.decode()
    assert "Power, observed" in page.split("All values")[0]
    assert "<dt>Announced</dt>" in page
    assert not re.search(r">\d\d,\d{3} MB<", page)  # sizes are in one unit
    assert "matrix" in page.split("All values")[0]
