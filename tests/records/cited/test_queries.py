"""Reads across cited results: fixed numbers of queries, best first, facets with counts, the bound."""

import pytest

from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.cases import benchmark_cases, case_counts
from stackviz.records.cited.checks import check_cited
from stackviz.records.cited.files import read_cited
from stackviz.records.cited.models import CitedResult, CitedSource
from stackviz.records.cited.queries import (
    benchmark_summaries,
    cited_counts,
    cited_of_accelerator,
    cited_of_benchmark,
    not_charted,
    share_of_bound,
)
from stackviz.records.cited.registry import CITED_BENCHMARKS

LLAMA = {"model": "Llama 2 7B", "quant": "Q4_0", "test": "tg128"}


@pytest.fixture(autouse=True)
def _loaded(db, cited):
    """All cited results."""


def test_every_line_of_the_files_is_a_row():
    files = read_cited()
    assert CitedResult.objects.count() == len(files.results) + len(files.of_hosts)
    assert CitedSource.objects.count() == len(files.sources)
    assert CitedResult.objects.filter(state="public").count() > 20_000
    assert CitedResult.objects.filter(state="doubtful").count() > 100
    assert not CitedResult.history.exists()


def test_counts_add_up(django_assert_num_queries):
    found = cited_counts()
    assert found.results + found.unmatched + found.doubtful + found.withdrawn == CitedResult.objects.count()
    assert found.results > 20_000
    assert found.accelerators > 150
    assert found.sources > 500
    with django_assert_num_queries(2):
        assert cited_counts() == found
    assert sum(row.results for row in benchmark_summaries()) == found.results


def test_the_ranking_compares_like_with_like_best_first(django_assert_num_queries):
    cited_of_benchmark("llama-bench", LLAMA)
    with django_assert_num_queries(3):
        ranking = cited_of_benchmark("llama-bench", LLAMA)
    assert ranking.case.params == LLAMA
    assert ranking.case.results == len(ranking.results) > 50
    amounts = [row.amount for row in ranking.results]
    assert amounts == sorted(amounts, reverse=True)
    assert {row.params_key for row in ranking.results} == {ranking.case.params_key}
    assert {"nvidia-geforce-rtx-4090", "apple-m3-max-40"} <= {row.accelerator.slug for row in ranking.results}


def test_times_are_ranked_shortest_first():
    amounts = [row.amount for row in cited_of_benchmark("operator-time", {"op": "Softmax"}).results]
    assert amounts == sorted(amounts)


def test_without_a_choice_the_leading_setting_is_shown():
    ranking = cited_of_benchmark("gemm", {})
    assert ranking.case.params == CITED_BENCHMARKS["gemm"].leads_with
    assert ranking.case.accelerators < max(case.accelerators for case in ranking.cases)


def test_a_setting_that_need_not_agree_narrows_the_results():
    everything = cited_of_benchmark("llama-bench", LLAMA)
    metal = cited_of_benchmark("llama-bench", LLAMA | {"backend": "Metal"})
    assert metal.case.params_key == everything.case.params_key
    assert 0 < len(metal.results) < len(everything.results)
    assert {row.accelerator.slug.partition("-")[0] for row in metal.results} == {"apple"}


def test_the_database_chooses_as_the_lists_of_choices_count():
    """Of parameters that may differ within a case, numbers too."""
    compared = 0
    for key, name in (("llama-bench", "backend"), ("mlperf-inference", "suite"), ("gpu-stream", "block_size")):
        known = benchmark_cases(key)
        for option in next(facet for facet in known.cited_facets({}) if facet.name == name).options[:5]:
            ranking = cited_of_benchmark(key, {name: str(option.value)})
            assert len(ranking.results) == ranking.case.results
            assert {row.params[name] for row in ranking.results} == {option.value}
            compared += 1
    assert compared > 6


def test_a_choice_nothing_has_finds_nothing():
    ranking = cited_of_benchmark("gemm", {"dtype": "fp3"})
    assert (ranking.case, ranking.results, list(ranking.cases)) == (None, (), [])


