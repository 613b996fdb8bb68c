"""`/benchmarks/?accelerator=&accelerator=`: results of several accelerators; a comparison fetches them as a part."""

import re

import pytest
from django.core.cache import cache

from stackviz.pages.benchmarks.side_by_side import side_by_side
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.models import CitedResult
from tests.responses import words_of

RTX_4090, H100, M3_MAX = "nvidia-geforce-rtx-4090", "nvidia-h100-sxm5-80gb", "apple-m3-max-40"
HTMX = {"HX-Request": "true"}
MINE = {"model": "A model of mine", "quant": "Q4_0", "test": "tg128"}


def compared(*slugs):
    by_slug = {item.slug: item for item in Accelerator.objects.filter(slug__in=slugs).select_related("vendor")}
    return side_by_side([by_slug[slug] for slug in slugs])


def address(*slugs):
    return "/benchmarks/?" + "&".join(f"accelerator={slug}" for slug in slugs)


def test_every_row_is_of_equal_parameters():
    shown = compared(RTX_4090, M3_MAX)
    assert len(shown.benchmarks) >= 2
    for benchmark in shown.benchmarks:
        for row in benchmark.rows:
            digests = [cell.url.rstrip("/").rsplit("/", 2)[-2:] for cell in row.cells if not cell.missing]
            keys = {"/".join(digest) for digest in digests}
            rows = CitedResult.objects.filter(data_key__in=keys)
            assert len({(result.benchmark, result.params_key) for result in rows}) == 1
            assert len(keys) == 2


def row_of_mine(shown):
    return next(row for benchmark in shown.benchmarks for row in benchmark.rows if "of mine" in row.setting)


def test_the_best_of_each_has_its_factor(make_result, monkeypatch):
    for name in ("SETTINGS_OF_A_BENCHMARK", "SETTINGS_TRIED"):
        monkeypatch.setattr(f"stackviz.pages.benchmarks.side_by_side.{name}", 10_000)
    for slug, value in ((RTX_4090, "100"), (RTX_4090, "80"), (M3_MAX, "50")):
        make_result(slug=slug, params=MINE, value=value)
    first, second = row_of_mine(compared(RTX_4090, M3_MAX)).cells
    assert (first.value, first.at, first.factor, first.is_best) == ("100 tokens/s", 100.0, "", True)
    assert (second.value, second.at, second.factor, second.is_best) == ("50 tokens/s", 50.0, "0.5×", False)


def test_no_factor_is_given_across_precisions():
    rows = [row for benchmark in compared(H100, "nvidia-b200-hgx").benchmarks for row in benchmark.rows]
    differ = [row for row in rows if "fp8" in row.cells[0].others and "fp4" in row.cells[1].others]
    assert differ
    assert {cell.factor for row in differ for cell in row.cells} == {""}
    assert any(cell.factor for row in rows for cell in row.cells)


def test_another_number_of_devices_is_not_mixed_in(make_result):
    make_result(slug=RTX_4090, params=MINE, value="100")
    make_result(slug=M3_MAX, params=MINE, value="60")
    make_result(slug=H100, params=MINE, value="900", count=8)
    shown = compared(RTX_4090, M3_MAX, H100)
    row = next(row for benchmark in shown.benchmarks for row in benchmark.rows if "of mine" in row.setting)
    assert [cell.missing for cell in row.cells] == ["", "", "only of 8 devices"]


def test_what_only_one_was_run_on_is_counted():
    shown = compared(H100, M3_MAX)
    assert shown.unshared
    assert {own.name for own in shown.unshared} <= {item.name for item in shown.accelerators}
    assert all(own.results and own.benchmarks and "accelerator=" in own.url for own in shown.unshared)


def test_unknown_and_too_many_accelerators_are_named(client):
    assert "Unknown accelerator “h999”" in words_of(client.get(address(H100, "h999")))
    slugs = Accelerator.objects.filter(is_public=True).values_list("slug", flat=True)[:7]
    assert "At most 6 accelerators are compared" in words_of(client.get(address(*slugs)))


@pytest.mark.parametrize("slugs", [(RTX_4090, M3_MAX), (RTX_4090, M3_MAX, H100)])
def test_queries_do_not_grow_with_results_or_accelerators(client, make_result, django_assert_max_num_queries, slugs):
    client.get(address(*slugs))
    for number in range(30):
        make_result(value=str(100 + number))
    cache.clear()
    with django_assert_max_num_queries(8):
        client.get(address(*slugs))
    with django_assert_max_num_queries(4):
        client.get(address(*slugs))


def test_htmx_gets_the_table_and_others_a_page(client):
    part = client.get(address(H100, M3_MAX), headers=HTMX).content.decode()
    assert "<html" not in part
    assert part.count('rel="nofollow"') >= 2
    cells = re.findall(r'<td class="(v-\w+)" data-label="([^"]+)"', part)  # in the colours of the comparison
    assert set(cells) == {("v-nvidia", "NVIDIA H100 SXM5 80GB"), ("v-apple", "Apple M3 Max (40-core GPU)")}
    assert "Whole comparison" in words_of(client.get(address(H100, M3_MAX)))
    page = client.get(f"/compare/?a={H100}&a={M3_MAX}").content.decode()
    assert re.findall(r'hx-get="(/benchmarks/[^"]*)"', page) == [address(H100, M3_MAX).replace("&", "&amp;")]
