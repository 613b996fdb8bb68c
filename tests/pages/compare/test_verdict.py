"""The verdict of a comparison in one sentence: its title and its description."""

import html
import re
from dataclasses import replace

import pytest
from django.contrib.auth.models import AnonymousUser

from stackviz.pages.compare.answers import QUESTIONS, SubjectFigure
from stackviz.pages.compare.query import Address, Selection, Subject, SubjectKind
from stackviz.pages.compare.subjects import load
from stackviz.pages.compare.tiles import sentence_of, verdict_sentence

BY_KEY = {question.key: question for question in QUESTIONS}


def answered(**amounts):
    """`memory=(80, 128)`: amounts of subjects A, B, C ... to questions by key."""
    return [
        (
            BY_KEY[key],
            [
                SubjectFigure(subject=name, slot=slot, amount=amount, text=f"{amount} units")
                for slot, (name, amount) in enumerate(zip("ABCDEF", row, strict=False))
            ],
        )
        for key, row in amounts.items()
    ]


def test_two_subjects_say_what_each_has_more_of():
    sentence = sentence_of(answered(bandwidth=(400, 1600), fp32=(10, 20), memory=(128, 32)))
    assert sentence == "B has 4× the memory bandwidth and 2× the fp32 rate of A; A has 4× the memory of B"


def test_figures_within_two_per_cent_are_equal():
    assert sentence_of(answered(memory=(100, 101))) == "about equal in memory"


def test_three_subjects_say_who_leads_in_what():
    sentence = sentence_of(answered(memory=(80, 128, None), power=(700, 60, 575)))
    assert sentence == "most memory: B (128 units); least power: B (60 units)"


@pytest.mark.parametrize("row", [(80, None), (None, None), (0, 80)])
def test_what_only_one_has_is_no_verdict(row):
    assert sentence_of(answered(memory=row)) == ""


def sentence_about(*slugs):
    subjects = tuple(Subject(SubjectKind.ACCELERATOR, slug) for slug in slugs)
    chosen, _refused = load(Selection(subjects), AnonymousUser())
    return verdict_sentence(chosen, Address(subjects))


@pytest.mark.usefixtures("curated")
@pytest.mark.django_db
def test_the_verdict_is_title_and_description_of_the_page(client):
    text = client.get("/compare/?a=nvidia-h100-sxm5-80gb&a=apple-m3-max-40").content.decode()
    sentence = sentence_about("nvidia-h100-sxm5-80gb", "apple-m3-max-40")
    assert "H100 SXM5 80GB has 8.4× the memory bandwidth" in sentence
    assert html.unescape(re.search("<title>(.*?) ·", text)[1]) == sentence
    assert html.unescape(re.search('<meta name="description" content="(.*?)">', text)[1]).startswith(sentence)


@pytest.mark.usefixtures("curated")
@pytest.mark.django_db
def test_a_comparison_without_figures_says_what_the_page_shows(client):
    text = client.get("/compare/?a=stack:nvidia-cuda-linux&a=stack:apple-metal").content.decode()
    assert "side by side, each with its source. ·" in text


@pytest.mark.usefixtures("curated")
@pytest.mark.django_db
def test_a_bound_is_a_bound_in_title_description_and_verdict(client):
    text = html.unescape(client.get("/compare/?a=apple-m4-max-40&a=nvidia-geforce-rtx-5090").content.decode())
    wanted = "at least 12× the bf16 matrix rate"
    assert wanted in sentence_about("apple-m4-max-40", "nvidia-geforce-rtx-5090")
    for pattern in (
        "<title>(.*?) ·",
        '<meta name="description" content="(.*?)">',
        '<meta property="og:title" content="(.*?)">',
    ):
        assert wanted in re.search(pattern, text)[1], pattern
    assert "has 13× the bf16" not in text


def test_who_leads_by_a_bound_leads_nothing():
    (question, figures), *_rest = answered(bf16=(10, 20, 5))
    bounded = [replace(figure, is_bound=figure.subject == "B") for figure in figures]
    assert sentence_of([(question, bounded)]) == ""
    bounded = [replace(figure, is_bound=figure.subject == "C") for figure in figures]
    assert sentence_of([(question, bounded)]) == "most bf16 matrix rate: B (20 units)"
