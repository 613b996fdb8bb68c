"""No page names a first that is not earned: at least six accelerators of two vendors, and nothing better is hidden."""

import html
import re

import pytest
from django.http import QueryDict

from stackviz.pages.benchmarks.index_page import benchmark_groups, headline_results
from stackviz.pages.benchmarks.ranking import ladder_of
from stackviz.pages.benchmarks.selection import read_choice
from stackviz.pages.sharing.subjects import ranking_picture
from stackviz.records.catalog.models import Accelerator
from stackviz.records.cited.cases import benchmark_cases, case_counts
from stackviz.records.cited.models import CitedResult
from stackviz.records.cited.registry import CITED_BENCHMARKS
from tests.pages.benchmarks.conftest import LLAMA
from tests.responses import words_of

FEW = "too few to rank"
POWER = {"mlperf-power", "average-power", "system-power"}


def ladder_shown(key):
    benchmark = CITED_BENCHMARKS[key]
    return ladder_of(benchmark, read_choice(QueryDict(), benchmark))


def is_field(key):
    """Counted here anew, from the rows that the page ranks."""
    rows = [row for row in ladder_shown(key).rows if not row.family]
    return len(rows) >= 6 and len({row.accelerator.vendor.slug for row in rows}) >= 2 and key not in POWER


def texts_of(page):
    """What search engines and shared links show: the title and every description."""
    metas = re.findall(r'<meta (?:name|property)="[^"]*(?:title|description)" content="([^"]*)"', page)
    return [html.unescape(text) for text in (re.search(r"<title>(.*?)</title>", page, re.DOTALL)[1], *metas)]


def leader_of(key):
    return next(line.leader for group in benchmark_groups() for line in group.lines if f"/{key}/" in line.url)


@pytest.mark.parametrize("key", CITED_BENCHMARKS)
def test_places_that_print_a_first_agree_on_whether_there_is_one(client, key):
    answer = client.get(f"/benchmarks/{key}/")
    page = answer.content.decode()
    title, *others = texts_of(page)
    has_first = is_field(key)
    picture = ranking_picture(ladder_shown(key))
    assert len(others) >= 3
    assert ("is first with" in title) == has_first
    assert any("is first" in text for text in others) == has_first
    assert any(re.search(r"\b1\. ", text) for text in others) == has_first
    assert ('class="verdict leaders"' in page) == has_first
    assert bool(re.findall(r'class="num place">\d', page)) == has_first
    assert all(bar.name.startswith("1. ") for bar in picture.bars[:1]) == has_first
    assert ("1. " in client.get(f"/benchmarks/{key}/?format=svg").content.decode()) == has_first
    data = client.get(f"/benchmarks/{key}/?format=json").json()["results"]
    assert (data[0]["rank"] == 1) == has_first
    assert bool(leader_of(key).name) == has_first
    if not has_first:
        why = "no merit" if key in POWER else FEW
        assert all(why in text for text in (title, picture.lead, leader_of(key).remark, words_of(answer)))


def test_the_list_of_benchmarks_names_only_firsts_that_are_earned(client):
    page = client.get("/benchmarks/").content.decode()
    assert page.count('class="leader ') == sum(map(is_field, CITED_BENCHMARKS))
    assert FEW in page


@pytest.mark.parametrize("key", CITED_BENCHMARKS)
def test_the_page_leads_with_the_setting_of_its_definition(key):
    benchmark = CITED_BENCHMARKS[key]
    ladder = ladder_shown(key)
    assert ladder.case.params == benchmark.compared_params(benchmark.leads_with) == dict(benchmark.leads_with)
    assert case_counts().leading[key].params_key == ladder.case.params_key


@pytest.mark.parametrize("key", CITED_BENCHMARKS)
def test_choosing_what_leads_keeps_the_case(key):
    """A choice is text; counts are numbers in a case."""
    lead = CITED_BENCHMARKS[key].leads_with
    for name, value in lead.items():
        assert benchmark_cases(key).leading_case({name: str(value)}).params == dict(lead)


def test_a_choice_keeps_the_rest_of_the_setting_that_leads():
    benchmark = CITED_BENCHMARKS["localscore"]
    case = ladder_of(benchmark, read_choice(QueryDict("test=pp"), benchmark)).case
    assert case.params == {"test": "pp", "model": "Llama-3.1-8B", "quant": "Q4_K_M"}


def test_without_results_in_its_setting_the_fullest_one_leads():
    params_key = case_counts().leading["localscore"].params_key
    CitedResult.objects.filter(params_key=params_key).update(state="withdrawn", reason="for this test")
    ladder = ladder_shown("localscore")
    assert ladder.case.params == {"test": "pp", "model": "Llama-3.2-1B", "quant": "Q4_K_M"}
    assert case_counts().leading["localscore"].params_key == ladder.case.params_key


