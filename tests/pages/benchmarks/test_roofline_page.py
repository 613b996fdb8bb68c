"""`/roofline/` draws published ceilings and what was reached, says where figures come from, and reads without a script."""

import csv
import io
import re

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.http import QueryDict
from django.utils import translation

from stackviz.pages.benchmarks.best_results import measured_bests
from stackviz.pages.benchmarks.roofline import assemble_roofline
from stackviz.pages.benchmarks.selection import ROOFLINE_ACCELERATORS, RooflineChoice, roofline_choice
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.models import CitedResult
from stackviz.records.labs.models import Card
from stackviz.records.series.decide_standing import record_decision
from stackviz.records.series.models import Result
from stackviz.records.series.standing import Standing
from tests.sampled import sampled

H100, RTX_4090, M3_MAX = ROOFLINE_ACCELERATORS


def roofline(**chosen):
    return assemble_roofline(public_catalogue(), RooflineChoice(**chosen))


def rows_of(client, query=""):
    return list(csv.DictReader(io.StringIO(client.get(f"/roofline/?format=csv&{query}").content.decode())))


def test_ridge_points_are_those_of_the_sheets():
    found = {(row.slug, row.dtype): row for row in roofline().rows}
    expected = {  # bandwidth, peak, ridge point: as the spec sheets print them
        (H100, "bf16"): (3350e9, 989.4e12, 989.4e12 / 3350e9),
        (H100, "fp32"): (3350e9, 67e12, 20.0),
        (RTX_4090, "bf16"): (1008e9, 165.2e12, 163.8889),
        (RTX_4090, "fp32"): (1008e9, 82.6e12, 81.9444),
        (M3_MAX, "fp32"): (400e9, 14.131e12, 35.3275),
    }
    assert found.keys() == expected.keys()
    for key, (bandwidth, peak, ridge) in expected.items():
        row = found[key]
        assert (row.bandwidth.amount, row.peak.amount) == pytest.approx((bandwidth, peak))
        assert row.roof.ridge == pytest.approx(ridge, rel=1e-5)
        assert "sparsity=dense" in row.peak.condition
        assert row.peak.source_url.startswith("http")


def test_cited_results_are_under_their_roofs_with_notes():
    found = roofline()
    assert {point.accelerator.slug for point in found.points} == set(ROOFLINE_ACCELERATORS)
    assert all(0 < point.share <= 1 for point in found.points)
    best = next(point for point in found.points if point.operation.short == "gemm bf16")
    assert (best.accelerator.slug, best.rate_text, best.share_text) == (H100, "797.5 TFLOP/s", "81 %")
    decode = next(
        point for point in found.points if point.accelerator.slug == M3_MAX and point.operation.short == "decode Q4_0"
    )
    # 66.31 token/s x 3.56 GiB = 253.5 GB/s of 400 GB/s
    assert decode.share == pytest.approx(0.63368, rel=1e-4)
    copied = next(point for point in found.points if point.operation.short == "copy")
    assert copied.share == pytest.approx(2.9 / 3.35)
    assert any("M3 Max" in note and "bf16" in note and "fp32" in note for note in found.notes)
    assert any(point.accelerator.vendor.slug == "apple" for point in found.points)
    found = roofline(slugs=(M3_MAX,), dtypes=("fp8",))
    assert [row.dtype for row in found.rows] == ["fp32"]
    assert found.notes


def test_results_above_their_roof_are_listed_not_drawn(client):
    found = roofline(slugs=(RTX_4090,))
    assert found.above
    drawn = {point.key for point in found.points}
    assert all(point.share > 1 and point.key not in drawn for point in found.above)
    page = client.get(f"/roofline/?a={RTX_4090}").content.decode()
    assert all(f'href="{point.url}"' in page.partition("<details")[2] for point in found.above)


def test_measured_results_are_filled_until_they_are_withdrawn(client, dgx):
    found = roofline(slugs=(H100,))
    measured = [point for point in found.points if point.is_filled]
    assert {point.operation.short for point in measured} == {"gemm bf16", "copy"}
    page = client.get("/roofline/").content.decode()
    assert re.search(r'<a href="/machines/[^"]+"><use href="#p1" [^>]+ class="v-nvidia measured"/>', page)
    assert any(point.is_filled for point in roofline(slugs=(H100,)).points)
    for result in Result.objects.all():
        record_decision(result, Standing.WITHDRAWN, "the fan was off", AnonymousUser())
    assert not any(point.is_filled for point in roofline(slugs=(H100,)).points)


