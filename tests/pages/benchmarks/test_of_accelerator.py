"""`/benchmarks/?accelerator=`: what others measured on one accelerator; a spec sheet fetches it as a part."""

import pytest
from django.core.cache import cache

from stackviz.pages.benchmarks.index_page import headline_results, scale_text
from stackviz.pages.benchmarks.ranking import ladder_of
from stackviz.pages.benchmarks.selection import CitedChoice
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS
from tests.responses import words_of

RTX_4090, H100, M3_MAX = "nvidia-geforce-rtx-4090", "nvidia-h100-sxm5-80gb", "apple-m3-max-40"
HTMX = {"HX-Request": "true"}


@pytest.mark.parametrize("slug", [RTX_4090, M3_MAX, H100, "amd-mi300x", "nvidia-geforce-rtx-5090", "apple-m4-max-40"])
def test_each_benchmark_has_a_line_with_value_place_and_source(slug):
    lines = headline_results(Accelerator.objects.get(slug=slug))
    own = CitedResult.objects.filter(accelerator__slug=slug, state="public")
    assert len(lines) == own.values("benchmark").distinct().count() > 0
    assert all(line.value and line.source_url.startswith("http") and 0 <= line.at <= 100 for line in lines)


def test_the_place_is_that_of_the_benchmarks_page():
    line = headline_results(Accelerator.objects.get(slug=M3_MAX))[0]
    rows = ladder_of(CITED_BENCHMARKS["llama-bench"], CitedChoice(chosen={})).rows
    rank = next(row.rank for row in rows if row.accelerator.slug == M3_MAX)
    assert line.rank == f"{rank} of {len(rows)}"
    assert line.scale.endswith("of its bound")


def test_benchmarks_with_the_same_parameters_are_ranked_apart():
    rows = CitedResult.objects.filter(benchmark="gpu-stream", state="public")
    triad = rows.get(accelerator__slug="amd-mi100", params__kernel="triad")
    assert CitedResult.objects.filter(benchmark="babelstream", params_key=triad.params_key, state="public").exists()
    rows.exclude(params_key=triad.params_key).update(state="unmatched")
    lines = headline_results(triad.accelerator)
    (line,) = [line for line in lines if line.benchmark == "gpu-stream"]
    assert line.setting == "triad"
    assert line.rank.endswith(f" of {len(ladder_of(CITED_BENCHMARKS['gpu-stream'], CitedChoice(chosen={})).rows)}")


def test_what_is_almost_the_first_is_level_with_it():
    assert scale_text(1.0, 1, is_of_bound=False) == "the first"
    assert scale_text(0.9999, 2, is_of_bound=False) == "level with the first"
    assert scale_text(0.22, 2, is_of_bound=False) == "0.22× the first"


def test_htmx_gets_the_table_and_others_a_page(client):
    address = f"/benchmarks/?accelerator={M3_MAX}"
    part = client.get(address, headers=HTMX).content.decode()
    assert "<html" not in part
    assert "tg128 · Llama 2 7B · Q4_0" in part
    assert "What others measured on Apple M3 Max" in words_of(client.get(address))
    sheet = client.get(f"/accelerators/{M3_MAX}/").content.decode()
    assert f'hx-get="{address}"' in sheet
    assert f'href="{address}"' in sheet
    slug = Accelerator.objects.filter(is_public=True).exclude(cited_results__state="public").first().slug
    assert "No cited result of" in words_of(client.get(f"/benchmarks/?accelerator={slug}", headers=HTMX))


def test_queries_do_not_grow_with_results(client, make_result, django_assert_max_num_queries):
    address = f"/benchmarks/?accelerator={RTX_4090}"
    client.get(address)
    for number in range(30):
        make_result(value=str(100 + number))
    cache.clear()
    with django_assert_max_num_queries(12):
        client.get(address)
    with django_assert_max_num_queries(4):
        client.get(address)
