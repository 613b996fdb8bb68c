"""`/benchmarks/` lists every benchmark with counts and who is first."""

from django.core.cache import cache

from stackviz.pages.benchmarks.index_page import GROUPS, benchmark_groups
from stackviz.records.cited.cases import benchmark_cases, case_counts
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.queries import benchmark_summaries, cited_counts
from stackviz.records.cited.registry import CITED_BENCHMARKS
from tests.responses import words_of

LIMIT_BYTES = 60_000


def test_every_benchmark_is_in_a_named_group_with_a_leader():
    groups = benchmark_groups()
    assert [group.title for group in groups] == list(GROUPS.values())
    lines = [line for group in groups for line in group.lines]
    assert [line.title for line in lines] == [str(row.benchmark.title) for row in benchmark_summaries()]
    assert all(line.leader for line in lines)
    assert {benchmark.order // 100 for benchmark in CITED_BENCHMARKS.values()} <= GROUPS.keys()


def test_the_leader_is_the_best_of_the_first_case_shown(client):
    for key in ("llama-bench", "operator-time", "mlperf-inference"):
        assert case_counts().leading[key].params_key == benchmark_cases(key).leading_case({}).params_key
    params_key = case_counts().leading["llama-bench"].params_key
    best = (
        CitedResult.objects.filter(params_key=params_key, state__in=["public", "unmatched"]).order_by("-amount").first()
    )
    text = words_of(client.get("/benchmarks/"))
    assert f"{best.reported_name} {float(best.value):.1f} tokens/s" in text
    assert "tg128 · Llama 2 7B · Q4_0" in text


def test_the_counts_are_those_of_the_site(client):
    counts = cited_counts()
    text = words_of(client.get("/benchmarks/"))
    assert f"{counts.results:,} cited results of {counts.accelerators:,} accelerators" in text
    assert f"from {counts.sources:,} sources" in text
    CitedResult.objects.update(state="unmatched", accelerator=None)
    assert "No cited results are loaded yet." in words_of(client.get("/benchmarks/"))


def test_queries_do_not_grow_with_results(client, make_result, django_assert_max_num_queries):
    client.get("/benchmarks/")
    cache.clear()
    for number in range(30):
        make_result(value=str(100 + number))
    with django_assert_max_num_queries(13):
        answer = client.get("/benchmarks/")
    assert len(answer.content) < LIMIT_BYTES
    with django_assert_max_num_queries(4):
        client.get("/benchmarks/")


def test_drawing_the_page_again_reads_the_editions_and_no_result(client, django_assert_num_queries):
    """What an edition has is prepared in the process: a report that moves the page's key costs no look at 27,000."""
    first = client.get("/benchmarks/")
    cache.clear()
    with django_assert_num_queries(2) as captured:  # the editions, the state of machines
        again = client.get("/benchmarks/")
    assert not [query for query in captured.captured_queries if "cited_citedresult" in query["sql"]]
    assert words_of(again) == words_of(first)
