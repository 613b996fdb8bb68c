"""Cited rates as axes: chosen by rule, like for like, drawn as rings, with source, software and date, and bounded."""

import csv
import gzip
import io
import json
import re

import pytest
from django.core.cache import cache
from django.test import Client

from stackviz.pages.explore.axes import read_plot_data
from stackviz.pages.explore.composed import COMPOSED
from stackviz.pages.explore.ladder import rank
from stackviz.pages.explore.scatter import draw_scatter, plotly_scatter
from stackviz.pages.explore.selection import DECODE, SCATTER_PRESETS, LadderChoice, ScatterChoice
from stackviz.pages.fit.language_models import language_models
from stackviz.pages.fit.precisions import PRECISIONS, weight_bytes
from stackviz.records.catalog.derived import DERIVATIONS
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.catalog.models import SpecValue
from stackviz.records.cited.cases import benchmark_cases, public_results
from stackviz.records.cited.filled_cases import FEWEST_ACCELERATORS, MOST_OF_BENCHMARK, compared_case, filled_cases
from stackviz.records.cited.models import CitedResult
from tests.pages.explore.test_ladder_page import LIMIT_BYTES, LIMIT_COMPRESSED
from tests.responses import words_of

DECODE_VIEW = f"/explore/?x=memory_bandwidth_gb_s&y={DECODE}&size=none"
RTX_4090, M2_ULTRA = "nvidia-geforce-rtx-4090", "apple-m2-ultra-76"


@pytest.fixture(autouse=True)
def _loaded(db, cited):
    """All cited results."""
    cache.clear()


def drawing(x="memory_bandwidth_gb_s", y=DECODE, size="none", **chosen):
    return draw_scatter(read_plot_data(), ScatterChoice(x=x, y=y, size=size, **chosen))


def point_of(found, slug):
    return next(point for point in found.points if point.subject.slug == slug)


def test_settings_are_chosen_by_rule():
    cases = filled_cases()
    by_benchmark: dict[str, list] = {}
    for case in cases.values():
        assert case.case.accelerators >= FEWEST_ACCELERATORS
        by_benchmark.setdefault(case.benchmark.key, []).append(case)
    for key, group in by_benchmark.items():
        assert len(group) <= MOST_OF_BENCHMARK
        fullest = benchmark_cases(key).cases_matching({})[0]
        assert fullest.accelerators == max(case.case.accelerators for case in group)
    assert {DECODE, "llama-bench-pp512", "gemm-bf16", "babelstream-copy"} <= cases.keys()
    names = [*FIELDS, *DERIVATIONS, *COMPOSED, *cases]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[\w-]+", name) for name in names)
    assert cases[DECODE].setting == "tg128 · Llama 2 7B · Q4_0"


@pytest.mark.parametrize("name", [DECODE, "mlperf-latency-bert-99", "mlperf-inference-bert-99"])
def test_each_accelerator_has_its_best_result_of_one_device(name):
    case = filled_cases()[name]
    axis = read_plot_data().axis(name)
    rows = public_results().filter(benchmark=case.benchmark.key, params_key=case.case.params_key)
    devices = compared_case(case).devices
    if case.benchmark.adds_up:
        assert devices is None
    best = max if case.benchmark.higher_is_better else min
    assert len(axis.figures) >= FEWEST_ACCELERATORS
    for pk, figure in axis.figures.items():
        alike = [row for row in rows if row.accelerator_id == pk and devices in (None, row.count)]
        assert figure.amount == pytest.approx(best(row.amount_per_device for row in alike))


def test_apple_stands_in_every_preset_for_which_it_has_figures():
    for x, y, size in SCATTER_PRESETS:
        vendors = {point.subject.vendor for point in drawing(x, y, size).points}
        assert "nvidia" in vendors
        if "launch_price_usd" not in (x, y) and "transistors" not in (x, y):  # no source gives these of its chips
            assert "apple" in vendors, (x, y)


def test_a_picture_by_price_says_where_the_macs_are():
    for x, says_so in (("launch_price_usd", True), ("memory_gb", False)):
        assert any("sells them in whole Macs only" in note for note in drawing(x, "fp32_tflops").notes) is says_so
    assert SpecValue.objects.filter(field="machine_price_usd", status="public").exists()


