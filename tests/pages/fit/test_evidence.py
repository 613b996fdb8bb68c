"""Cited rates of language models become evidence, and predict one another with their own accelerator hidden."""

import statistics

import pytest

from stackviz.pages.fit.calibration import leave_one_out
from stackviz.pages.fit.evidence import calibrations, fit_evidence, reached_rate
from stackviz.records.catalog.queries import public_catalogue

MOST_DECODE_ERROR = 0.15  # median, over all cited rates of one accelerator


def rate(**params):
    return reached_rate("apple-m4-max-40", {"model": "Llama 2 7B", "quant": "Q4_0", "test": "tg128"} | params, 83.0)


def test_a_result_says_which_pass_it_timed():
    cited = rate(depth=4096)
    assert (cited.model, cited.test, cited.work.precision.slug, cited.work.depth) == (
        "llama-2-7b",
        "decode",
        "q4_0",
        4160,
    )
    assert rate(test="pp512").work.chunk == 512


def test_a_quantisation_at_the_end_of_the_name_counts():
    cited = rate(model="Shisa V2 70B i1-Q4_K_M", quant="")
    assert (cited.model, cited.work.precision.slug) == ("llama-3.1-70b", "q4_k_m")


@pytest.mark.parametrize(
    "params",
    [
        {"model": "Gemma 4 E4B"},
        {"quant": "Q9_X"},
        {"test": "pg512+128"},
        {"test": "tg0"},
        {"depth": "deep"},
        {"model": None},
    ],
)
def test_what_is_not_in_the_tables_is_no_evidence(params):
    assert rate(**params) is None


@pytest.fixture
def fitted(cited, db):
    catalogue = public_catalogue()
    return calibrations(fit_evidence(catalogue), catalogue)


def errors(predicted):
    return [abs(prediction.mid / rate.tokens_per_s - 1) for rate, prediction in predicted]


def test_decode_rates_are_predicted_within_15_per_cent(fitted):
    predicted = leave_one_out(fitted.decode)
    assert len(predicted) >= 350
    assert len({rate.accelerator for rate, _prediction in predicted}) >= 60
    assert statistics.median(errors(predicted)) <= MOST_DECODE_ERROR


def test_prefill_rates_are_predicted_about_as_well(fitted):
    assert statistics.median(errors(leave_one_out(fitted.prefill))) <= 0.2


def test_the_range_holds_most_rates(fitted):
    predicted = leave_one_out(fitted.decode)
    held = sum(prediction.low <= rate.tokens_per_s <= prediction.high for rate, prediction in predicted)
    assert 0.65 < held / len(predicted) < 0.95
