"""What samples come to. Expected values are from numpy.percentile and tables of the binomial distribution."""

import random
from statistics import StatisticsError

import pytest

from stackviz.base.stats import Ratio, Summary, interval_rank, mean_of_groups, ratio, summarize


def test_no_samples_have_no_summary():
    assert summarize([]) is None


@pytest.mark.parametrize(
    ("samples", "median", "q1", "q3"),
    [
        ([1, 2, 3, 4], 2.5, 1.75, 3.25),
        ([4.0, 1.0, 3.0, 2.0, 5.0], 3.0, 2.0, 4.0),
        ([7.0] * 9, 7.0, 7.0, 7.0),
        ([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4], 0.8, 0.3, 2.4),
    ],
)
def test_quartiles_are_those_of_numpy(samples, median, q1, q3):
    found = summarize(samples)
    assert (found.median, found.q1, found.q3) == pytest.approx((median, q1, q3))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_samples_have_a_median_and_no_spread(count):
    found = summarize([1.0] * count)
    assert (found.median, found.q1, found.q3, found.low, found.is_noisy) == (1.0, None, None, None, None)


@pytest.mark.parametrize(
    ("count", "rank"), [(1, None), (5, None), (6, 0), (8, 0), (9, 1), (12, 2), (20, 5), (30, 9), (100, 39), (1000, 468)]
)
def test_the_interval_is_bounded_by_the_samples_the_tables_say(count, rank):
    assert interval_rank(count) == rank


def test_the_interval_covers_the_median_as_often_as_it_says():
    source = random.Random(7)
    hits = 0
    for _ in range(2000):
        found = summarize([source.expovariate(1.0) for _ in range(15)])
        hits += found.low <= 0.6931 <= found.high
    assert hits / 2000 > 0.95


def test_the_order_of_samples_does_not_matter():
    samples = [random.Random(3).random() for _ in range(31)]
    assert summarize(samples) == summarize(sorted(samples)) == summarize(samples[::-1])


@pytest.mark.parametrize(
    ("samples", "is_noisy"),
    [([100, 101, 102, 103], False), ([95, 98, 102, 105], False), ([80, 90, 110, 120], True), ([1.0] * 6, False)],
)
def test_noise_is_an_iqr_over_a_tenth_of_median(samples, is_noisy):
    assert summarize(samples).is_noisy is is_noisy


@pytest.mark.parametrize(("q3", "is_noisy"), [(105.0, False), (105.1, True)])
def test_a_spread_of_exactly_a_tenth_is_not_noisy_yet(q3, is_noisy):
    assert Summary(count=8, median=100.0, q1=95.0, q3=q3).is_noisy is is_noisy


def test_spread_is_relative_to_absolute_median():
    assert Summary(count=8, median=-100.0, q1=-110.0, q3=-85.0).iqr_ratio == 0.25


@pytest.mark.parametrize("quartiles", [{"q1": 95.0}, {"q3": 105.0}])
def test_half_a_spread_is_none(quartiles):
    assert Summary(count=8, median=100.0, **quartiles).iqr_ratio is None


def test_a_median_of_zero_is_not_called_calm():
    assert summarize([0.0] * 8).is_noisy is None


def test_a_ratio_has_the_widest_interval_that_can_be_meant():
    new = Summary(count=10, median=2.0, q1=1.98, q3=2.02, low=1.8, high=2.2)
    base = Summary(count=10, median=1.0, q1=0.98, q3=1.02, low=0.8, high=1.2)
    assert ratio(new, base) == Ratio(2.0, pytest.approx(1.5), pytest.approx(2.75))
    assert ratio(new, base).is_different is True


def test_two_sets_that_overlap_are_not_called_different():
    a, b = (
        Summary(count=10, median=1.0, q1=0.98, q3=1.02, low=0.9, high=1.1),
        Summary(count=10, median=1.05, q1=1.04, q3=1.06, low=1.0, high=1.2),
    )
    assert ratio(a, b).is_different is False


@pytest.mark.parametrize(
    ("low", "high", "is_different"),
    [(1.0, 1.4, False), (0.6, 1.0, False), (1.01, 1.4, True), (0.6, 0.99, True), (None, 0.5, None), (2.0, None, None)],
)
def test_sets_are_different_when_the_interval_leaves_out_one(low, high, is_different):
    assert Ratio(1.0, low, high).is_different is is_different


SURE = Summary(count=10, median=2.0, q1=1.98, q3=2.02, low=1.8, high=2.2)


@pytest.mark.parametrize(
    "base",
    [
        Summary(count=3, median=1.0),
        Summary(count=10, median=1.0, low=0.8),
        Summary(count=10, median=1.0, low=None, high=1.2),
        Summary(count=10, median=1.0, low=0.0, high=1.2),
        Summary(count=10, median=1.0, low=-0.1, high=1.2),
    ],
)
def test_a_ratio_to_what_may_be_zero_has_no_interval(base):
    assert ratio(SURE, base) == Ratio(2.0, None, None)


@pytest.mark.parametrize("new", [Summary(count=10, median=2.0, low=1.8), Summary(count=10, median=2.0, high=2.2)])
def test_a_ratio_of_what_has_half_an_interval_has_none(new):
    assert ratio(new, SURE) == Ratio(1.0, None, None)


def test_factors_need_positive_figures():
    zero, negative = Summary(count=1, median=0.0), Summary(count=1, median=-1.0)
    assert ratio(zero, SURE) == Ratio(0.0, None, None)
    assert ratio(negative, SURE) is None
    assert ratio(SURE, negative) is None


def test_too_few_samples_cannot_tell():
    assert ratio(Summary(count=3, median=1.0), Summary(count=3, median=2.0)).is_different is None


def test_nothing_is_a_multiple_of_zero():
    assert ratio(Summary(count=1, median=1.0), Summary(count=1, median=0.0)) is None


def test_a_group_counts_once_however_many_are_in_it():
    assert mean_of_groups([[2.0], [8.0, 8.0, 8.0]]) == pytest.approx(4.0)
    assert mean_of_groups([[2.0, 0.5], [3.0]]) == pytest.approx(3.0**0.5)
    assert mean_of_groups([[1.5, 6.0]]) == pytest.approx(3.0)


@pytest.mark.parametrize("groups", [[], [[]], [[1.0], [0.0]], [[1.0], [-2.0]]])
def test_a_mean_of_nothing_or_of_what_is_not_positive_is_refused(groups):
    with pytest.raises(StatisticsError):
        mean_of_groups(groups)