def test_a_figure_in_place_of_another_says_which_it_is(client):
    found = drawing("memory_bandwidth_gb_s", "compute-rate")
    assert point_of(found, "nvidia-h100-sxm5-80gb").y.instead == ""
    m3_max = point_of(found, "apple-m3-max-40")
    assert m3_max.y.instead.startswith("fp32")
    assert m3_max.look == " other"
    assert "fp32" in m3_max.words
    assert any("the first is not published" in note and "fp32" in note for note in found.notes)
    assert "†" in words_of(client.get("/explore/?y=compute-rate&vendor=apple"))
    assert point_of(found, "nvidia-geforce-gtx-1080-ti").y.instead.startswith("fp32")  # its fp16 is slower
    by_power = drawing("power", DECODE)
    assert "observed" in point_of(by_power, "apple-m3-max-40").x.instead
    assert "at the wall" in point_of(by_power, M2_ULTRA).x.instead
    assert point_of(by_power, RTX_4090).x.instead == ""


def test_points_are_rings_and_their_words_name_software_and_date(client):
    page = client.get(DECODE_VIEW).content.decode()
    assert 'class="chart scatter hollow"' in page
    words = point_of(drawing(), "nvidia-geforce-rtx-5080").words
    assert "tokens/s (CUDA" in words
    assert re.search(r"llama.cpp \w+ · 20\d\d-\d\d-\d\d\)", words)
    assert "cited" in words_of(client.get(DECODE_VIEW))
    figure = point_of(drawing(), RTX_4090).y
    assert figure.source_url.startswith("https://")
    assert f'href="{figure.run.url}"' in page


def test_the_bound_is_bandwidth_over_the_bytes_of_the_weights(client):
    found = drawing()
    assert found.bound is not None
    point = point_of(found, RTX_4090)
    assert found.bound.most(point.subject.pk) == pytest.approx(1008e9 / (3.56 * 2**30))
    assert point.share == "71 %"
    assert all(found.bound.share(point.subject.pk) <= 1 for point in found.points)
    (line,) = found.lines
    assert line.is_bound
    assert (found.x_kind, found.y_kind) == ("log", "log")
    page = words_of(client.get(DECODE_VIEW))
    assert "Memory bandwidth ÷ 3.56 GiB of weights that each token reads" in page
    assert re.search(r"GB/s ÷ 3\.56 GiB of weights that each token reads = \d{3}\.\d tokens/s", page)


def test_bounds_hold_for_swapped_axes_and_other_benchmarks():
    pk = point_of(drawing(), RTX_4090).subject.pk
    swapped = drawing(DECODE, "memory_bandwidth_gb_s")
    assert swapped.bound.share(pk) == pytest.approx(drawing().bound.share(pk))
    copy = drawing("memory_bandwidth_gb_s", "babelstream-copy")
    assert copy.bound.bound.divisor == 1
    assert copy.points
    assert all(copy.bound.share(point.subject.pk) <= 1.05 for point in copy.points)
    assert "for each LUP" in drawing("memory_bandwidth_gb_s", "fluidx3d-fp32-fp32").bound.words
    assert drawing("power", DECODE).bound is None


def test_the_bytes_of_the_weights_agree_with_those_of_fit():
    """`/fit/` counts them from the shape of the model; the picture takes what llama-bench prints."""
    tensors = weight_bytes(language_models()["llama-2-7b"].shape, PRECISIONS["q4_0"])
    assert sum(tensors.values()) == pytest.approx(drawing().bound.bound.divisor, rel=0.01)


def test_the_front_is_drawn_and_listed_as_shown(client):
    found = drawing("power", DECODE)
    front = {point.subject.slug for point in found.front}
    assert "nvidia-geforce-rtx-4090-d" in front
    for point in found.points:
        is_dominated = any(
            (other.x.amount <= point.x.amount and other.y.amount >= point.y.amount)
            and (other.x.amount, other.y.amount) != (point.x.amount, point.y.amount)
            for other in found.points
        )
        assert is_dominated != point.is_on_front, point.subject.slug
    assert len(found.pieces) == 2 * (len({(point.x.amount, point.y.amount) for point in found.front}) - 1)
    assert not {point.subject.slug for point in drawing("power", DECODE, vendor="apple").front} <= front
    page = words_of(client.get(f"/explore/?x=power&y={DECODE}"))
    assert f"Pareto front, {len(found.front)} of {len(found.points)}" in page
    for point in found.front:
        assert point.subject.name in page


def test_no_front_where_neither_direction_is_better():
    for field in ("die_area_mm2", "transistors"):
        found = drawing(field, DECODE)
        assert len(found.points) > 20, field
        assert (found.x.measure.better, found.front, found.pieces) == (None, (), ()), field


