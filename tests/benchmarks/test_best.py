"""Which result speaks for an accelerator is decided in one place, for its sheet and for the ladder."""

from dataclasses import replace

import pytest

from stackviz.benchmarks.best import best_by, is_of_whole_card
from stackviz.benchmarks.measurement import CardUsed
from tests.benchmarks.test_measurement import measured

CARD = CardUsed(0, "NVIDIA H100 80GB HBM3", 1, {})
SLICE = replace(CARD, facts={"mig_mode": "enabled"})


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
