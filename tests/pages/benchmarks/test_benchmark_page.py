"""`/benchmarks/<key>/` ranks accelerators like for like, for any address, at a fixed number of queries."""

import csv
import io
import re
from collections import Counter

import pytest
from django.core.cache import cache
from django.http import QueryDict

from stackviz.pages.benchmarks.benchmark_page import PER_PAGE
from stackviz.pages.benchmarks.index_page import benchmark_groups
from stackviz.pages.benchmarks.ranking import MOST_DOTS, draw_ladder, ladder_of
from stackviz.pages.benchmarks.ranking_words import shown_ranking
from stackviz.pages.benchmarks.selection import CitedChoice, read_choice
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited import queries
from stackviz.records.cited.cases import benchmark_cases, public_results
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.ranking import number_of_devices
from stackviz.records.cited.registry import CITED_BENCHMARKS
from tests.languages import chinese
from tests.pages.benchmarks.conftest import LLAMA
from tests.responses import words_of

LLAMA_BENCH = CITED_BENCHMARKS["llama-bench"]
LLAMA_QUERY = "test=tg128&model=Llama+2+7B&quant=Q4_0"
RTX_4090 = "nvidia-geforce-rtx-4090"
HTMX = {"HX-Request": "true"}


def ladder(key="llama-bench", **changes):
    return ladder_of(CITED_BENCHMARKS[key], CitedChoice(**{"chosen": {}, **changes}))


def test_each_accelerator_is_ranked_once_by_its_best_result(client):
    found = ladder(chosen=LLAMA)
    names = [row.name for row in found.rows]
    assert len(names) == len(set(names)) > 40
    bests = [row.best.amount for row in found.rows]
    assert bests == sorted(bests, reverse=True)
    for row in found.rows:
        assert row.best.amount == max(result.amount for result in row.results)
    public = [row for row in found.rows if row.slug]
    counted = CitedResult.objects.filter(params_key=found.case.params_key, state="public").count()
    assert sum(len(row.results) for row in public) == counted
    amounts = [row.best.amount for row in ladder("operator-time").rows]
    assert amounts == sorted(amounts)
    vendors = {row.accelerator.vendor.slug for row in ladder().rows}
    assert {"apple", "nvidia"} <= vendors
    text = words_of(client.get("/benchmarks/llama-bench/"))
    assert "Best of Apple" in text
    assert "Apple M3 Ultra" in text


def test_several_devices_are_ranked_by_the_share_of_one(client, make_result):
    params = {"model": "retinanet", "scenario": "Offline"}
    make_result(benchmark="mlperf-inference", params=params, value="8000000", unit="sample/s", count=8)
    found = ladder("mlperf-inference", chosen=params)
    assert found.is_shared_out
    assert (found.rows[0].accelerator.slug, found.rows[0].best.count) == (RTX_4090, 8)
    assert draw_ladder(found).rows[0].exact == "1,000,000 sample/s"
    text = words_of(client.get("/benchmarks/mlperf-inference/?model=retinanet&scenario=Offline"))
    assert "divided by the number of devices" in text
    assert "8 devices" in text


def test_where_devices_do_not_add_up_their_number_must_agree(client):
    found = ladder("mlperf-power")
    assert found.devices is not None
    assert {result.count for row in found.rows for result in row.results} == {found.devices}
    everything = ladder("mlperf-power", devices="any")
    assert len({result.count for row in everything.rows for result in row.results}) > 1
    assert number_of_devices(CITED_BENCHMARKS["mlperf-inference"], []) is None


@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("llama-bench", {"chosen": LLAMA}),
        ("llama-bench", {"chosen": LLAMA | {"backend": "Metal"}}),
        ("operator-time", {}),
        ("mlperf-power", {}),
        ("mlperf-power", {"devices": "1"}),
    ],
)
def test_the_first_stays_first_where_not_all_results_are_read(monkeypatch, key, changes):
    everything = ladder(key, **changes)
    monkeypatch.setattr(queries, "MOST_RANKED", 25)
    found = ladder(key, **changes)
    assert found.results_read == 25 < everything.results_read
    assert found.devices == everything.devices
    assert found.rows[0].best == everything.rows[0].best