def test_facets_count_under_what_is_chosen_in_the_others():
    facets = {
        facet.name: facet for facet in benchmark_cases("llama-bench").cited_facets({"test": "tg128", "quant": "Q4_0"})
    }
    assert next(option for option in facets["quant"].options if option.is_chosen).value == "Q4_0"
    tests = {option.value: option.results for option in facets["test"].options}
    rows = CitedResult.objects.filter(benchmark="llama-bench", state="public", params__quant="Q4_0")
    assert tests["pp512"] == rows.filter(params__test="pp512").count()
    depths = [option.value for option in benchmark_cases("llama-bench").cited_facets({})[3].options]
    assert depths == sorted(depths) == [4096, 8192, 16384, 32768]


def test_cases_are_counted_alike_at_once_and_by_benchmark(django_assert_num_queries):
    counts = case_counts()
    for key in ("gpu-stream", "babelstream", "train-throughput", "inference-throughput"):
        by_benchmark = {case.params_key: case for case in benchmark_cases(key).cases_matching({})}
        assert by_benchmark.keys() == {params_key for benchmark, params_key in counts if benchmark == key}
        for params_key, case in by_benchmark.items():
            assert counts[key, params_key].sort_key == case.sort_key
    assert counts["gemm", "unknown"].accelerators == 0
    with django_assert_num_queries(2):
        case_counts()


@pytest.mark.parametrize("slug", ["nvidia-h100-sxm5-80gb", "nvidia-geforce-rtx-4090", "apple-m3-max-40", "amd-mi300x"])
def test_an_accelerator_has_a_headline_for_each_benchmark(slug, django_assert_num_queries):
    accelerator = Accelerator.objects.get(slug=slug)
    cited_of_accelerator(accelerator)
    with django_assert_num_queries(4):
        found = cited_of_accelerator(accelerator)
    assert found
    own = CitedResult.objects.filter(accelerator=accelerator, state="public")
    assert sum(item.total for item in found) == own.count()
    for item in found:
        assert {row.params_key for row in item.results} == {item.case.params_key}
        assert len(item.results) <= item.total


def test_a_benchmark_that_no_case_leads_has_a_headline(monkeypatch):
    """The cases are of the edition that was read; a benchmark may have got its first result since."""
    monkeypatch.setattr(case_counts(), "leading", {})
    assert cited_of_accelerator(Accelerator.objects.get(slug="nvidia-h100-sxm5-80gb"))


def test_an_accelerator_that_nobody_measured_has_none():
    accelerator = Accelerator.objects.exclude(cited_results__state="public").first()
    assert cited_of_accelerator(accelerator) == []


def test_the_bound_of_a_copy_is_the_published_bandwidth():
    row = CitedResult.objects.get(
        benchmark="babelstream", accelerator__slug="nvidia-h100-sxm5-80gb", params__kernel="triad"
    )
    found = share_of_bound(row)
    assert (found.field, found.peak) == ("memory_bandwidth_gb_s", 3.35e12)
    assert found.share == pytest.approx(2.97 / 3.35)


def test_the_bound_of_a_lattice_counts_its_bytes():
    row = CitedResult.objects.get(
        benchmark="fluidx3d", accelerator__slug="nvidia-geforce-rtx-4090", params__precision="FP32/FP32"
    )
    assert share_of_bound(row).share == pytest.approx(row.amount * 153 / 1.008e12, rel=1e-3)


def test_decoding_has_a_bound_but_no_share():
    row = cited_of_benchmark("llama-bench", LLAMA).results[0]
    found = share_of_bound(row)
    assert (found.field, found.share) == ("memory_bandwidth_gb_s", None)


def test_rate_above_the_usual_peak_uses_the_next_dense_peak():
    rows = CitedResult.objects.filter(
        benchmark="gemm", accelerator__slug="nvidia-geforce-rtx-5090", params__dtype="fp8"
    )
    found = [share_of_bound(row) for row in rows]
    assert found
    assert all(share.share <= 1 for share in found)


def test_what_is_not_charted_is_listed_in_pages():
    first = list(not_charted("doubtful", limit=10))
    then = list(not_charted("doubtful", after=first[-1].pk, limit=10))
    assert len(first) == len(then) == 10
    assert all(row.reason for row in first + then)
    assert first[-1].pk < then[0].pk


def test_the_curated_results_pass_every_check():
    assert [check.name for check in check_cited() if check.problems] == []
