"""`/heatmap/`: every accelerator with a common cited result, each cell a share of the best in its column."""

import csv
import io
import re

import pytest
from django.core.cache import cache
from django.http import QueryDict

from stackviz.pages.benchmarks.ranking_words import shown_ranking
from stackviz.pages.benchmarks.selection import read_choice
from stackviz.pages.explore.axes import read_plot_data
from stackviz.pages.explore.heatmap import draw_heatmap
from stackviz.pages.explore.selection import ALL_SETTINGS, HeatmapChoice
from stackviz.records.cited.cases import public_results
from stackviz.records.cited.filled_cases import filled_cases
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS
from tests.responses import words_of

RTX_4090, M3_MAX = "nvidia-geforce-rtx-4090", "apple-m3-max-40"


@pytest.fixture(autouse=True)
def _loaded(db, cited):
    """All cited results."""
    cache.clear()


def heatmap(**chosen):
    return draw_heatmap(read_plot_data(), HeatmapChoice(**chosen))


def cell_of(found, slug, name):
    row = next(row for row in found.rows if row.subject.slug == slug)
    at = next(n for n, column in enumerate(found.columns) if column.axis.measure.name == name)
    return row.cells[at]


def test_shares_are_of_the_best_whichever_direction_is_better():
    found = heatmap()
    for at, column in enumerate(found.columns):
        shares = [row.cells[at].share for row in found.rows if row.cells[at]]
        assert max(shares) == 1
        assert min(shares) > 0
        assert len(shares) == column.count
        assert column.best_amount == next(iter(column.axis.figures.values())).amount
    more = cell_of(found, M3_MAX, "llama-bench-tg128")
    assert more.share == pytest.approx(66.31 / 300.4, rel=1e-3)
    latency = next(column for column in found.columns if column.axis.measure.name == "mlperf-latency-resnet50")
    amounts = [figure.amount for figure in latency.axis.figures.values()]
    assert latency.best_amount == min(amounts)
    assert all(0 < latency.share(figure) <= 1 for figure in latency.axis.figures.values())
    everything, apple = heatmap(), heatmap(vendor="apple")
    assert {row.subject.vendor for row in apple.rows} == {"apple"}
    name = "llama-bench-tg128"
    assert cell_of(apple, M3_MAX, name) == cell_of(everything, M3_MAX, name)


def test_a_column_names_a_first_where_its_ranking_does():
    columns = heatmap(settings=ALL_SETTINGS).columns
    reasons = set()
    for column in columns:
        key, _slash, query = column.axis.ranking_url.removeprefix("/benchmarks/").partition("/?")
        benchmark = CITED_BENCHMARKS[key]
        ranking = shown_ranking(benchmark, read_choice(QueryDict(query), benchmark))
        assert column.best.endswith(ranking.words.no_first)
        is_behind = ranking.words.overtaken or ranking.drawn.rows[0].remark.startswith("one of ")
        assert ("first of those" in column.best) == bool(not ranking.words.no_first and is_behind)
        reasons.add(ranking.words.no_first[:15])
    assert reasons == {"", "too few to rank"}
    assert not {"mlperf-power", "average-power"} & {column.axis.measure.name[:13] for column in columns}


def test_rows_with_most_benchmarks_come_first(client):
    found = heatmap()
    counts = [row.count for row in found.rows]
    assert counts == sorted(counts, reverse=True)
    assert "apple" in {row.subject.vendor for row in found.rows[:60]}
    page = words_of(client.get("/heatmap/"))
    assert "Apple M1 Ultra" in page
    assert "Colours are logarithmic" in page


def test_a_column_is_a_setting_that_its_benchmark_ranks_first():
    found = heatmap()
    by_benchmark: dict[str, int] = {}
    for column in found.columns:
        case = filled_cases()[column.axis.measure.name]
        by_benchmark[case.benchmark.key] = by_benchmark.get(case.benchmark.key, 0) + 1
        same = [other for other in filled_cases().values() if other.benchmark.key == case.benchmark.key]
        alike = [other.case for other in same if other.case.params.get("test") == case.case.params.get("test")]
        assert case.case.accelerators == max(other.accelerators for other in alike)
    assert by_benchmark["llama-bench"] == by_benchmark["localscore"] == 2  # a prompt read, an answer generated
    of_merit = [case.benchmark.key for case in filled_cases().values() if case.benchmark.has_first]
    assert set(by_benchmark) == set(of_merit)
    assert len(heatmap(settings="all").columns) == len(of_merit)


def test_each_cell_leads_to_the_ranking(client):
    found = heatmap()
    page = client.get("/heatmap/").content.decode()
    cell = cell_of(found, RTX_4090, "llama-bench-tg128")
    assert re.search(rf'<a href="{re.escape(cell.url)}" title="187.7 tokens/s">62</a>', page)
    answer = client.get(cell.url)
    assert answer.status_code == 200
    assert "187.7" in words_of(answer)


@pytest.mark.parametrize("query", ["", "vendor=apple", "settings=all"])
def test_files_have_exactly_the_cells(client, query):
    found = heatmap(**dict(part.split("=") for part in query.split("&") if part))
    rows = list(csv.DictReader(io.StringIO(client.get(f"/heatmap/?{query}&format=csv").content.decode())))
    cells = [(row.subject.slug, cell) for row in found.rows for cell in row.cells if cell]
    assert [row["slug"] for row in rows] == [slug for slug, _cell in cells]
    for line, (_slug, cell) in zip(rows, cells, strict=True):
        assert float(line["share_of_best"]) == pytest.approx(cell.share)
        assert line["source_url"] == cell.figure.source_url
        assert line["result"] == cell.figure.run.url
    data = client.get(f"/heatmap/?{query}&format=json").json()
    assert len(data["cells"]) == len(cells)
    assert len(data["columns"]) == len(found.columns)


def test_the_picture_has_exactly_the_cells_of_the_file(client):
    found = heatmap(vendor="apple")
    figure = client.get("/heatmap/?vendor=apple&format=plotly").json()
    (trace,) = figure["data"]
    names = [name.rstrip() for name in figure["layout"]["yaxis"]["ticktext"]]
    drawn = [
        (names[row], trace["text"][row][column], trace["customdata"][row][column][2])
        for row in range(len(names))
        for column in range(len(found.columns))
        if trace["z"][row][column] is not None
    ]
    assert drawn == [(row.subject.name, cell.text, cell.url) for row in found.rows for cell in row.cells if cell]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("settings=best", "Unknown setting"),
        ("vendor=nobody", "Unknown vendor"),
        ("vendor=cerebras", "No accelerator that matches these filters has a cited result."),
        ("page=99", "No accelerator that matches"),
    ],
)
def test_an_odd_address_is_answered_with_what_there_is(client, query, says):
    answer = client.get(f"/heatmap/?{query}")
    assert answer.status_code == 200
    assert says in words_of(answer)


def test_queries_do_not_depend_on_results(client, django_assert_num_queries):
    answer = client.get("/heatmap/?vendor=apple&kind=", headers={"hx-request": "true"})
    assert b"<html" not in answer.content
    assert answer["HX-Push-Url"] == "/heatmap/?vendor=apple"
    client.get("/heatmap/")
    cache.clear()
    with django_assert_num_queries(1):  # the editions
        answer = client.get("/heatmap/")
    assert len(answer.content) < 100_000
    with django_assert_num_queries(1):
        client.get("/heatmap/?vendor=apple&kind=soc")
    public_results().update(state=CitedResult.State.UNMATCHED)  # each row deleted would be written to the history
    assert "No accelerator that matches these filters has a cited result." in words_of(client.get("/heatmap/"))
