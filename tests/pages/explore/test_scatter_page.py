"""`/explore/` draws everything that has two figures, counts what lacks one, and reads without a script."""

import csv
import gzip
import io
import re

import pytest
from django.core.cache import cache

from stackviz.pages.explore.axes import read_plot_data
from stackviz.pages.explore.composed import COMPOSED
from stackviz.pages.explore.scatter import draw_scatter, plotly_scatter
from stackviz.pages.explore.selection import ScatterChoice
from stackviz.records.catalog.models import Accelerator, SpecValue
from tests.pages.explore.test_ladder_page import LIMIT_BYTES, LIMIT_COMPRESSED
from tests.pages.machines.factories import gemm, make_lab
from tests.responses import words_of


def drawing(**chosen):
    choice = ScatterChoice(**chosen)
    return draw_scatter(read_plot_data(), choice)


def point_of(found, slug):
    return next(point for point in found.points if point.subject.slug == slug)


def test_scatter_counts_what_it_omits(curated, db):
    found = drawing(y="bf16_tensor_tflops")
    assert len(found.points) + found.unplaced_count == Accelerator.objects.filter(is_public=True).count()
    left_out = [subject.slug for group in found.unplaced for subject, _instead in group.subjects]
    assert len(left_out) == len(set(left_out))
    assert "apple-m3-max-40" in left_out  # Apple publishes no bf16 rate


def test_a_page_links_its_points_and_loads_no_plotly(client, curated, db):
    page = client.get("/explore/").content.decode()
    link = re.search(r'<a href="/accelerators/nvidia-h100-sxm5-80gb/"><use [^>]+/><title>([^<]+)</title>', page)
    assert link[1] == "NVIDIA H100 SXM5 80GB: 3,350 GB/s, 989.4 TFLOPS, 700 W"
    assert not re.search(r'<script[^>]+src="[^"]*plotly', page)
    assert "application/json" not in page
    response = client.get("/explore/?x=tdp_w&vendor=&kind=", headers={"hx-request": "true"})
    assert b"<html" not in response.content
    assert response["HX-Push-Url"] == "/explore/?x=tdp_w"


def test_points_are_placed_by_their_figures_and_named(curated, db):
    found = drawing()
    h100, a100 = point_of(found, "nvidia-h100-sxm5-80gb"), point_of(found, "nvidia-a100-sxm4-80gb")
    assert h100.left > a100.left
    assert h100.top < a100.top
    assert all(0 <= point.left <= 100 and 0 <= point.top <= 100 for point in found.points)
    assert (drawing().x_kind, drawing().y_kind) == ("log", "log")
    assert drawing(xscale="linear").x_kind == "linear"
    assert drawing(vendor="apple", year="2022", x="memory_bandwidth_gb_s", y="fp32_tflops").x_kind == "linear"
    names = {label.text for label in drawing().labels}
    assert {"H100 SXM5 80GB", "RTX 4090", "RTX 5090", "M4 Max 40", "M3 Max 40", "MI300X"} <= names
    found = drawing(x="tdp_w", y="ridge-point", size="none")
    assert point_of(found, "nvidia-h100-sxm5-80gb").y.text == "295.3"
    assert found.sizes == ()


def test_the_legend_explains_dotted_outlines(client, curated, db):
    legend = "dotted outline: another figure stands in for an unpublished one (†)"
    for field, has_dotted in (("fp32_tflops", False), (next(iter(COMPOSED)), True)):
        page = client.get(f"/explore/?y={field}")
        assert (re.search(r'<use [^>]*class="v-\w+ other"', page.content.decode()) is not None) is has_dotted, field
        assert (legend in words_of(page)) is has_dotted, field


def test_equal_ridge_points_lie_on_a_line(curated, db):
    found = drawing()
    assert "ridge point" in found.ratio
    assert all(line.label.endswith("FLOP/B") for line in found.lines)
    assert len(found.lines) >= 3
    assert drawing(x="launch_price_usd", y="fp32_tflops").lines[0].label.endswith("/USD")
    assert "price-performance" in drawing(x="fp32_tflops", y="launch_price_usd").ratio
    assert drawing(x="memory_gb", y="die_area_mm2").lines == ()


def test_ridge_line_separates_cards(curated, db):
    """The H100 has 295 FLOP/B, the A100 of 80 GB 153: a line between them is above one and below the other."""
    found = drawing()
    line = next(line for line in found.lines if line.label == "200 FLOP/B")
    x1, y1, x2, y2 = (float(value) for value in (line.x1, line.y1, line.x2, line.y2))
    for slug, is_above in (("nvidia-h100-sxm5-80gb", True), ("nvidia-a100-sxm4-80gb", False)):
        point = point_of(found, slug)
        assert (point.top < y1 + (y2 - y1) * (point.left - x1) / (x2 - x1)) is is_above