@pytest.mark.parametrize(("x", "extra"), [("power", "on_front"), ("memory_bandwidth_gb_s", "share_of_bound")])
def test_files_equal_what_is_drawn(client, x, extra):
    found = drawing(x)
    address = f"/explore/?x={x}&y={DECODE}&size=none"
    rows = list(csv.DictReader(io.StringIO(client.get(f"{address}&format=csv").content.decode())))
    assert [row["slug"] for row in rows] == [point.subject.slug for point in found.points]
    for row, point in zip(rows, found.points, strict=True):
        assert float(row["x_value"]) == pytest.approx(found.x.measure.scaled(point.x.amount))
        assert float(row["y_value"]) == pytest.approx(found.y.measure.scaled(point.y.amount))
        assert (row["y_basis"], row["y_source_url"]) == ("cited", point.y.source_url)
        assert row["y_result"] == point.y.run.url
        drawn = str(point.is_on_front) if extra == "on_front" else f"{float(row[extra]) * 100:.2g} %"
        assert drawn == (row[extra] if extra == "on_front" else point.share)
    data = client.get(f"{address}&format=json").json()
    assert [point["slug"] for point in data["points"]] == [row["slug"] for row in rows]
    assert all(extra in point for point in data["points"])


def test_plotly_draws_the_same_points_bound_and_front():
    catalogue = read_plot_data()
    bound, dots = plotly_scatter(catalogue, ScatterChoice(x="memory_bandwidth_gb_s", y=DECODE, size="none"))["data"]
    assert (bound["mode"], dots["mode"]) == ("lines+text", "markers+text")
    assert bound["y"][0] / bound["x"][0] == pytest.approx(1e9 / (3.56 * 2**30))
    assert all(shape.endswith("-open") for shape in dots["marker"]["symbol"])
    *_lines, front, dots = plotly_scatter(catalogue, ScatterChoice(x="power", y=DECODE, size="none"))["data"]
    found = drawing("power", DECODE)
    assert set(zip(front["x"], front["y"], strict=True)) >= {(point.x.amount, point.y.amount) for point in found.front}
    assert len(dots["x"]) == len(found.points)


def test_a_ladder_of_a_cited_setting_leads_to_its_results(client):
    found = rank(read_plot_data(), LadderChoice(field=DECODE), {})
    assert found.rows[0].subject.slug == "nvidia-geforce-rtx-5090"
    answer = client.get(f"/ladder/?field={DECODE}")
    assert 'class="data cards ladder hollow"' in answer.content.decode()
    assert f'href="{found.axis.ranking_url}"' in answer.content.decode()
    assert client.get(found.axis.ranking_url).status_code == 200
    assert "no cited result in this setting" in words_of(answer)
    rows = list(csv.DictReader(io.StringIO(client.get(f"/ladder/?field={DECODE}&format=csv").content.decode())))
    assert [row["slug"] for row in rows] == [row.subject.slug for row in found.rows]
    assert rows[0]["devices"] == "1"


@pytest.mark.parametrize(
    "name", ["mlperf-latency-bert-99", "gemm-bf16", "fluidx3d-fp32-fp32", "system-power-llama-3-2-3b"]
)
def test_any_cited_setting_can_be_an_axis(client, name):
    for query in (f"y={name}", f"x={name}&size=none", f"size={name}"):
        assert client.get(f"/explore/?{query}").status_code == 200
    json.dumps(plotly_scatter(read_plot_data(), ScatterChoice(y=name)), allow_nan=False)


def test_queries_do_not_depend_on_results(client, django_assert_num_queries):
    client.get(DECODE_VIEW)
    cache.clear()
    with django_assert_num_queries(1):  # the editions
        client.get(DECODE_VIEW)
    page = client.get(DECODE_VIEW).content
    assert len(page) < LIMIT_BYTES
    assert len(gzip.compress(page)) < LIMIT_COMPRESSED


def test_the_front_page_leads_to_the_same_picture():
    page = Client().get("/").content.decode()
    address = re.search(r'href="(/explore/\?[^"]*)"', page)[1].replace("&amp;", "&")
    assert address == DECODE_VIEW
    assert "Unknown" not in words_of(Client().get(address))


def test_without_cited_results_the_pages_stand(client):
    public_results().update(state=CitedResult.State.UNMATCHED)  # each row deleted would be written to the history
    page = words_of(client.get("/explore/"))
    assert "How fast does it generate" not in page
    assert f"Unknown field “{DECODE}”" in words_of(client.get(DECODE_VIEW))
