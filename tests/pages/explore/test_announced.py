"""What is announced and cannot be had yet is drawn with that word, and leads nothing."""

import pytest
from django.urls import reverse

from stackviz.pages.accelerators.list_search import largest_shown
from stackviz.pages.accelerators.relatives import predecessor
from stackviz.pages.accelerators.standing import standings
from stackviz.pages.explore.axes import read_plot_data
from stackviz.pages.explore.ladder import rank
from stackviz.pages.explore.scatter import draw_scatter
from stackviz.pages.explore.selection import LadderChoice, ScatterChoice
from stackviz.pages.explore.views import later_vendors
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import SpecValue
from stackviz.records.catalog.queries import PLANNED, is_announced, planned_date, public_catalogue
from stackviz.web.paging import Page
from tests.responses import words_of

BANDWIDTH = "memory_bandwidth_gb_s"
RUBIN, SHIPPING = "nvidia-rubin", "nvidia-b300-hgx"


def _dates(*conditions: str) -> list[SpecValue]:
    return [SpecValue(field="release_date", value="2027", condition=condition) for condition in conditions]


@pytest.mark.parametrize(
    ("conditions", "planned"),
    [
        ((), ""),
        (("event=announced",), ""),  # of many that are sold no source has a later day
        ((PLANNED,), "2027"),
        ((PLANNED, "event=announced"), "2027"),
        ((PLANNED, "event=launched"), ""),
        ((PLANNED, "event=shipped"), ""),
        ((PLANNED, ""), ""),
    ],
)
def test_what_is_planned_and_did_not_come_out_is_announced(conditions, planned):
    assert planned_date(_dates(*conditions)) == planned


def test_what_was_announced_long_ago_is_not_called_announced(curated, db):
    catalogue = public_catalogue()
    announced = {item.slug for item in catalogue.accelerators if is_announced(item, catalogue)}
    assert RUBIN in announced
    assert SHIPPING not in announced


def test_the_announced_stand_on_the_ladder_without_a_place(curated, db, client):
    found = rank(read_plot_data(), LadderChoice(field=BANDWIDTH, announced="1"), {})
    placed = {row.subject.slug: row.rank for row in found.rows}
    assert placed[RUBIN] is None
    counted = [row for row in found.rows if row.rank is not None]
    assert counted[0].rank == 1
    assert len(counted) < len(found.rows)
    assert found.count_text.startswith(str(len(counted)))
    page = words_of(client.get(f"/ladder/?field={BANDWIDTH}&announced=1"))
    assert "cannot be bought or rented" in page


def test_the_ladder_begins_with_what_can_be_had(curated, db, client):
    usual = rank(read_plot_data(), LadderChoice(), {})
    assert all(row.rank is not None for row in usual.rows)
    hidden = {RUBIN, "meta-mtia-400"}
    assert not hidden & {row.subject.slug for row in usual.rows}
    everything = rank(read_plot_data(), LadderChoice(announced="1"), {})
    assert hidden <= {row.subject.slug for row in everything.rows}
    assert [row.rank for row in everything.rows if row.rank] == [row.rank for row in usual.rows]
    page = words_of(client.get("/ladder/"))
    assert "Announced and in-house too" in page
    assert "in-house" in words_of(client.get("/ladder/?announced=1&vendor=meta"))


@pytest.mark.parametrize(
    ("use", "slugs", "others"),
    [
        ("mac", {"apple-m4-max-40"}, {"apple-a18-pro", "nvidia-geforce-rtx-4090"}),
        ("laptop", {"nvidia-geforce-rtx-4090-laptop", "amd-rx-7900m"}, {"nvidia-geforce-rtx-4090"}),
        ("desktop", {"nvidia-geforce-rtx-4090", "amd-rx-7900-xtx"}, {"nvidia-rtx-6000-ada", "moore-threads-mtt-s4000"}),
        ("workstation", {"nvidia-rtx-6000-ada", "nvidia-dgx-spark-gb10"}, {"nvidia-t4", "nvidia-l40s"}),
        ("data-centre", {"nvidia-t4", "amd-mi300x", "google-tpu-v5p"}, {"nvidia-jetson-agx-orin-64gb", "hailo-8"}),
    ],
)
def test_the_ladder_is_narrowed_by_use(curated, db, use, slugs, others):
    found = {row.subject.slug for row in rank(read_plot_data(), LadderChoice(field="memory_gb", use=use), {}).rows}
    assert slugs <= found
    assert not others & found


def test_no_vendor_is_placed_at_something_announced(curated, db):
    found = rank(read_plot_data(), LadderChoice(field=BANDWIDTH), {})
    top = Page(items=found.rows[:5], before="", after="2", number=1, per_page=5)
    later = later_vendors(found, top)
    assert later
    assert all(best.rank is not None for best, _page in later)


def test_the_announced_are_never_on_the_front(curated, db):
    drawing = draw_scatter(read_plot_data(), ScatterChoice())
    assert any(point.subject.is_announced for point in drawing.points)
    assert drawing.front
    assert not any(point.subject.is_announced for point in drawing.front)


def test_the_largest_of_a_kind_is_one_that_can_be_had(curated, db):
    catalogue = public_catalogue()
    rubin, shipping = catalogue.by_slug[RUBIN], catalogue.by_slug[SHIPPING]
    amount = catalogue.preferred(rubin.pk, BANDWIDTH)[-1].amount
    assert largest_shown(FIELDS[BANDWIDTH], catalogue) < amount
    before = predecessor(shipping, catalogue)
    theirs, own = standings(shipping, before, catalogue)[BANDWIDTH], standings(rubin, None, catalogue)[BANDWIDTH]
    assert theirs["largest"] == own["largest"]
    assert own["rank"] == "announced"
    assert float(own["length"]) == 100


def test_list_and_sheet_say_it(curated, db, client):
    assert "Rubin GPU (Vera Rubin NVL72) announced" in words_of(
        client.get(reverse("accelerators:list"), {"q": "Rubin GPU"})
    )
    assert "Announced: it cannot be had yet, and is planned for 2026." in words_of(
        client.get(reverse("accelerators:sheet", args=[RUBIN]))
    )
    assert "cannot be had yet" not in words_of(client.get(reverse("accelerators:sheet", args=[SHIPPING])))