def test_large_systems_do_not_push_out_a_faster_single_device(client, make_result, monkeypatch):
    monkeypatch.setattr(queries, "MOST_RANKED", 20)
    params = {"model": "retinanet", "scenario": "Offline"}
    shared = {"benchmark": "mlperf-inference", "params": params, "unit": "sample/s"}
    make_result(value="9000000", **shared)
    for number in range(20):
        make_result(slug="nvidia-h100-sxm5-80gb", value=str(64_000_000 + number), count=64, **shared)
    best = ladder("mlperf-inference", chosen=params).rows[0].best
    assert (best.accelerator.slug, best.count) == (RTX_4090, 1)
    text = words_of(client.get("/benchmarks/mlperf-inference/?model=retinanet&scenario=Offline"))
    assert re.search(r"This setting has \d+ results; 20 are read, the best of each accelerator first", text)


def test_equal_results_share_a_rank(make_result):
    value = str(ladder(chosen=LLAMA).rows[0].best.amount)
    make_result(slug="apple-m3-max-40", value=value)
    rows = ladder(chosen=LLAMA).rows
    assert [row.rank for row in rows[:3]] == [1, 1, 3]


def test_bounds_and_shares_are_of_published_figures():
    row = next(row for row in draw_ladder(ladder(chosen=LLAMA)).rows if row.slug == RTX_4090)
    assert row.formula == "1.008 TB/s ÷ 3.56 GiB"
    assert row.share == "71 %"  # 187.7 x 3.82 GB of 1,008 GB/s
    assert row.dot.at < row.bound_at <= 100
    rows = draw_ladder(ladder("babelstream", chosen={"kernel": "triad"})).rows
    h100 = next(row for row in rows if row.slug == "nvidia-h100-sxm5-80gb")
    assert h100.share == "89 %"


def test_other_results_are_paler_dots_and_their_range_is_text(make_result, client):
    for number in range(60):
        make_result(value=str(100 + number))
    row = next(row for row in draw_ladder(ladder(chosen=LLAMA)).rows if row.slug == RTX_4090)
    assert len(row.others) == MOST_DOTS
    assert row.spread.endswith("results, 100 to 187.7")
    assert "100 to 187.7" in words_of(client.get(f"/benchmarks/llama-bench/?{LLAMA_QUERY}"))


def test_facets_count_and_long_lists_are_typed(client):
    page = client.get("/benchmarks/llama-bench/?test=pp512").content.decode()
    assert re.search(r'<option value="pp512" selected>pp512 \(\d+\)</option>', page)
    assert "automatic: Llama 2 7B" in page
    assert 'name="backend"' in page
    page = client.get("/benchmarks/inference-throughput/").content.decode()
    assert 'list="model-values"' in page
    assert page.count("<option") < 700


def test_settings_have_addresses_of_one_form(client):
    page = client.get("/benchmarks/gemm/").content.decode()
    links = re.findall(r'class="chip" href="(/benchmarks/gemm/\?[^"]+)"', page.partition('id="settings"')[2])
    assert len(links) >= 5
    pages = [client.get(link.replace("&amp;", "&")).content.decode() for link in links]
    headings = {re.search(r'<p class="lead">(.*?)</p>', text)[1] for text in pages}
    assert len(headings) == len(links)
    case = ladder("gemm").cases[3]
    found = ladder("gemm", case=case.params_key)
    assert found.case.params_key == case.params_key
    assert read_choice(QueryDict(f"case={case.params_key}"), CITED_BENCHMARKS["gemm"]).notes == ()
    page = client.get("/benchmarks/llama-bench/?test=TG128&model=llama+2+7b&quant=q4_0", headers=HTMX)
    assert "Unknown" not in words_of(page)
    assert page["HX-Push-Url"] == client.get(f"/benchmarks/llama-bench/?{LLAMA_QUERY}", headers=HTMX)["HX-Push-Url"]
    choice = read_choice(QueryDict("precision=FP16"), CITED_BENCHMARKS["inference-throughput"])
    assert (choice.chosen, choice.notes) == ({"precision": "fp16"}, ())
    answer = client.get("/benchmarks/llama-bench/?test=pp512&model=", headers={"HX-Request": "true"})
    assert answer["HX-Push-Url"] == "/benchmarks/llama-bench/?test=pp512"
    assert "<html" not in answer.content.decode()
    assert "HX-Request" in answer["Vary"]


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("model=%3Cscript%3Ealert(1)%3C/script%3E", "Unknown model “&lt;script&gt;alert(1)&lt;/script&gt;”"),
        ("case=zzz", "Unknown setting “zzz”"),
        ("nonsense=1", "Unknown parameter “nonsense”"),
        ("m=1", "Unknown parameter “m”"),
    ],
)
def test_what_the_address_may_not_say_is_named_and_ignored(client, query, note):
    answer = client.get(f"/benchmarks/llama-bench/?{query}")
    assert answer.status_code == 200
    assert note in answer.content.decode()
    assert "<script>alert" not in answer.content.decode()