def test_one_vendor_is_too_few_to_rank(client):
    rows = CitedResult.objects.filter(benchmark="llama-bench").exclude(accelerator__vendor__slug="apple")
    rows.update(state="withdrawn", reason="for this test")
    ladder = ladder_shown("llama-bench")
    assert len(ladder.rows) > 6
    assert ladder.lead.row is None
    reason = f"{FEW}: {len(ladder.rows)} accelerators, but of 1 vendor; a second vendor is missing"
    assert reason in words_of(client.get("/benchmarks/llama-bench/"))


def test_a_better_result_without_a_sheet_is_in_every_headline(client, make_result):
    make_result(slug=None, reported_name="a card of tomorrow", value="99999", params=LLAMA, state="unmatched")
    title, *others = texts_of(client.get("/benchmarks/llama-bench/").content.decode())
    assert "of those with a sheet" in title
    assert all("a card of tomorrow" in text for text in others if "1. " in text)
    assert leader_of("llama-bench").remark.startswith("first of those with a sheet")
    assert "a card of tomorrow" in ranking_picture(ladder_shown("llama-bench")).lead


def test_a_sheet_has_a_place_only_in_a_field(client):
    """Energy per token has results of one accelerator only."""
    lines = words_of(client.get("/benchmarks/?accelerator=nvidia-b200-hgx"))
    line = lines.partition("Energy per token")[2].partition("Energy per picture")[0]
    assert FEW in line
    assert "the first" not in line
    assert re.search(r"\b1 of \d+", line) is None


def test_a_sheet_says_that_less_power_is_no_merit():
    lines = headline_results(Accelerator.objects.get(slug="nvidia-b200-hgx"))
    titles = {str(CITED_BENCHMARKS[key].title) for key in POWER}
    whys = {line.no_first for line in lines if line.benchmark in titles}
    assert whys == {"not ranked: less power is no merit without the speed"}
    assert all(line.scale == line.no_first for line in lines if line.no_first and not line.is_of_bound)


@pytest.mark.parametrize("key", sorted(POWER))
def test_a_power_ranking_calls_nothing_better(client, key):
    page = client.get(f"/benchmarks/{key}/")
    assert not any("is better" in text for text in (words_of(page), *texts_of(page.content.decode())))
    assert "The ring is the lowest result of an accelerator" in words_of(page)


def test_a_description_counts_as_its_page_does(client):
    page = client.get("/benchmarks/llama-bench/")
    counts = re.search(r"\d+ accelerators, \d+ names? of several sheets", words_of(page))[0]
    assert any(f": {counts}, each result with its source" in text for text in texts_of(page.content.decode()))


def test_a_card_of_several_sheets_is_ranked_under_its_own_name(client):
    ladder = ladder_shown("llama-bench")
    rows = {row.name: row for row in ladder.rows}
    assert [item.slug for item in rows["H100 80 GB"].family] == ["nvidia-h100-sxm5-80gb", "nvidia-h100-pcie-80gb"]
    assert (rows["RTX PRO 6000 Blackwell"].rank, rows["RTX PRO 6000 Blackwell"].slug) == (2, "")
    text = words_of(client.get("/benchmarks/llama-bench/"))
    assert "one of H100 SXM5 80GB, H100 PCIe 80GB" in text
    assert "without a certain sheet" not in text
    assert "H100 80 GB" not in text.partition("of this setting are not ranked")[2]


@pytest.mark.parametrize("slug", ["nvidia-h100-sxm5-80gb", "nvidia-h100-pcie-80gb"])
def test_results_of_a_family_are_listed_on_each_of_its_sheets(client, slug):
    text = words_of(client.get(f"/benchmarks/?accelerator={slug}"))
    listed = text.partition("Results of a card that may be this one")[2]
    assert "llama-bench H100 80 GB 4" in listed


def test_a_slice_of_a_card_is_no_member_of_its_family(make_result):
    make_result(slug=None, reported_name="A100 (MIG 7g.40gb)", value="9999", state="unmatched")
    assert "A100 (MIG 7g.40gb)" not in {row.name for row in ladder_shown("llama-bench").rows}


def test_sheet_and_ranking_agree_on_a_place_below_a_family(client):
    row = next(row for row in ladder_shown("llama-bench").rows if row.slug == "nvidia-geforce-rtx-4090")
    assert row.rank > 1
    line = words_of(client.get("/benchmarks/?accelerator=nvidia-geforce-rtx-4090"))
    assert f"{row.rank} of {len(ladder_shown('llama-bench').rows)}" in line
