"""`manage.py contradictions`: none in the curated data, and each that is put in is found."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.core.management import call_command

from stackviz.desk.contradictions import families, figures, framework_plans, rocm_plans, stacks
from stackviz.desk.contradictions.pairs import Known
from stackviz.desk.freshness.models import FeedCheck
from stackviz.pages.plan import builds
from stackviz.pages.search import software_answers
from stackviz.records.catalog.models import SpecValue
from stackviz.records.stacks.models import Placement
from stackviz.report.rules.drivers import needed_driver

DAY = datetime(2026, 11, 29, tzinfo=UTC)


@pytest.fixture
def known(curated, cited, db):
    return Known(DAY)


BF16 = ("compute-capability", "8.0", "tensor-core-bf16")


def first_found(kind, known):
    return next((pair for pair in kind(known) if not pair.agrees), None)


@pytest.mark.fast
def test_the_curated_data_contradicts_itself_nowhere(curated, cited, db, capsys):
    call_command("contradictions")
    *kinds, total = capsys.readouterr().out.splitlines()
    walked = {title: int(rest.split()[0].replace(",", "")) for title, rest in (line.split(": ") for line in kinds)}
    assert len(walked) >= 12
    assert min(walked.values()) > 0
    assert total == f"{sum(walked.values()):,} pairs walked, 0 disagree"
    assert sum(walked.values()) > 20_000


def test_the_command_names_both_places_and_fails(curated, cited, db, capsys, monkeypatch):
    Placement.objects.filter(version__startswith="≥ 525").update(version="≥ 525.60.14 for CUDA 12")
    monkeypatch.setattr(
        "stackviz.desk.contradictions.walk.KINDS", {"version in a drawn stack": stacks.drawings_and_tables}
    )
    with pytest.raises(SystemExit) as ended:
        call_command("contradictions")
    assert ended.value.code == 1
    head, line, total = capsys.readouterr().out.splitlines()
    assert head.endswith("pairs, 1 disagree")
    assert "/stacks/" in line
    assert "≥ 525.60.14 for CUDA 12 <> requirements.csv: CUDA 12 needs nvidia-driver 525.60.13" in line
    assert total.endswith("pairs walked, 1 disagree")


def test_a_plan_with_too_old_a_driver_is_found(known, monkeypatch):
    def too_old(*asked):
        needed = needed_driver(*asked)
        return needed and replace(needed, low="390.12")

    monkeypatch.setattr(builds, "needed_driver", too_old)
    pair = first_found(stacks.plans_and_diagnoses, known)
    assert pair.first.where.startswith("/plan/?accelerator=")
    assert "driver 390.12" in pair.first.text
    assert "river 390.12" in pair.second.text


def test_a_framework_under_too_old_a_driver_is_found(known, monkeypatch):
    def with_any_driver(tables, component, host):
        return plan_package(tables, component, replace(host, driver=""))

    plan_package = framework_plans.plan_package
    monkeypatch.setattr(framework_plans, "plan_package", with_any_driver)
    pair = first_found(framework_plans.framework_plans_and_diagnoses, known)
    assert pair.first.text.endswith(": works")
    assert " or newer: has " in pair.second.text


def test_a_build_without_code_for_an_amd_card_is_found(known, monkeypatch):
    def newer(tables, target):
        return tuple(
            replace(way, commands=tuple(re.sub("torch==.*", "torch==2.14.1 --index-url x/whl/rocm7.14", line)
                                        for line in way.commands))
            for way in ways(tables, target)
        )  # fmt: skip

    ways = rocm_plans.ways
    monkeypatch.setattr(rocm_plans, "ways", newer)
    pair = first_found(rocm_plans.rocm_plans_and_diagnoses, known)
    assert pair.first.text.startswith("installs torch 2.14.1+rocm7.14 for ")
    assert "carries no code for" in pair.second.text


def test_a_sheet_without_its_family_is_found(known, monkeypatch):
    monkeypatch.setattr(families, "family_lines", lambda _accelerator: ())
    pair = first_found(families.families_and_sheets, known)
    assert "one of " in pair.first.text
    assert pair.second.text == "results that may be its own: none"


def test_a_row_of_a_family_with_another_figure_is_found(known, monkeypatch):
    def doubled(benchmark, choice):
        ranking = shown_ranking(benchmark, choice)
        rows = tuple(replace(row, text="4,711") if row.family else row for row in ranking.drawn.rows)
        return replace(ranking, drawn=replace(ranking.drawn, rows=rows))

    shown_ranking = families.shown_ranking
    monkeypatch.setattr(families, "shown_ranking", doubled)
    assert "4,711" in first_found(families.families_and_sheets, known).first.text


def test_a_changed_answer_of_a_claim_is_found(known, monkeypatch):
    claims = [replace(claim, answer=claim.answer.replace("525.60.13", "525.85.12")) for claim in stacks.read_claims()]
    monkeypatch.setattr(stacks, "read_claims", lambda: claims)
    pair = first_found(stacks.claims_and_tables, known)
    assert pair.first.where == "/claims/#cuda-12-0-driver"
    assert pair.second.text == "from driver 525.60.13 on Linux"


def test_a_changed_requirement_is_found(known):
    rows = {
        replace(row, values="no") if (row.component, row.version, row.subject) == BF16 else row
        for row in known.tables.requirements
    }
    vars(known)["tables"] = replace(known.tables, requirements=frozenset(rows))
    assert first_found(stacks.claims_and_tables, known).first.where == "/claims/#v100-bf16"


def test_a_changed_value_under_a_claim_is_found(known):
    value = SpecValue.objects.get(
        accelerator__slug="apple-m3-10", field="neural_engine_tops", condition="", is_preferred=True
    )
    value.value = "38"
    value.save()
    assert first_found(stacks.claims_and_figures, known).first.where == "/claims/#m3-38-tops"


def test_another_figure_in_the_list_is_found(known, monkeypatch):
    def with_another(*asked):
        row, *rows = list_rows(*asked)
        cells = [*row["cells"]]
        at = next(at for at, cell in enumerate(cells) if cell.is_number and cell.text)
        cells[at] = replace(cells[at], text="4,711")
        return [{**row, "cells": cells}, *rows]

    list_rows = figures.list_rows
    monkeypatch.setattr(figures, "list_rows", with_another)
    pair = first_found(figures.sheets_and_tables, known)
    assert pair.first.where.startswith("/accelerators/")
    assert "4,711" in pair.second.text


def test_another_figure_in_a_comparison_is_found(known, monkeypatch):
    def with_another(columns):
        rows = list(table_of(columns))
        at = next(at for at, row in enumerate(rows) if row.field == "memory_gb")
        cells = [cell and replace(cell, text="4,711") for cell in rows[at].cells]
        rows[at] = replace(rows[at], cells=tuple(cells))
        return rows

    table_of = figures.table_of
    monkeypatch.setattr(figures, "table_of", with_another)
    pair = first_found(figures.sheets_and_tables, known)
    assert pair.first.where.endswith("/#f-memory_gb")
    assert pair.second.where.startswith("/compare/?a=")


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        (figures.rankings_and_results, "/benchmarks/llama-bench/"),
        (figures.factors_and_settings, "/benchmarks/like-for-like/?accelerator="),
    ],
)
def test_a_changed_result_is_found(known, kind, where):
    for result in known.results:
        if result.benchmark == "llama-bench":
            result.amount *= 2
    assert first_found(kind, known).first.where.startswith(where)


def test_a_title_that_names_another_first_is_found(known, monkeypatch):
    def false(benchmark, drawn, words):
        right = introduce(benchmark, drawn, words)
        return replace(right, title=f"{benchmark.title}: {drawn.rows[-1].name} is first")

    introduce = figures.introduce_ranking
    monkeypatch.setattr(figures, "introduce_ranking", false)
    assert "is first" in first_found(figures.rankings_and_results, known).first.text


def test_a_first_behind_others_is_found(known, monkeypatch):
    def last_first(benchmark, choice):
        ranking = shown_ranking(benchmark, choice)
        rows = ranking.drawn.rows[::-1]
        return replace(ranking, drawn=replace(ranking.drawn, rows=rows))

    shown_ranking = figures.shown_ranking
    monkeypatch.setattr(figures, "shown_ranking", last_first)
    pair = first_found(figures.rankings_and_results, known)
    assert "is first" in pair.first.text
    assert pair.second.text.startswith("ahead of ")


def test_a_factor_that_no_setting_bears_out_is_found(known, monkeypatch):
    def doubled(chosen, base):
        tile = cited_tile(chosen, base)
        return replace(tile, lines=tuple(replace(line, figure="47.11×") for line in tile.lines))

    cited_tile = figures.cited_tile
    monkeypatch.setattr(figures, "cited_tile", doubled)
    pair = first_found(figures.factors_and_settings, known)
    assert pair.first.text.endswith("47.11×")
    assert "their mean is" in pair.second.text


def test_a_feed_ahead_of_the_table_is_found(known):
    feed = next(feed for feed in stacks.feeds() if feed.component == "pytorch")
    FeedCheck.objects.create(feed=feed.key, outcome="read", checked_at=DAY, answered_at=DAY, newest="99.0.0")
    pair = first_found(stacks.freshness_and_tables, known)
    assert pair.first.text == "newest 99.0.0"
    assert pair.second.where == "/freshness/, releases/pytorch"


def test_search_that_leads_to_another_plan_is_found(known, monkeypatch):
    monkeypatch.setattr(software_answers, "plan_address", lambda *_: "/plan/?accelerator=nvidia-t4&system=linux-x86_64")
    pair = first_found(stacks.search_and_plans, known)
    assert pair.first.where.startswith("/search/?q=pytorch")
    assert "T4" in pair.second.text
