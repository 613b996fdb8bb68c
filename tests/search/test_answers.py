"""What a search finds first: in English, with typos, in Chinese, and of error messages."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.urls import resolve
from django.utils import translation

from stackviz.rules.registry import RULES
from stackviz.search.answers import ranked_hits
from stackviz.search.messages import ERROR_MESSAGES
from stackviz.search.prepared import search_index
from tests.search.searches import SEARCHES

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("curated", "cited")]


def addresses(query: str, most: int = 3) -> list[str]:
    return [hit.entry.url for hit in ranked_hits(AnonymousUser(), query)[:most]]


def test_there_are_forty_searches():
    assert len(SEARCHES) == 40


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("query", SEARCHES)
def test_the_wanted_answer_is_among_the_first_three(query, language):
    with translation.override(language):
        first = addresses(query)
    assert any(SEARCHES[query] in address for address in first), first


@pytest.mark.parametrize("title", ["Memory bandwidth", "显存带宽"])
def test_a_field_is_found_by_its_titles_in_both_languages(title):
    for language in ("en", "zh-hans"):
        with translation.override(language):
            assert "sort=-memory_bandwidth_gb_s" in " ".join(addresses(title))


def test_another_number_is_no_typo():
    names = [hit.entry.title for hit in ranked_hits(AnonymousUser(), "rtx 4091") if not hit.missing]
    assert names == []


def test_words_that_nothing_has_are_named():
    best = ranked_hits(AnonymousUser(), "RTX 4090 zzyzx")[0]
    assert (best.entry.title, best.missing) == ("NVIDIA GeForce RTX 4090", ("zzyzx",))


def test_the_name_that_matched_is_shown():
    best = ranked_hits(AnonymousUser(), "Mac15,9")[0]
    assert best.name == "Mac15,9"


@pytest.mark.parametrize(
    ("query", "slugs"),
    [
        ("4090 vs m3 max", ["nvidia-geforce-rtx-4090", "apple-m3-max-40"]),
        ("MI300X versus b200", ["amd-mi300x", "nvidia-b200-hgx"]),
        ("H100 SXM5 对比 昇腾 910B", ["nvidia-h100-sxm5-80gb", "huawei-ascend-910b"]),
    ],
)
def test_two_names_with_a_word_between_them_are_their_comparison(query, slugs):
    assert addresses(query)[0] == "/compare/?" + "&".join(f"a={slug}" for slug in slugs)


def test_no_comparison_is_made_of_a_name_that_nothing_has():
    for query in ("4090 vs zzyzx", "vs", "4090 vs", "4090 vs rtx 4090", " vs ".join(["h100"] * 9)):
        assert not [address for address in addresses(query, most=20) if address.startswith("/compare/?")], query


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("api", "/api/v1/docs/"), ("add a machine", "/machines/add/"), ("install pytorch", "/plan/"),
        ("tokens per second", "/fit/"), ("download", "/data/"), ("热图", "/heatmap/"), ("ladder", "/ladder/"),
    ],
)  # fmt: skip
def test_the_pages_of_the_site_are_found_by_what_people_want_there(query, address):
    for language in ("en", "zh-hans"):
        with translation.override(language):
            assert address in addresses(query)


def test_nothing_is_found_of_nonsense():
    assert ranked_hits(AnonymousUser(), "qqqqxxxx") == []


def test_every_entry_leads_somewhere_and_says_what_it_is():
    entries = search_index().entries
    assert len(entries) > 600
    for entry in entries:
        resolve(entry.url.partition("?")[0].partition("#")[0])
        assert entry.title.strip(), entry
    assert not [entry.title for entry in entries if not entry.line]


def test_messages_name_rules_that_exist():
    known = {rule.id for rule in RULES}
    assert {message.rule for message in ERROR_MESSAGES if message.rule} <= known
    assert len({message.text for message in ERROR_MESSAGES}) == len(ERROR_MESSAGES)
