"""Answers made of public machines' results: cached until something changes, then forgotten, each language apart."""

import pytest
from django.utils import translation

from stackviz.records.series.public_runs import MOST_ANSWERS, _cached, cached_for_edition, measured_edition
from tests.pages.machines.factories import make_lab, make_machine


@pytest.fixture
def computed():
    return []


@pytest.fixture
def answer(db, computed):
    """`answer(key)`: how many answers were computed so far."""

    def compute(key):
        computed.append(key)
        return len(computed)

    return lambda key, **options: cached_for_edition(compute, key, **options)


def test_an_answer_is_computed_once_for_each_key(answer, computed, django_assert_num_queries):
    assert [answer("gemm"), answer("copy")] == [1, 2]
    with django_assert_num_queries(2):
        assert answer("gemm") == 1
    assert computed == ["gemm", "copy"]


def test_answers_in_words_are_cached_for_each_language(answer):
    def in_both(**options):
        answers = []
        for language in ("en", "zh-hans"):
            with translation.override(language):
                answers.append(answer("gemm", **options))
        return answers

    assert in_both() == [1, 2]
    assert in_both(is_translated=False) == [3, 3]


def test_a_new_public_machine_ends_all_answers(answer):
    assert [answer("gemm"), answer("copy")] == [1, 2]
    make_machine(make_lab("private", is_public=False), "a")
    assert answer("gemm") == 1
    before = measured_edition()
    make_machine(make_lab("public"), "b")
    assert measured_edition() != before
    assert answer("gemm") == 3
    assert _cached.cache_info().currsize == 1


def test_the_number_of_cached_answers_is_bounded(answer):
    for number in range(MOST_ANSWERS + 10):
        answer(number)
    assert _cached.cache_info().currsize == MOST_ANSWERS
