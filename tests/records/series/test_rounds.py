"""Intervals by rounds: samples of one round are not independent, and what disturbed a run leaves nothing to tell."""

import random

import pytest

from stackviz.base.stats import ratio, summarize, t_quantile
from stackviz.records.series.measurement import round_count, round_medians

ROUNDS = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("freedom", "t"),
    [
        (1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (6, 2.447), (7, 2.365), (8, 2.306), (9, 2.262),
        (10, 2.228), (11, 2.201), (20, 2.086), (60, 2.000),
    ],
)  # fmt: skip
def test_t_is_that_of_the_tables(freedom, t):
    assert t_quantile(freedom) == pytest.approx(t, abs=0.001)


def test_rounds_that_differ_widen_the_interval():
    """Twelve samples, four at each of three clocks: by samples the interval is narrow, by rounds it is not."""
    samples = [1.00] * 4 + [1.10] * 4 + [1.20] * 4
    by_samples, by_rounds = summarize(samples), summarize(samples, ROUNDS)
    assert (by_samples.rounds, by_rounds.rounds) == (None, 3)
    assert (by_samples.low, by_samples.high) == (1.0, 1.2)
    assert by_rounds.low == pytest.approx(0.8745, abs=0.001)
    assert by_rounds.high == pytest.approx(1.376, abs=0.001)


def test_the_interval_of_times_is_that_of_rates():
    samples = [1.0, 1.0, 1.1, 1.1, 1.3, 1.3]
    rounds = [0, 0, 1, 1, 2, 2]
    times, rates = summarize(samples, rounds), summarize([1 / sample for sample in samples], rounds)
    assert (1 / times.low, 1 / times.high) == (pytest.approx(rates.high), pytest.approx(rates.low))


def test_of_two_rounds_nobody_can_tell():
    summary = summarize([1.0] * 6 + [1.1] * 6, [0] * 6 + [1] * 6)
    assert (summary.low, summary.high, summary.rounds) == (None, None, 2)
    assert ratio(summary, summarize([2.0, 2.01, 2.02] * 4)).is_different is None


def test_runs_of_one_machine_agree():
    """Clocks that drift between rounds by 8 %, samples within one by 1 %: 15 pairs of six runs, a thousand times."""
    chance = random.Random(13)

    def run():
        samples = []
        for _ in range(3):
            level = chance.gauss(1.0, 0.08)
            samples += [level * chance.gauss(1.0, 0.01) for _ in range(4)]
        return samples

    def agreeing(summaries):
        pairs = [(a, b) for number, a in enumerate(summaries) for b in summaries[:number]]
        return sum(not ratio(a, b).is_different for a, b in pairs) / len(pairs)

    runs = [[run() for _ in range(6)] for _ in range(200)]
    by_rounds = sum(agreeing([summarize(samples, ROUNDS) for samples in six]) for six in runs) / len(runs)
    by_samples = sum(agreeing([summarize(samples) for samples in six]) for six in runs) / len(runs)
    assert by_rounds > 0.97
    assert by_samples < by_rounds


@pytest.mark.parametrize("disturbed", ["new", "base"])
def test_what_was_disturbed_is_never_called_different_nor_calm(disturbed):
    slow = summarize([2.0, 2.001, 2.002] * 4, ROUNDS, is_disturbed=disturbed == "new")
    fast = summarize([1.0, 1.001, 1.002] * 4, ROUNDS, is_disturbed=disturbed == "base")
    assert ratio(slow, fast).is_different is None
    assert (slow if disturbed == "new" else fast).is_noisy is None
    assert (fast if disturbed == "new" else slow).is_noisy is False


def test_what_is_noisy_is_never_called_different():
    noisy = summarize([1.0, 1.3] * 6)
    assert noisy.is_noisy
    assert ratio(summarize([9.0, 9.01] * 6), noisy).is_different is None


def test_samples_are_grouped_as_they_were_taken():
    conditions = {"round_sizes": "2 3"}
    assert round_count(conditions) == 2
    assert round_medians(conditions, [1.0, 3.0, 5.0, 6.0, 7.0]) == [2.0, 6.0]


@pytest.mark.parametrize("stated", ["2 2", "2 x", "0 5", "-1 6", "", 5, None, "9" * 30])
def test_rounds_that_make_no_sense_are_unknown(stated):
    assert round_medians({"round_sizes": stated}, [1.0] * 5) == []
