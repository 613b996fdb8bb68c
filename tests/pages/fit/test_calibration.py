"""The fit finds what made the rates, hides what it must, and says where a prediction is from."""

import itertools

import pytest

from stackviz.pages.fit.calibration import Calibration, ReachedRate, leave_one_out
from stackviz.pages.fit.language_models import language_models
from stackviz.pages.fit.precisions import PRECISIONS
from stackviz.pages.fit.rates import NotPublished, Pass, RatedAccelerator, decode_terms, pass_terms

MODELS = language_models()
CARDS = {
    f"{vendor}-{family}-{at}": RatedAccelerator(
        slug=f"{vendor}-{family}-{at}",
        vendor=vendor,
        family=family,
        bandwidth=3e11 * at,
        vector_flops=2e13 * at,
        matrix_flops=8e13 * at,
    )
    for vendor, family, at in itertools.product(("red", "green"), ("old", "new"), (1, 2, 3))
}
TRUE = (40.0, 1.25, 2.0, 1.0, 30.0)
FASTER = {"old": 1.1, "new": 0.95}  # times of a family


def work(model, precision="q4_k_m", **more):
    return Pass(shape=MODELS[model].shape, precision=PRECISIONS[precision], depth=64, **more)


def made_rates(slow=()):
    """Rates as the formula gives them; of the accelerators in `slow` half of that."""
    rates = []
    cases = [("llama-3-8b", "q4_k_m"), ("llama-3-8b", "f16"), ("llama-2-7b", "q4_0"), ("llama-3.2-1b", "q8_0"),
             ("gpt-oss-20b", "mxfp4")]  # fmt: skip
    for card, (model, precision) in itertools.product(CARDS.values(), cases):
        done = work(model, precision)
        seconds = sum(c * t for c, t in zip(TRUE, decode_terms(done, card), strict=True)) * FASTER[card.family]
        seconds *= 2 if card.slug in slow else 1
        rates.append(
            ReachedRate(
                accelerator=card.slug,
                model=model,
                test="decode",
                work=done,
                tokens_per_s=1 / seconds,
                source_title=card.slug,
            )
        )
    return rates


def test_rates_that_follow_the_formula_are_predicted():
    predicted = leave_one_out(Calibration("decode", made_rates(), CARDS))
    assert len(predicted) == len(CARDS) * 5
    errors = sorted(abs(prediction.mid / rate.tokens_per_s - 1) for rate, prediction in predicted)
    assert errors[len(errors) // 2] < 0.08
    assert all(prediction.low <= prediction.mid <= prediction.high for _rate, prediction in predicted)


def test_rates_of_what_is_left_out_are_hidden():
    slug = "green-new-2"
    normal, slow = Calibration("decode", made_rates(), CARDS), Calibration("decode", made_rates({slug}), CARDS)
    for calibration in (normal, slow):
        assert calibration.predict(work("llama-2-7b"), CARDS[slug], without=slug).level == "family"
    assert slow.predict(work("llama-2-7b"), CARDS[slug], without=slug).mid == pytest.approx(
        normal.predict(work("llama-2-7b"), CARDS[slug], without=slug).mid, rel=0.03
    )
    assert slow.predict(work("llama-2-7b"), CARDS[slug]).mid < 0.7 * normal.predict(work("llama-2-7b"), CARDS[slug]).mid


@pytest.mark.parametrize(
    ("slug", "vendor", "family", "level"),
    [("red-old-1", "red", "old", "accelerator"), ("red-old-9", "red", "old", "family"),
     ("red-next-1", "red", "next", "vendor"), ("blue-1", "blue", "", "all")],
)  # fmt: skip
def test_a_prediction_says_how_near_its_evidence_is(slug, vendor, family, level):
    card = RatedAccelerator(
        slug=slug, vendor=vendor, family=family, bandwidth=3e11, vector_flops=2e13, matrix_flops=8e13
    )
    prediction = Calibration("decode", made_rates(), CARDS).predict(work("llama-3-8b"), card)
    assert prediction.level == level
    assert prediction.count > 0
    assert 0 < prediction.efficiency < 1
    assert prediction.mid < prediction.bound_rate


def test_what_bounds_a_rate_depends_on_the_model():
    calibration = Calibration("decode", made_rates(), CARDS)
    card = CARDS["red-new-3"]
    assert calibration.predict(work("llama-3-70b", "f16"), card).bound_by == "bandwidth"
    assert calibration.predict(work("qwen-2.5-0.5b", "q4_0"), card).bound_by == "overhead"


def test_a_card_without_a_published_bandwidth_has_no_rate():
    card = RatedAccelerator(slug="x", vendor="red", family="old", bandwidth=None, vector_flops=1e13, matrix_flops=None)
    for test in ("decode", "prefill"):
        with pytest.raises(NotPublished):
            pass_terms(test, work("llama-3-8b"), card)


def test_more_sequences_give_more_tokens_up_to_a_limit():
    calibration = Calibration("decode", made_rates(), CARDS)
    rates = [calibration.predict(work("llama-3-8b", batch=batch), CARDS["green-new-3"]).mid for batch in (1, 2, 4, 8)]
    assert rates == sorted(rates)
    assert rates[-1] < 8 * rates[0]