def test_remarks_are_in_the_language_of_each_reader(dgx):
    Card.objects.update(facts={"power_limit_w": 500, "power_default_limit_w": 700})
    for language, remark in (("en", "power limit 500 W of 700 W"), ("zh-hans", "功耗上限 500 W")):
        with translation.override(language):
            assert remark in " ".join(best.made for best in measured_bests())


def test_csv_holds_exactly_what_is_drawn(client, dgx):
    figure = client.get("/roofline/?format=plotly").json()
    lines = [trace for trace in figure["data"] if "lines" in trace["mode"]]
    (points,) = [trace for trace in figure["data"] if trace["mode"] == "markers"]
    rows, data = rows_of(client), client.get("/roofline/?format=json").json()
    assert len(data["rows"]) == len(rows)
    assert data["above_every_roof"]
    drawn = [(float(row["intensity_flop_per_byte"]), float(row["drawn_tflop_per_s"])) for row in rows if row["rate"]]
    assert drawn == list(zip(points["x"], points["y"], strict=True))
    ridges = [(float(row["ridge_flop_per_byte"]), row["drawn_tflop_per_s"]) for row in rows if not row["rate"]]
    assert ridges == [(line["x"][-2], str(line["y"][-2])) for line in lines]
    assert all(row["source_url"] for row in rows)
    spots = re.findall(r'<use href="#p\d" x="([\d.]+)%" y="([\d.]+)%"', client.get("/roofline/").content.decode())
    placed = [(str(spot.x), str(spot.y)) for spot in roofline().plane.points]
    assert spots == placed
    assert len(placed) == len(drawn)


def test_an_address_names_six_accelerators_by_name_or_slug():
    names = {H100: "NVIDIA H100 SXM5 80GB", RTX_4090: "NVIDIA GeForce RTX 4090"}
    choice = roofline_choice(QueryDict("a=NVIDIA+GeForce+RTX+4090&a=&dtype=fp32&dtype=bf16"), names)
    assert (choice.slugs, choice.dtypes, choice.notes) == ((RTX_4090,), ("bf16", "fp32"), ())
    assert choice.query_string == f"a={RTX_4090}"
    names = {f"card-{number}": f"Card {number}" for number in range(8)}
    choice = roofline_choice(QueryDict("&".join(f"a={slug}" for slug in names)), names)
    assert len(choice.slugs) == 6
    assert "At most 6 accelerators" in choice.notes[0].text


@sampled(40)
def test_every_public_accelerator_has_a_page(sample):
    for slug in sample(public_catalogue().by_slug):
        found = roofline(slugs=(slug,))
        assert found.rows or found.notes


def test_the_queries_do_not_grow_with_results(client, django_assert_num_queries):
    client.get("/roofline/")
    with django_assert_num_queries(2):
        client.get("/roofline/")
    address = f"/roofline/?a={H100}&a={RTX_4090}&dtype=bf16"  # not cached
    client.get(address)
    with django_assert_num_queries(2):  # the editions, what was measured and decided
        client.get(address)
    template = CitedResult.objects.filter(benchmark="gemm", accelerator__slug=H100, state="public").first()
    for number in range(50):
        template.pk, template.data_key, template.value = None, None, str(100 + number)
        template.save()
    client.get(address)
    with django_assert_num_queries(2):
        client.get(address)


def test_a_hidden_sheet_has_no_roof(client):
    Accelerator.objects.filter(slug=H100).update(is_public=False)
    hidden = Accelerator.objects.get(slug=H100)
    hidden.save()
    cache.clear()
    assert b"nvidia-h100-sxm5-80gb" not in client.get("/roofline/").content


def test_sheets_and_comparisons_lead_here(client):
    assert f'href="/roofline/?a={H100}"' in client.get(f"/accelerators/{H100}/").content.decode()
    page = client.get(f"/compare/?a={H100}&a={M3_MAX}").content.decode()
    assert f'href="/roofline/?a={H100}&amp;a={M3_MAX}"' in page
