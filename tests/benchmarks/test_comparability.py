"""Whether two results may be compared, and which one speaks for an accelerator: for its sheet and for the ladder."""

from dataclasses import replace

import pytest

from stackviz.benchmarks.comparability import Comparability, best_by, comparable, is_of_whole_card
from stackviz.benchmarks.measurement import CardUsed
from stackviz.stats import Summary
from tests.benchmarks.test_measurement import CLEAN, measured

CARD = CardUsed(0, "NVIDIA H100 80GB HBM3", 1, {})
SLICE = replace(CARD, facts={"mig_mode": "enabled"})


def test_two_clean_runs_are_comparable():
    assert comparable(measured(), measured(machine_id=2, device="cuda:3")).answer is Comparability.COMPARABLE


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"benchmark_key": "memory-copy"}, "different benchmarks"),
        ({"version": 2}, "different versions"),
        ({"params_key": "other", "params": {"m": 1, "n": 1, "k": 1}}, "different parameters"),
        ({"unit": "J"}, "different units"),
        ({"state": "failed", "summary": None, "reason": "out of memory"}, "out of memory"),
        ({"conditions": CLEAN | {"device_used": "cpu"}}, "ran on cpu"),
    ],
)
def test_what_is_not_the_same_work_is_not_comparable(changes, words):
    verdict = comparable(measured(), measured(**changes))
    assert verdict.answer is Comparability.NOT_COMPARABLE
    assert words in verdict.reasons[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"torch_version": "2.9.0"}, "torch differs: 2.8.0 and 2.9.0"),
        ({"torch_version": None}, "torch differs: 2.8.0 and not reported"),
        ({"conditions": CLEAN | {"throttle_reasons": "sw_power_cap"}}, "clock throttled"),
        ({"summary": Summary(count=30, median=1.0, q1=0.9, q3=1.1, low=0.95, high=1.05)}, "noisy"),
    ],
)
def test_a_difference_is_a_remark(changes, words):
    verdict = comparable(measured(), measured(**changes))
    assert verdict.answer is Comparability.WITH_REMARKS
    assert any(words in reason for reason in verdict.reasons)


def test_a_setting_that_differs_is_named():
    a, b = (measured(conditions=CLEAN | {"tf32": tf32}) for tf32 in (True, False))
    assert "tf32 differs: True and False" in comparable(a, b).reasons


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"summary": Summary(count=3, median=0.0014)}, "too few samples for an interval: 3"),
        ({"conditions": CLEAN | {"fallback": True}}, "how much of the time is not known"),
    ],
)
def test_cannot_tell_is_an_answer(changes, words):
    verdict = comparable(measured(), measured(**changes))
    assert verdict.answer is Comparability.CANNOT_TELL
    assert words in " ".join(verdict.reasons)


def test_the_verdict_does_not_depend_on_the_order():
    a, b = measured(), measured(torch_version="2.9.0", summary=Summary(count=3, median=0.0014))
    assert comparable(a, b).answer is comparable(b, a).answer


def test_clean_full_card_run_represents_the_product():
    assert is_of_whole_card(measured(card=CARD))


@pytest.mark.parametrize(
    "changes",
    [
        {"card": None},
        {"card": replace(CARD, accelerator_id=None)},
        {"card": SLICE},
        {"card": CARD, "state": "failed", "summary": None},
        {"card": CARD, "conditions": {"fallback": True}},
    ],
    ids=["no card", "unknown card", "slice", "failed", "fallback"],
)
def test_anything_else_does_not(changes):
    assert not is_of_whole_card(measured(**changes))


def test_the_best_of_each_key_has_the_highest_rate():
    slow, fast = measured(card=CARD), measured(card=CARD, series_id=2)
    fast = replace(fast, summary=replace(fast.summary, median=fast.summary.median / 2))
    failed = measured(card=CARD, state="failed", summary=None, series_id=3)
    assert best_by(lambda result: result.machine_id, [slow, fast, failed]) == {slow.machine_id: fast}
    assert best_by(lambda result: result.series_id, [slow, fast, failed]) == {slow.series_id: slow, 2: fast}
