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