def test_parameters_that_exclude_each_other_lead_back(client):
    case = ladder(chosen={"test": "pp512"}).case.params_key
    text = words_of(client.get(f"/benchmarks/llama-bench/?test=tg128&case={case}"))
    assert "does not have these parameters" in text
    assert "tg128 · Llama 2 7B" in text
    text = words_of(client.get("/benchmarks/llama-bench/?backend=Metal&quant=Q4_0&depth=32768&test=pp512"))
    assert "No result has these parameters." in text
    assert "No result of this setting is of 77 devices" in words_of(client.get("/benchmarks/mlperf-power/?devices=77"))
    assert "“x” is not a number of devices" in words_of(client.get("/benchmarks/mlperf-power/?devices=x"))


def test_hostile_texts_of_a_source_are_escaped(client, make_result):
    hostile = "<img src=x onerror=alert(1)>"
    result = make_result(
        value="99999", software={"llama.cpp": hostile}, params={**LLAMA, "flags": hostile}, note=hostile
    )
    result.source.title = hostile
    result.source.save()
    make_result(slug=None, reported_name=hostile, state="unmatched")
    for address in (f"/benchmarks/llama-bench/?{LLAMA_QUERY}", "/benchmarks/"):
        page = client.get(address).content.decode()
        assert hostile not in page
    assert "onerror" in client.get(f"/benchmarks/llama-bench/?{LLAMA_QUERY}").content.decode()


def test_what_is_not_ranked_is_listed_with_its_reason(client, make_result):
    make_result(slug=None, reported_name="RTX 4090 of a friend", state="unmatched")
    make_result(value="9999", state="doubtful", reason="faster than light")
    text = words_of(client.get(f"/benchmarks/llama-bench/?{LLAMA_QUERY}"))
    assert "RTX 4090 of a friend" in text
    assert "faster than light" in text
    assert "9,999" not in text.partition("not ranked")[0]


def unranked_names(client, address):
    page = client.get(address).content.decode().partition("left-out")[2]
    return re.findall(r'<th scope="row">(.*?)</th>', page)


def test_the_best_unranked_results_are_listed(client, make_result):
    case = ladder("system-power").case
    unranked = {"benchmark": "system-power", "params": dict(case.params), "unit": "W", "slug": None, "count": 8}
    for number in range(60):
        make_result(reported_name=f"card {number}", value=str(number + 1), state="unmatched", **unranked)
    names = unranked_names(client, f"/benchmarks/system-power/?case={case.params_key}")
    assert len(names) == 50
    assert names[0].startswith("card 0 ")
    assert not any(name.startswith("card 59") for name in names)


def test_better_results_without_a_sheet_are_named_above(client, make_result):
    best = ladder(chosen=LLAMA).rows[0].best.amount
    CitedResult.objects.filter(state="unmatched", params_key=ladder(chosen=LLAMA).case.params_key).delete()
    make_result(slug=None, reported_name="slower card", value=str(best / 2), state="unmatched")
    address = f"/benchmarks/llama-bench/?{LLAMA_QUERY}"
    assert "without a certain sheet" not in words_of(client.get(address))
    for name, factor in (("faster card", 2), ("fastest card", 3)):
        make_result(slug=None, reported_name=name, value=str(round(best * factor)), state="unmatched")
    said = f"2 results without a certain sheet are better, the best {round(best * 3)} tokens/s (fastest card)"
    page = client.get(address)
    assert said in words_of(page).partition("Measured with")[0]
    assert 'href="#not-ranked"' in page.content.decode()
    assert 'id="not-ranked" open' in page.content.decode()
    assert said in client.get(f"{address}&format=svg").content.decode()
    assert "first of those with a sheet" in words_of(client.get("/benchmarks/"))
    assert "without a certain sheet" not in words_of(client.get(f"{address}&backend=Metal"))


