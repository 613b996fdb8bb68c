"""Changes of level in series of results. docs/history.md holds the same figures for more series (`bench.changes`)."""

import math
import random

import pytest

from bench.changes import RESULTS, run_trials
from stackviz.base.stats.changes import MAX_RESULTS, lasting_noise_of, level_changes, noise_of

STEADY = [100.0, 100.4, 99.7, 100.1, 99.8, 100.3, 99.9, 100.2, 99.6, 100.0]


def scaled(factor):
    return [value * factor for value in STEADY]


def test_a_change_has_its_place_its_levels_and_an_interval():
    [change] = level_changes([*STEADY, *scaled(0.95)])
    assert (change.index, change.before, change.after) == (10, 100.0, 95.0)
    assert change.ratio.value == pytest.approx(0.95)
    assert change.ratio.low < 0.95 < change.ratio.high < 1


def test_several_changes_are_told_apart_also_a_short_one():
    found = level_changes([*STEADY, *scaled(1.10), *scaled(1.04)[:5], *scaled(1.20)])
    assert [(change.index, round(change.ratio.value, 2)) for change in found] == [(10, 1.1), (20, 0.95), (25, 1.15)]


@pytest.mark.parametrize(
    ("values", "places"),
    [
        (STEADY * 6, []),
        ([2.0] * 40, []),
        ([*STEADY, 60.0, *STEADY], []),
        ([*STEADY, 60.0, 61.0, *STEADY], []),
        ([*STEADY[:4], 300.0, *STEADY[5:], *scaled(0.95)], [10]),  # an outlier hides no change
        ([*STEADY, *scaled(1.015)], []),  # not worth a line
        ([*STEADY, *scaled(1.03)], [10]),
        ([*STEADY, *scaled(0.9)[:2]], []),
        ([*STEADY, *scaled(0.9)[:3]], [10]),
        ([100.0, 100.1, 99.9, 100.0, 100.1, 80.0, 80.1, 79.9, 80.0], []),  # nine are too few
        ([*scaled(2.0), *STEADY * (MAX_RESULTS // 10), *scaled(0.9)], [10 + MAX_RESULTS]),  # the newest are looked at
    ],
)
def test_a_change_lasts_and_is_large_enough(values, places):
    assert [change.index for change in level_changes(values)] == places


def test_seconds_and_rates_change_at_the_same_results():
    values = [*STEADY, *scaled(1.07), *scaled(1.0)]
    assert [change.index for change in level_changes(values)] == [
        change.index for change in level_changes([1 / v for v in values])
    ]


def test_noise_is_that_of_one_result_whatever_changed():
    rng = random.Random(3)
    logs = [rng.gauss(0.0, 0.02) for _ in range(300)]
    shifted = [value + (0.3 if at >= 150 else 0.0) for at, value in enumerate(logs)]
    assert noise_of(logs) == pytest.approx(0.02, rel=0.2)
    assert noise_of(shifted) == pytest.approx(noise_of(logs), rel=0.05)


def test_noise_of_few_results_has_no_bias():
    draws = (random.Random(seed) for seed in range(200))
    found = [noise_of([rng.gauss(0.0, 0.02) for _ in range(10)]) for rng in draws]
    assert sum(found) / len(found) == pytest.approx(0.02, rel=0.2)


def test_noise_that_lasts_counts_for_more():
    rng = random.Random(4)
    logs = [0.0]
    for _ in range(400):
        logs.append(0.6 * logs[-1] + rng.gauss(0.0, 0.016))  # standard deviation 0.02
    assert noise_of(logs) == pytest.approx(0.04, rel=0.25)  # 0.02 * sqrt(1.6 / 0.4)


@pytest.mark.parametrize("level", [0.005, 0.01, 0.02, 0.04])
@pytest.mark.parametrize("block", [1, 4, RESULTS])
def test_of_200_stable_series_at_most_two_show_a_change(level, block):
    """Single runs, four together, and as they came, with the other work that began and ended meanwhile."""
    assert run_trials(random.Random(f"9 {block}"), 200, 0.0, level, block=block).false_alarms <= 2


def test_lasting_noise_counts_for_more():
    """Neighbours differ as much as second neighbours: only results further apart tell that half of it lasts."""
    rng = random.Random(7)
    lasting, logs = 0.0, []
    for _ in range(400):
        lasting = 0.8 * lasting + rng.gauss(0.0, 0.006)
        logs.append(lasting + rng.gauss(0.0, 0.01))
    assert lasting_noise_of(logs, noise_of(logs)) > 1.3 * noise_of(logs)
    independent = [rng.gauss(0.0, 0.01) for _ in range(400)]
    assert lasting_noise_of(independent, noise_of(independent)) == pytest.approx(noise_of(independent), rel=0.15)


def test_large_changes_are_not_taken_for_lasting_noise():
    rng = random.Random(8)
    logs = [rng.gauss(0.0, 0.01) for _ in range(120)]
    shifted = [value + 0.2 * (at // 20) for at, value in enumerate(logs)]
    assert lasting_noise_of(shifted, noise_of(shifted)) == pytest.approx(noise_of(shifted), rel=0.1)
    assert [change.index for change in level_changes([math.exp(value) for value in shifted])] == [20, 40, 60, 80, 100]


@pytest.mark.parametrize(
    ("size", "level", "at_least"),
    [(0.03, 0.005, 48), (0.05, 0.01, 48), (0.05, 0.02, 35), (0.10, 0.02, 48), (0.10, 0.04, 35)],
)
def test_planted_changes_are_found_in_recorded_noise(size, level, at_least):
    tally = run_trials(random.Random(22), 50, size, level, block=1)
    assert tally.found >= at_least
    assert tally.false_alarms <= 3
