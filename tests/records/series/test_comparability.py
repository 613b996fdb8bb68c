"""Whether two results may be compared, and which one speaks for an accelerator: for its sheet and for the ladder."""

from dataclasses import replace

import pytest

from stackviz.base.stats import Summary
from stackviz.records.series.comparability import (
    Basis,
    Comparability,
    best_by,
    comparable,
    is_of_whole_card,
    robust_best,
)
from stackviz.records.series.measurement import CardUsed, PeakShare
from tests.records.series.test_measurement import CLEAN, measured

CARD = CardUsed(0, "NVIDIA H100 80GB HBM3", 1, {})
SLICE = replace(CARD, facts={"mig_mode": "enabled"})


def test_two_clean_runs_are_comparable():
    assert comparable(measured(), measured(machine_id=2, device="cuda:3")).answer is Comparability.COMPARABLE


TWO_AND_FEW = {"torch_version": "2.9.0", "summary": Summary(count=3, median=0.0014)}


@pytest.mark.parametrize(
    ("changes", "answer", "words"),
    [
        ({"benchmark_key": "memory-copy"}, "NOT_COMPARABLE", "different benchmarks"),
        ({"version": 2}, "NOT_COMPARABLE", "different versions"),
        ({"params_key": "other", "params": {"m": 1, "n": 1, "k": 1}}, "NOT_COMPARABLE", "different parameters"),
        ({"unit": "J"}, "NOT_COMPARABLE", "different units"),
        ({"state": "failed", "summary": None, "reason": "out of memory"}, "NOT_COMPARABLE", "out of memory"),
        ({"conditions": CLEAN | {"device_used": "cpu"}}, "NOT_COMPARABLE", "ran on cpu"),
        ({"torch_version": "2.9.0"}, "WITH_REMARKS", "2.9.0"),
        ({"torch_version": None}, "WITH_REMARKS", "torch differs"),
        ({"conditions": CLEAN | {"tf32": True}}, "WITH_REMARKS", "tf32 differs"),
        ({"conditions": CLEAN | {"throttle_reasons": "sw_power_cap"}}, "WITH_REMARKS", "clock throttled"),
        ({"summary": Summary(count=30, median=1.0, q1=0.9, q3=1.1, low=0.95, high=1.05)}, "WITH_REMARKS", "noisy"),
        (TWO_AND_FEW, "CANNOT_TELL", "too few samples for an interval: 3"),
        ({"conditions": CLEAN | {"fallback": True}}, "CANNOT_TELL", "how much of the time is not known"),
    ],
)
def test_what_may_be_compared_whatever_the_order(changes, answer, words):
    plain = measured(conditions=CLEAN | {"tf32": False}) if "tf32" in changes.get("conditions", {}) else measured()
    for pair in ((plain, measured(**changes)), (measured(**changes), plain)):
        verdict = comparable(*pair)
        assert verdict.answer is Comparability[answer]
        assert words in " ".join(verdict.reasons)


def by_mlx(**changes):
    conditions = CLEAN | {"framework": "mlx", "mlx_version": changes.pop("mlx_version", "0.32.4")}
    return measured(**changes, conditions=conditions, torch_version=None)


def test_mlx_is_named_where_mlx_computed():
    assert by_mlx().software == ("mlx", "0.32.4")
    (reason,) = comparable(by_mlx(), by_mlx(mlx_version="0.33.0")).reasons
    assert reason == "mlx_version differs: 0.32.4 and 0.33.0"
    by_torch = measured(conditions=CLEAN | {"framework": "torch"})
    assert comparable(by_torch, by_mlx()).reasons == ("framework differs: torch and mlx",)


@pytest.mark.parametrize(
    ("changes", "is_whole"),
    [
        ({"card": CARD}, True),
        ({"card": None}, False),
        ({"card": replace(CARD, accelerator_id=None)}, False),
        ({"card": SLICE}, False),
        ({"card": CARD, "state": "failed", "summary": None}, False),
        ({"card": CARD, "conditions": {"fallback": True}}, False),
    ],
    ids=["clean", "no card", "unknown card", "slice", "failed", "fallback"],
)
def test_only_a_clean_run_of_a_whole_card_is_of_the_product(changes, is_whole):
    assert is_of_whole_card(measured(**changes)) is is_whole


def at(rate, share=0.01, **changes):
    """A run of 30 samples with this rate in TFLOP/s, whose interval reaches `share` of it to either side."""
    seconds = 2 * 8192**3 / (rate * 1e12)
    low, high = seconds / (1 + share), seconds / (1 - share)
    return measured(
        card=CARD, summary=Summary(count=30, median=seconds, q1=low, q3=high, low=low, high=high), **changes
    )


