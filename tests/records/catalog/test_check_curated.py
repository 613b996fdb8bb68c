"""The curated catalogue: clean, most of what can be computed is, the same when loaded again, and filled."""

import time

import pytest
from django.core.management import call_command

from stackviz.records.catalog.check import CatalogueCheck, check_catalogue
from stackviz.records.catalog.checks import CHECKS
from stackviz.records.catalog.headline import HeadlineShare, headline_share
from stackviz.records.catalog.load import load_catalogue
from stackviz.records.catalog.models import SpecValue


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
    assert outcome.checked > (30 if outcome.name.startswith(("price", "bin")) else 130)


def test_every_exception_of_the_files_excuses_something(verdict):
    assert verdict.idle == ()


def test_most_rates_are_held_against_a_formula(verdict):
    (outcome,) = [outcome for outcome in verdict.outcomes if outcome.name == "formula"]
    assert outcome.checked > 1500
    assert outcome.excused < outcome.checked / 20


def test_the_whole_catalogue_is_checked_with_four_queries(curated, db, django_assert_num_queries):
    with django_assert_num_queries(4):
        check_catalogue()


# --- loaded a second time ---


def test_what_is_loaded_already_costs_one_query_and_a_blink(curated, db, django_assert_num_queries):
    with django_assert_num_queries(1):
        started = time.process_time()
        summary = load_catalogue()
    assert summary.is_unchanged
    assert time.process_time() - started < 0.2


def test_loading_the_same_files_by_force_changes_nothing(curated, db):
    summary = load_catalogue(force=True)
    assert {name: str(counts) for name, counts in summary.tables.items()} == dict.fromkeys(
        ("sources", "accelerators", "values", "names", "prices"), "unchanged"
    )


def test_unreviewed_values_keep_who_said_so_and_have_no_source(curated, db):
    value = SpecValue.objects.filter(status="unreviewed").first()
    assert value.source is None
    assert value.said_by


# --- the share of headline fields that are filled ---


def test_a_share_is_of_the_fields_that_can_be_filled():
    share = HeadlineShare(filled=3, fields=4, absent=2, missing={"tdp_w": ["acme-one"]})
    assert [*share.lines()][1:] == [
        " 75.0 % (3) filled (goal 85 %)",
        " 50.0 % (3) filled, those proven absent counted as missing",
    ]
    assert [*share.missing_lines()] == ["tdp_w: 1 missing: acme-one"]
    assert "0.0 % (0)" in [*HeadlineShare(0, 0, 0, {}).lines()][1]


def test_the_curated_catalogue_reaches_its_goal(curated, db, django_assert_max_num_queries, capsys):
    with django_assert_max_num_queries(6):
        share = headline_share()
    assert share.filled / share.fields >= 0.86
    assert share.fields - share.filled == sum(map(len, share.missing.values()))
    call_command("headline_share", "--missing")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{share.fields} headline fields")
    assert len(lines) == 3 + len(share.missing)
