"""Every accelerator that anything is cited of has a roof, as far as its ceilings are published, or a sentence why not."""

import csv
import io

import pytest
from django.http import QueryDict

from stackviz.draw.colours import GREY
from stackviz.pages.benchmarks.chart_page import short_label
from stackviz.pages.benchmarks.roofline import assemble_roofline, roof_sentences
from stackviz.pages.benchmarks.roofs import roofs_of
from stackviz.pages.benchmarks.selection import DTYPES, RooflineChoice, roofline_choice
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.cases import public_results
from tests.responses import words_of

SLOPE, FLAT = "nvidia-geforce-gtx-960m", "nvidia-v100-sxm3-32gb"
# Whose sheets have neither a memory bandwidth nor a compute peak.
WITHOUT = {"apple-a18-pro", "graphcore-gc200", "intel-gaudi-hl-205"}


def roofline(slug, **chosen):
    return assemble_roofline(public_catalogue(), RooflineChoice(slugs=(slug,), **chosen))


def test_only_sheets_without_any_ceiling_have_no_roof():
    cited = set(public_results().values_list("accelerator__slug", flat=True))
    found = {slug: roofline(slug) for slug in sorted(cited)}
    assert {slug for slug in cited if not found[slug].rows} == WITHOUT
    assert len(cited) > 160
    for slug in cited - WITHOUT:  # a roof without points says so
        notes = found[slug].notes
        says = [note for note in notes if "none is placed here" in note or "lie above this roof" in note]
        assert bool(says) == (not found[slug].points), slug


def test_without_a_peak_only_what_bandwidth_bounds_is_drawn():
    found = roofline(SLOPE)
    (row,) = found.rows
    assert (row.dtype, row.peak, row.roof.ridge) == ("", None, None)
    assert row.bandwidth.amount == 80e9
    assert {point.operation.operator for point in found.points} <= {"decode", "stream", "bytes"}
    assert found.points
    assert len(found.notes) == 1
    assert [("80 GB/s" in sentence) for sentence in roof_sentences(found)] == [True]


def test_without_a_bandwidth_only_what_peaks_bound_is_drawn():
    found = roofline(FLAT)
    assert {row.dtype for row in found.rows} == {"fp32"}
    assert all(row.bandwidth is None and row.peak for row in found.rows)
    assert {point.operation.operator for point in found.points} <= {"gemm", "attention", "prefill"}
    assert all(point.share == point.operation.rate / peak_of(found, point) for point in found.points)
    assert any("no memory bandwidth is published" in note for note in found.notes)


def peak_of(found, point):
    return next(row.peak.amount for row in found.rows if row.dtype == point.operation.dtype)


@pytest.mark.parametrize(("slug", "dtype"), [("hailo-8", "int8"), ("tenstorrent-n300", "fp16")])
def test_the_only_peak_that_is_published_stands_in_with_a_word(slug, dtype):
    found = roofline(slug)
    assert [row.dtype for row in found.rows] == [dtype]
    assert any(note.endswith(f"its roof is that of {dtype}.") for note in found.notes)


def test_global_memory_of_clpeak_stands_on_the_slope():
    found = roofline("nvidia-geforce-rtx-5060")
    (point,) = (point for point in found.points if point.operation.short == "clpeak")
    cited = public_results().filter(benchmark="clpeak-bandwidth", accelerator__slug="nvidia-geforce-rtx-5060", count=1)
    amounts = [result.amount for result in cited if result.params["test"] == "Global memory bandwidth"]
    assert point.operation.rate == max(amounts)
    assert point.share == pytest.approx(point.operation.rate / 448e9)


@pytest.mark.parametrize("slug", [SLOPE, FLAT])
def test_page_and_files_leave_open_what_is_not_published(client, slug):
    page = client.get(f"/roofline/?a={slug}")
    assert "not published" in words_of(page)
    rows = list(csv.DictReader(io.StringIO(client.get(f"/roofline/?a={slug}&format=csv").content.decode())))
    roofs = [row for row in rows if not row["rate"]]
    assert all(row["ridge_flop_per_byte"] == "" for row in roofs)
    assert {bool(row["peak_flop_per_s"]) for row in roofs} == {slug == FLAT}
    assert {bool(row["bandwidth_source_url"]) for row in roofs} == {slug == SLOPE}
    assert client.get(f"/roofline/?a={slug}&format=plotly").json()["data"]
    assert client.get(f"/roofline/?a={slug}&format=svg").status_code == 200


def test_labels_are_short_and_shared_by_types_of_one_peak():
    catalogue = public_catalogue()
    for slug, label in (
        ("apple-m3-max-40", "M3 Max 40"),
        ("nvidia-geforce-rtx-4090", "RTX 4090"),
        ("nvidia-gb300", "GB300 (per GPU, 1400 W)"),
    ):
        assert short_label(catalogue.by_slug[slug]) == label
    h100 = catalogue.by_slug["nvidia-h100-sxm5-80gb"]
    labels = [row.roof.label for row in roofs_of(catalogue, h100, GREY, ("bf16", "fp16", "fp8", "int8", "fp32"))]
    assert labels == [
        "H100 SXM5 80GB bf16, fp16 989.4 TFLOP/s", "", "H100 SXM5 80GB fp8, int8 1,979 TFLOP/s", "",
        "H100 SXM5 80GB fp32 67 TFLOP/s",
    ]  # fmt: skip


def test_no_label_of_many_roofs_leaves_the_drawing():
    slugs = ["nvidia-h100-sxm5-80gb", "nvidia-geforce-rtx-4090", "amd-mi300x", "intel-gaudi3", "apple-m4-max-40"]
    query = QueryDict(mutable=True)
    query.setlist("a", slugs)
    query.setlist("dtype", list(DTYPES))
    catalogue = public_catalogue()
    choice = roofline_choice(query, {item.slug: item.name for item in catalogue.accelerators})
    ends = [float(end.y) for end in assemble_roofline(catalogue, choice).plane.ends]
    assert len(ends) > 15
    assert all(0 < y <= 100 for y in ends)
