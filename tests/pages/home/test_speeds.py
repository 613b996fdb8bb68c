"""The panel of the front page: rates known, ranges to expect, and a sentence that the rows carry."""

import re

import pytest

from stackviz.pages.fit.language_models import language_models
from stackviz.pages.home.speeds import MODELS, SHOWN, model_speeds
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.models import CitedResult
from tests.curated import copy_curated

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_cache")]


@pytest.fixture
def speeds():
    copy_curated("catalog_", "cited_", "stacks_", "hosts_")
    return model_speeds(public_catalogue())


def test_every_row_has_a_figure_or_what_is_missing(speeds):
    for each in speeds:
        assert [speed.name for speed in each.speeds if not speed.figure and not speed.short] == []
        assert len(each.speeds) == len(SHOWN)


def test_models_and_accelerators_are_known(speeds):
    assert {slug for slug, _precision in MODELS} <= language_models().keys()
    assert set(SHOWN) <= public_catalogue().by_slug.keys()
    assert [(each.slug, each.query.precision.slug) for each in speeds] == list(MODELS)


def test_a_rate_is_the_best_cited_one_of_its_model(speeds):
    rows = CitedResult.objects.filter(
        accelerator__slug="nvidia-geforce-rtx-4090", benchmark="llama-bench", state="public", count=1
    )
    of_model = [
        row.amount
        for row in rows
        if row.params.get("model", "").lower().replace(" ", "-").startswith("gpt-oss-20b")
        and row.params.get("test") == "tg128"
    ]
    shown = next(speed for speed in speeds[0].speeds if speed.name == "RTX 4090")
    assert shown.rate.tokens_per_s == max(of_model)


def test_the_headline_divides_two_rates_that_the_rows_show(speeds):
    headline = speeds[0].headline
    name, rate, factor, mac = re.fullmatch(r"(.+): ([\d.]+) tokens/s, ([\d.]+)× the rate of (.+)", headline).groups()
    rates = {speed.name: speed.rate.tokens_per_s for speed in speeds[0].speeds if speed.rate}
    assert rates[name] == max(rates.values())
    assert float(rate) == pytest.approx(rates[name], rel=0.01)
    assert float(factor) == pytest.approx(rates[name] / rates[mac], rel=0.05)


def test_without_rates_the_headline_counts_what_can_hold_it(speeds):
    large = speeds[-1]
    fitting = [speed for speed in large.speeds if not speed.short]
    assert large.headline == f"{len(fitting)} of {len(SHOWN)} can hold it"
    assert 0 < len(fitting) < len(SHOWN)


def test_each_row_leads_to_its_answer(client, speeds):
    for speed in (speeds[0].speeds[0], speeds[-1].speeds[-1]):
        answer = client.get(speed.url).content.decode()
        assert speed.answer.target.name in answer