def test_unranked_results_are_ordered_by_amount_per_device(client, make_result):
    params = {"model": "retinanet", "scenario": "Offline"}
    unranked = {"benchmark": "mlperf-inference", "params": params, "unit": "sample/s", "slug": None}
    for name, value, count in (("eight", "80000000", 8), ("lone", "20000000", 1)):
        make_result(reported_name=name, value=value, count=count, state="unmatched", **unranked)
    names = unranked_names(client, "/benchmarks/mlperf-inference/?model=retinanet&scenario=Offline")
    assert [name.partition(" ")[0] for name in names[:2]] == ["lone", "eight"]


def test_files_have_every_result_and_what_was_compared(client):
    answer = client.get(f"/benchmarks/llama-bench/?{LLAMA_QUERY}&format=csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    found = ladder(chosen=LLAMA)
    assert len(rows) == found.results
    bests = [row for row in rows if row["is_best"] == "True"]
    assert [row["slug"] for row in bests] == [row.slug for row in found.rows]
    assert all(row["source_url"].startswith("http") and row["result"].startswith("/benchmarks/") for row in rows)
    assert float(bests[0]["amount"]) == found.rows[0].best.amount
    data = client.get(f"/benchmarks/llama-bench/?{LLAMA_QUERY}&format=json").json()
    assert data["kind"] == "cited"
    assert data["case"]["params"] == LLAMA
    assert data["results"][0]["rank"] == 1
    assert [client.get(f"/benchmarks/{key}/").status_code for key in ("none", "LLAMA-BENCH")] == [404, 404]
    assert client.get("/benchmarks/llama-bench/?depth=32768&quant=F16&format=json").json()["results"] == []


def test_more_rows_than_a_page_has_are_paged(client, make_result):
    for accelerator in Accelerator.objects.filter(is_public=True)[:150]:
        make_result(slug=accelerator.slug, value="50")
    first = client.get("/benchmarks/llama-bench/").content.decode()
    then = client.get("/benchmarks/llama-bench/?page=2").content.decode()
    assert first.count('class="num place"') == then.count('class="num place"') == PER_PAGE
    assert 'rel="next"' in first
    assert 'rel="prev"' in then


def test_queries_do_not_grow_with_results(client, make_result, django_assert_max_num_queries):
    address = f"/benchmarks/llama-bench/?{LLAMA_QUERY}"
    client.get(address)
    for accelerator in Accelerator.objects.filter(is_public=True)[:60]:
        for number in range(3):
            make_result(slug=accelerator.slug, value=str(50 + number))
    cache.clear()
    with django_assert_max_num_queries(9):
        client.get(address)
    with django_assert_max_num_queries(6):
        client.get(address)


def test_drawing_a_ranking_again_reads_no_cited_result(client, make_result, django_assert_num_queries):
    """Words, rows and facets of a choice are prepared with the edition, in each language."""
    english = client.get("/benchmarks/llama-bench/?quant=Q4_0")
    translated = client.get(chinese("/benchmarks/llama-bench/?quant=Q4_0"))
    cache.clear()
    with django_assert_num_queries(2):  # the editions, the state of machines
        again = client.get("/benchmarks/llama-bench/?quant=Q4_0")
    assert words_of(again) == words_of(english)
    cache.clear()
    assert "77,777" not in words_of(english)
    translated_again = client.get(chinese("/benchmarks/llama-bench/?quant=Q4_0"))
    assert words_of(translated_again) == words_of(translated) != words_of(english)
    make_result(value="77777")
    assert "77,777" in words_of(client.get("/benchmarks/llama-bench/?quant=Q4_0"))


@pytest.mark.parametrize(
    "chosen",
    [{}, {"quant": "Q4_0", "test": "tg128"}, {"model": "Llama 2 7B", "backend": "CUDA"}, {"test": "-"}],
)
def test_a_choice_leaves_the_settings_that_have_its_values(chosen):
    """Looked up by value in the page, counted here result by result."""
    results = [
        (result.params_key, result.params)
        for result in public_results().filter(benchmark="llama-bench").only("params_key", "params")
    ]
    matching = [
        (key, params)
        for key, params in results
        if all(str(params.get(name, "")) == value for name, value in chosen.items())
    ]
    known = benchmark_cases("llama-bench")
    cases = known.cases_matching(chosen)
    assert {case.params_key: case.results for case in cases} == Counter(key for key, _params in matching)
    assert cases == sorted(cases, key=lambda case: case.sort_key)
    for facet in known.cited_facets(chosen):
        others = [
            params[facet.name]
            for _key, params in results
            if facet.name in params
            and all(str(params.get(name, "")) == value for name, value in chosen.items() if name != facet.name)
        ]
        assert {option.value: option.results for option in facet.options} == Counter(others)


@pytest.mark.parametrize("key", CITED_BENCHMARKS)
def test_every_benchmark_has_a_page_and_files(client, key):
    page = client.get(f"/benchmarks/{key}/")
    assert page.status_code == 200
    assert len(page.content) < 160_000
    assert client.get(f"/benchmarks/{key}/?format=json").json()["benchmark"] == key


def test_a_best_that_nothing_supports_says_so(client, make_result):
    best = next(row for row in ladder(chosen=LLAMA).rows if row.slug == RTX_4090)
    assert best.lone_lead is None
    make_result(value=str(best.best.amount * 1.2))
    assert next(row for row in ladder(chosen=LLAMA).rows if row.slug == RTX_4090).lone_lead is None
    make_result(value=str(best.best.amount * 2))
    found = ladder(chosen=LLAMA).rows[0]
    assert round(found.lone_lead, 2) == round(2 / 1.2, 2)
    assert "1.7× its next result" in words_of(client.get(f"/benchmarks/llama-bench/?{LLAMA_QUERY}"))
    assert "1.7× its next result" in words_of(client.get("/benchmarks/"))


def test_a_single_result_is_called_that(client, make_result):
    best = ladder(chosen=LLAMA).rows[0]
    slug = next(row.accelerator.slug for row in ladder("gemm").rows if not CitedResult.objects.filter(
        accelerator=row.accelerator, benchmark="llama-bench", params_key=best.best.params_key).exists())  # fmt: skip
    make_result(slug=slug, value=str(best.best.amount * 2))
    first = draw_ladder(ladder(chosen=LLAMA)).rows[0]
    assert (first.slug, first.remark) == (slug, "a single result")
    assert "a single result" in words_of(client.get(f"/benchmarks/llama-bench/?{LLAMA_QUERY}"))
    leader = next(line.leader for group in benchmark_groups() for line in group.lines if "llama-bench" in line.url)
    assert (leader.slug, leader.remark) == (slug, "a single result")


def test_the_lead_of_a_shortest_time_counts_the_same_way(make_result):
    row = ladder("operator-time").rows[0]
    make_result(
        slug=row.accelerator.slug, benchmark="operator-time", params=row.best.params, unit=row.best.unit,
        value=str(float(row.best.value) / 3), software={},
    )  # fmt: skip
    assert round(ladder("operator-time").rows[0].lone_lead, 1) == 3.0


def test_a_vendor_is_shown_alone_with_its_ranks_among_all(client):
    rows = shown_ranking(LLAMA_BENCH, read_choice(QueryDict("vendor=apple"), LLAMA_BENCH)).rows
    everything = shown_ranking(LLAMA_BENCH, read_choice(QueryDict(""), LLAMA_BENCH)).rows
    assert 10 < len(rows) < len(everything)
    assert list(rows) == [row for row in everything if row.name.startswith("Apple")]
    assert int(rows[0].rank) > 1
    page = client.get("/benchmarks/llama-bench/?vendor=apple").content.decode()
    assert re.search(r'href="/benchmarks/llama-bench/"\s+aria-current="true"\s*>\s*Apple', page)
    file = client.get("/benchmarks/llama-bench/?vendor=apple&format=csv").content.decode()
    ranked = {row["slug"] for row in csv.DictReader(io.StringIO(file)) if row["kind"] == "cited"}
    assert ranked == {row.slug for row in rows}


def test_the_chosen_vendor_has_its_best_among_the_tiles():
    gemm = CITED_BENCHMARKS["gemm"]
    best = shown_ranking(gemm, read_choice(QueryDict(""), gemm)).best
    chosen = shown_ranking(gemm, read_choice(QueryDict("vendor=apple"), gemm)).best
    assert "Apple" not in {each.vendor for each in best}
    assert (len(chosen), chosen[-1].vendor, chosen[:-1]) == (len(best), "Apple", best[:-1])


def test_a_kind_without_rows_and_an_unknown_vendor_are_answered(client):
    assert "No result has these parameters." in client.get("/benchmarks/llama-bench/?kind=npu").content.decode()
    text = client.get("/benchmarks/llama-bench/?vendor=voodoo").content.decode()
    assert "voodoo" in text
    assert "RTX 4090" in text
