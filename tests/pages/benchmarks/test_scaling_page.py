"""`/scaling/` draws curves of at least three points, like for like."""

import csv
import io
import re

import pytest
from django.core.cache import cache
from django.http import QueryDict

from stackviz.pages.benchmarks.curves import FEWEST_POINTS, KINDS, cited_curves
from stackviz.pages.benchmarks.scaling import assemble_scaling
from stackviz.pages.benchmarks.selection import ScalingChoice, scaling_choice
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.models import CitedResult
from tests.pages.machines.factories import DGX_FACTS, copy, h100, make_lab, make_machine, make_report
from tests.responses import words_of

M3_MAX = "apple-m3-max-40"


def scaling(kind="prefill", **chosen):
    return assemble_scaling(public_catalogue(), ScalingChoice(kind=kind, **chosen))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_along_a_curve_nothing_differs_but_its_axis(kind):
    by_address = {}
    benchmark = CitedResult.objects.filter(benchmark=kind.benchmark, state="public")
    for result in benchmark.select_related("source"):
        by_address[f"/benchmarks/{result.data_key}/"] = result
    curves = cited_curves(kind)
    assert bool(curves) is (kind.key != "attention")  # no source has a curve of it
    for curve in curves:
        results = [by_address[point.url] for point in curve.points]
        assert len(results) >= FEWEST_POINTS
        splits = [kind.split(result.params) for result in results]
        assert [x for x, _rest in splits] == sorted({x for x, _rest in splits})
        assert all(rest == splits[0][1] for _x, rest in splits)
        assert len({(result.accelerator_id, result.source_id, result.count, result.unit) for result in results}) == 1
        assert [result.amount for result in results] == [point.amount for point in curve.points]


def test_curves_have_apple_units_devices_and_gaps(client):
    vendors = {item.accelerator.vendor.slug for item in scaling().curves}
    assert {"apple", "nvidia"} <= vendors
    text = words_of(client.get("/scaling/"))
    # as printed: pp512 693.32, pp8192 505.32
    assert "Apple M3 Max (40-core GPU): 693.3 tokens/s at 512, 505.3 at 8,192; most 693.3 at 512." in text
    found = scaling("gemm", setting="dtype=fp8")
    h100 = next(item for item in found.curves if item.accelerator.slug == "nvidia-h100-sxm5-80gb")
    assert [point.x for point in h100.curve.points] == [1024, 2048, 4096, 8192, 16384, 32768]
    assert [*map(found.text, h100.curve.points)] == ["274.1", "1,011", "1,217", "1,290", "1,377", "1,382"]
    assert found.unit == "TFLOP/s"
    found = scaling("allreduce")
    assert {item.curve.count for item in found.curves} == {8}
    assert "8 devices" in found.setting.words
    notes = scaling("gemm", slugs=(M3_MAX,)).notes
    assert any(note.startswith("Apple M3 Max (40-core GPU)") for note in notes)
    assert any("Attention" in note and "8,192" in note for note in scaling().notes)
    page = client.get("/scaling/?curve=attention")
    assert b'<div class="empty">' in page.content
    assert "8,192" in words_of(page)


def test_only_curves_that_there_are_some_of_are_offered(client):
    def offered(query=""):
        page = client.get(f"/scaling/?a={M3_MAX}&{query}").content.decode()
        return re.findall(r'<option value="([\w-]*)"', page.partition('name="curve"')[2].partition("</select>")[0])

    having = [key for key in KINDS if scaling(key).curves]
    assert offered() == having
    assert "attention" not in having
    assert offered("curve=attention") == [key for key in KINDS if key in having or key == "attention"]


def test_measured_copies_are_a_curve_with_the_cache_as_a_step(client):
    card = h100(0, Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb"))
    times = {2**28: 0.00018, 2**30: 0.00072, 2**32: 0.00288}
    results = [copy([seconds] * 3 + [seconds * 1.001], size=size) for size, seconds in times.items()]
    make_report(make_machine(make_lab("north"), "dgx-07"), facts=DGX_FACTS, cards=[card], results=results)
    found = scaling("copy")
    measured = next(item for item in found.curves if item.curve.is_measured)
    assert [point.x for point in measured.curve.points] == sorted(times)
    own = [point for point in found.content.points if point.hue == measured.hue and point.is_filled]
    assert len(own) == len(times)
    assert any("50 MB" in step.label for step in found.content.steps)
    assert b'class="step' in client.get("/scaling/?curve=copy").content


@pytest.mark.parametrize("query", ["", "curve=decode", "curve=gemm", "curve=allreduce", f"a={M3_MAX}"])
def test_csv_holds_exactly_what_is_drawn(client, query):
    figure = client.get(f"/scaling/?format=plotly&{query}").json()
    rows = list(csv.DictReader(io.StringIO(client.get(f"/scaling/?format=csv&{query}").content.decode())))
    lines = [trace for trace in figure["data"] if "lines" in trace["mode"]]
    (points,) = [trace for trace in figure["data"] if trace["mode"] == "markers"]
    drawn = [(float(row["x"]), float(row["y"])) for row in rows]
    assert drawn == list(zip(points["x"], points["y"], strict=True))
    assert drawn == [place for line in lines for place in zip(line["x"], line["y"], strict=True)]
    page = client.get(f"/scaling/?{query}").content.decode()
    assert len(re.findall(r'<use href="#p0"', page)) == len(rows)
    assert all(row["source_url"].startswith("http") for row in rows)
    assert len(client.get(f"/scaling/?format=json&{query}").json()["points"]) == len(rows)


def test_settings_are_read_for_the_chosen_curve_alone():
    def unread():
        pytest.fail("read")

    choice = scaling_choice(QueryDict("curve=b&setting=x%3D1"), {}, {"a": unread, "b": lambda: {"x=1"}})
    assert (choice.kind, choice.setting, choice.query_string) == ("b", "x=1", "curve=b&setting=x%3D1")


def test_the_queries_do_not_grow_with_results(client, django_assert_num_queries):
    address = f"/scaling/?a={M3_MAX}"
    client.get(address)
    cache.clear()
    with django_assert_num_queries(2):  # the editions
        client.get(address)
    template = CitedResult.objects.filter(benchmark="llama-bench", accelerator__slug=M3_MAX, state="public").first()
    for number in range(50):
        template.pk, template.data_key, template.value = None, None, str(100 + number)
        template.save()
    client.get(address)
    cache.clear()
    with django_assert_num_queries(2):
        client.get(address)
