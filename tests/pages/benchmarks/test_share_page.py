"""`/roofline/share-of-peak/` ranks what is reached of a published peak; what lies above it stays out."""

import csv
import io
import re

import pytest

from stackviz.pages.benchmarks.selection import BANDWIDTH, DTYPES, ShareChoice
from stackviz.pages.benchmarks.share import ranked_shares, share_notes
from stackviz.pages.benchmarks.share_page import PER_PAGE
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.models import CitedResult

H100 = "nvidia-h100-sxm5-80gb"


def ranking(**chosen):
    return ranked_shares(public_catalogue(), ShareChoice(**chosen))


def row_of(rows, slug):
    return next(row for row in rows if row.accelerator.slug == slug)


@pytest.mark.parametrize("of", [BANDWIDTH, *DTYPES])
def test_shares_are_ranked_and_none_is_above_the_peak(of):
    rows = ranking(of=of)
    shares = [row.best.share for row in rows]
    assert rows
    assert shares == sorted(shares, reverse=True)
    assert all(0 < share <= 1 for share in shares)
    assert [row.rank for row in rows] == list(range(1, len(rows) + 1))
    assert all("sparse" not in point.peak.condition for row in rows for point in row.points)


def test_shares_are_worked_by_hand():
    bf16 = row_of(ranking(of="bf16"), H100).best
    assert bf16.share == pytest.approx(797.51 / 989.4)
    assert (bf16.rate_text, bf16.peak.text, bf16.share_text) == ("797.5 TFLOP/s", "989.4 TFLOP/s", "81 %")
    bandwidth = row_of(ranking(), H100).best  # BabelStream's dot: 3.18 TB/s of 3.35
    assert bandwidth.share == pytest.approx(3.18 / 3.35)
    best = row_of(ranking(of="fp32"), "apple-m3-max-40").best
    assert best.share == pytest.approx(11.5 / 14.131)


def test_fp32_sums_are_not_held_against_a_peak_of_fp16_sums():
    points = [point for row in ranking(of="fp8") for point in row.points]
    assert points
    for point in points:
        assert not ("accumulates in fp32" in point.made and "accumulate=fp16" in point.peak.condition)


def test_defaults_have_apple_and_one_benchmark_can_be_ranked():
    assert any(row.accelerator.vendor.slug == "apple" for row in ranking())
    assert any(note.startswith("Apple:") for note in share_notes(ranking(of="bf16"), "bf16"))
    rows = ranking(benchmark="fluidx3d")
    assert len(rows) > 60
    assert {point.setting.partition(":")[0] for row in rows for point in row.points} == {"FluidX3D"}


def test_measured_results_are_filled(client, dgx):
    row = row_of(ranking(), H100)
    measured = next(point for point in row.points if point.is_filled)
    assert measured.source_title == "dgx-07"
    assert re.search(
        r'<b class="measured" style="--p:8\d\.\d"', client.get("/roofline/share-of-peak/").content.decode()
    )


def test_csv_holds_exactly_what_is_drawn(client, dgx):
    address = "/roofline/share-of-peak/"
    (trace,) = client.get(f"{address}?format=plotly").json()["data"]
    rows = list(csv.DictReader(io.StringIO(client.get(f"{address}?format=csv").content.decode())))
    first = rows[: len(trace["x"])]
    assert [float(row["share_percent"]) for row in first] == trace["x"]
    assert [int(row["rank"]) - 1 for row in first] == trace["y"]
    assert [row["kind"] == "measured" for row in first] == [symbol == "circle" for symbol in trace["marker"]["symbol"]]
    assert max(trace["y"]) == PER_PAGE - 1
    assert all(row["source_url"] for row in rows)
    numbers = range(1, 2 + len(rows) // PER_PAGE)
    pages = [client.get(f"{address}?page={number}").content.decode() for number in numbers]
    drawn = [at for page in pages for at in re.findall(r'<b class="\w+" style="--p:([\d.]+)"', page)]
    assert sorted(drawn) == sorted(f"{float(row['share_percent']):.1f}" for row in rows)
    data = client.get(f"{address}?format=json").json()
    assert len(data["rows"]) == len(rows)


def test_the_queries_do_not_grow_with_results(client, django_assert_num_queries):
    address = "/roofline/share-of-peak/?of=bf16&page=2"  # not cached
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


def test_the_old_address_leads_to_the_page_below_the_roofline(client):
    assert client.get("/share-of-peak/?of=bf16").headers["Location"] == "/roofline/share-of-peak/?of=bf16"
