"""check_catalogue over the curated files: clean, and most of what can be computed is."""

import pytest

from stackviz.records.catalog.check import CatalogueCheck, check_catalogue
from stackviz.records.catalog.checks import CHECKS


@pytest.fixture(scope="module")
def verdict(curated, django_db_blocker) -> CatalogueCheck:
    with django_db_blocker.unblock():
        return check_catalogue()


@pytest.mark.parametrize("name", CHECKS)
def test_the_curated_catalogue_is_clean(verdict, name):
    (outcome,) = [outcome for outcome in verdict.outcomes if outcome.name == name]
    assert [
        f"{problem.device} {problem.field} ({problem.condition}): {problem.actual}; expected {problem.expected}"
        for problem in outcome.problems
    ] == []
    assert outcome.checked > (30 if outcome.name.startswith("price") else 130)


def test_every_exception_of_the_files_excuses_something(verdict):
    assert verdict.idle == ()


def test_most_rates_are_held_against_a_formula(verdict):
    (outcome,) = [outcome for outcome in verdict.outcomes if outcome.name == "formula"]
    assert outcome.checked > 1500
    assert outcome.excused < outcome.checked / 20


def test_the_whole_catalogue_is_checked_with_four_queries(curated, db, django_assert_num_queries):
    with django_assert_num_queries(4):
        check_catalogue()