def best_rate(*runs):
    best = robust_best(runs)
    return round(best.rate.value / 1e12), best.basis


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ([700], (700, Basis.ALONE)),
        ([700, 690], (700, Basis.CONFIRMED)),
        ([700, 645], (700, Basis.CONFIRMED)),  # within 8 %
        ([700, 600], (600, Basis.MEDIAN)),  # the lower of two that differ
        ([980, 700, 690, 400], (700, Basis.CONFIRMED)),
        ([980, 700, 500], (700, Basis.MEDIAN)),
        ([980, 700, 500, 300], (500, Basis.MEDIAN)),
    ],
)
def test_the_best_of_a_setting_is_one_that_another_confirms(rates, expected):
    assert best_rate(*map(at, rates)) == expected
    assert best_rate(*map(at, reversed(rates))) == expected


def test_narrow_intervals_that_meet_confirm():
    assert best_rate(at(700, 0.07), at(630, 0.07)) == (700, Basis.CONFIRMED)
    assert best_rate(at(700, 0.02), at(630, 0.02)) == (630, Basis.MEDIAN)


def test_a_run_that_scatters_confirms_nothing():
    assert best_rate(at(700), at(500, 0.5)) == (500, Basis.MEDIAN)
    assert best_rate(at(900, 0.67), at(500), at(498)) == (500, Basis.CONFIRMED)


@pytest.mark.parametrize(
    "changes",
    [
        {"standing": "flagged", "flags": ("one-sample",)},
        {"standing": "withdrawn"},
        {"standing": "superseded"},
        {"peak": PeakShare("bf16_tensor_tflops", "", 600e12, 700 / 600)},
    ],
)
def test_what_is_set_aside_is_never_the_best_nor_compared(changes):
    odd = at(700, **changes)
    assert best_rate(odd, at(300)) == (300, Basis.ALONE)
    assert robust_best([odd]) is None
    verdict = comparable(at(300), odd)
    assert verdict.answer is Comparability.NOT_COMPARABLE
    assert verdict.reasons[0].startswith("set aside: ")
    assert odd.remarks[0].startswith("set aside: ")


def test_an_accepted_result_counts_and_says_so():
    odd = at(700, standing="accepted", flags=("above-bound",), peak=PeakShare("bf16_tensor_tflops", "", 600e12, 1.17))
    assert best_rate(odd, at(300)) == (300, Basis.MEDIAN)
    assert best_rate(odd) == (700, Basis.ALONE)
    assert odd.remarks == ("above the published peak, and accepted by a person",)


def test_a_lower_power_limit_is_another_setting():
    facts = {"power_limit_w": 500.0, "power_default_limit_w": 700.0}
    capped = [replace(at(rate), card=replace(CARD, facts=facts)) for rate in (579, 577)]
    best = robust_best([at(705), *capped])
    assert (round(best.rate.value / 1e12), best.basis, best.runs) == (705, Basis.ALONE, 1)
    assert best_rate(*capped) == (579, Basis.CONFIRMED)


def test_runs_by_mlx_and_by_torch_do_not_speak_for_each_other():
    mlx = [replace(at(rate), conditions=CLEAN | {"framework": "mlx"}) for rate in (600, 595)]
    assert best_rate(at(620), *mlx) == (620, Basis.ALONE)
    assert best_rate(at(300), at(299), *mlx) == (600, Basis.CONFIRMED)


def test_the_best_says_what_stands_behind_it():
    assert robust_best([at(700)]).remark == "a single run: nothing confirms it"
    assert robust_best([at(700), at(690)]).remark == ""
    assert robust_best([at(980), at(700), at(690)]).remark == "a faster run, 980 TFLOP/s, is confirmed by none of 3"
    assert robust_best([at(700), at(500)]).remark == "the runs differ: the median of 2; the fastest is 700 TFLOP/s"


def test_settings_are_never_mixed_within_a_key():
    small = at(900, params_key="small", params={"dtype": "bf16", "m": 64, "n": 64, "k": 64})
    failed = measured(card=CARD, state="failed", summary=None)
    (best,) = best_by(lambda result: result.machine_id, [at(500), at(495), small, failed]).values()
    assert (best.result.params_key, best.basis, best.runs) == ("k", Basis.CONFIRMED, 2)
    assert best_by(lambda result: result.machine_id, [failed]) == {}