def test_sizes_and_colours_are_explained(curated, db):
    found = drawing()
    unsized = [point for point in found.points if point.size is None]
    assert unsized
    assert {point.mark[-1] for point in unsized} == {"2"}
    assert any("medium size" in note for note in found.notes)
    words = [words for *_shape, words in drawing(y="fp32_tflops", size="memory_gb").sizes]
    assert len(words) == 3
    ends = [float(end.replace(",", "")) for text in words for end in text.removesuffix(" GB").split("–")]
    assert ends == sorted(ends)
    assert {"NVIDIA", "AMD"} <= {words for _css, _shape, words in drawing().legend}


def test_plotly_points_match_and_link(client, curated, db):
    *lines, trace = client.get("/explore/?format=plotly").json()["data"]
    found = drawing()
    assert {line.label for line in found.lines} <= {trace["text"][1] for trace in lines if "text" in trace}
    assert len(trace["x"]) == len(found.drawn)
    assert "/accelerators/nvidia-h100-sxm5-80gb/" in {data[2] for data in trace["customdata"]}
    assert plotly_scatter(read_plot_data(), ScatterChoice(x="tdp_w", y="tdp_w", vendor="cerebras"))["data"] == []


def test_a_file_has_every_point_with_every_source(client, curated, db):
    rows = list(csv.DictReader(io.StringIO(client.get("/explore/?format=csv").content.decode())))
    assert len(rows) == len(drawing().points)
    h100 = next(row for row in rows if row["slug"] == "nvidia-h100-sxm5-80gb")
    assert (h100["x_value"], h100["y_value"], h100["size_value"]) == ("3350.0", "989.4", "700.0")
    assert h100["y_source_url"].startswith("http")
    data = client.get("/explore/?format=json").json()
    assert len(data["points"]) == len(rows)
    assert len(data["not_drawn"]) == drawing().unplaced_count


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("x=no-such&y=tdp_w", "Unknown field"),
        ("size=huge", "Unknown field"),
        ("xscale=cubic", "Unknown scale"),
        ("field=tdp_w", "Unknown parameter"),
        ("vendor=cerebras&y=bf16_tensor_tflops&x=launch_price_usd", "has both values"),
        ("x=mig_instances&y=tdp_w&xscale=log", "MIG"),
        ("x=tdp_w&y=tdp_w&size=tdp_w", "Board power"),
    ],
)
def test_an_odd_address_is_answered_with_what_there_is(client, curated, db, query, says):
    response = client.get(f"/explore/?{query}")
    assert response.status_code == 200
    assert says in words_of(response)


def test_a_private_labs_measurement_appears_nowhere(client, timed):
    before = client.get("/explore/?format=json").json()
    timed("sealed", "nvidia-h200-sxm", [gemm("bf16", [0.0012] * 8)], of=make_lab("south", is_public=False))
    assert client.get("/explore/?format=json").json() == before
    assert b"sealed" not in client.get("/explore/").content


def test_corrections_and_hidden_sheets_show_at_once(client, curated, db):
    client.get("/explore/")
    of_h100 = SpecValue.objects.filter(accelerator__slug="nvidia-h100-sxm5-80gb", is_preferred=True)
    value = of_h100.get(field="memory_bandwidth_gb_s", condition="")
    value.value = "3351"
    value.save()
    assert "NVIDIA H100 SXM5 80GB: 3,351 GB/s" in client.get("/explore/").content.decode()
    hidden = Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb")
    hidden.is_public = False
    hidden.save()
    assert b"nvidia-h100-sxm5-80gb" not in client.get("/explore/").content


def test_the_queries_are_few_and_none_read_a_sheet_twice(client, curated, db, django_assert_num_queries):
    client.get("/explore/?vendor=apple")
    cache.clear()
    with django_assert_num_queries(1):  # the editions
        client.get("/explore/")
    with django_assert_num_queries(1):
        client.get("/explore/")


@pytest.mark.parametrize(
    "query", ["", "x=memory_gb&y=memory_bandwidth_gb_s", "x=memory_bandwidth_gb_s&y=fp32_tflops&size=memory_gb"]
)
def test_the_page_stays_light(client, curated, db, query):
    page = client.get(f"/explore/?{query}").content
    assert len(page) < LIMIT_BYTES
    assert len(gzip.compress(page)) < LIMIT_COMPRESSED


@pytest.mark.parametrize("query", ["", "vendor=nvidia&kind=gpu", "x=tdp_w&y=memory_gb&page=2", "_=1"])
def test_each_choice_is_cached(client, curated, db, monkeypatch, query):
    monkeypatch.setattr("stackviz.pages.explore.views.cached_html", lambda *_given: "as before")
    assert "as before" in client.get(f"/explore/?{query}").content.decode()
