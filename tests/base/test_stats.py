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


@pytest.mark.parametrize(
    ("median", "q1", "q3", "iqr_ratio", "is_noisy"),
    [
        (100.0, 95.0, 105.0, 0.1, False),
        (100.0, 95.0, 105.1, 0.101, True),
        (-100.0, -110.0, -85.0, 0.25, True),
        (100.0, 95.0, None, None, None),
        (100.0, None, 105.0, None, None),
        (0.0, 0.0, 0.0, None, None),  # not called calm
    ],
)
def test_a_spread_is_a_share_of_the_median(median, q1, q3, iqr_ratio, is_noisy):
    summary = Summary(count=8, median=median, q1=q1, q3=q3)
    assert summary.iqr_ratio == (iqr_ratio and pytest.approx(iqr_ratio))
    assert summary.is_noisy is is_noisy


def near(median, low=None, high=None, count=10) -> Summary:
    return Summary(count=count, median=median, q1=median * 0.98, q3=median * 1.02, low=low, high=high)


SURE = near(2.0, 1.8, 2.2)


@pytest.mark.parametrize(
    ("new", "base", "expected", "is_different"),
    [
        (SURE, near(1.0, 0.8, 1.2), (2.0, 1.5, 2.75), True),  # the widest that can be meant
        (near(1.0, 0.9, 1.1), near(1.05, 1.0, 1.2), (1 / 1.05, 0.75, 1.1), False),
        (near(1.0, count=3), near(2.0, count=3), (0.5, None, None), None),
        *((SURE, base, (2.0, None, None), None) for base in (near(1.0), near(1.0, 0.8), near(1.0, None, 1.2))),
        *((SURE, near(1.0, low, 1.2), (2.0, None, None), None) for low in (0.0, -0.1)),
        (near(2.0, 1.8), SURE, (1.0, None, None), None),
        (near(2.0, None, 2.2), SURE, (1.0, None, None), None),
        (near(0.0), SURE, (0.0, None, None), None),
    ],
)
def test_a_ratio_has_an_interval_where_both_have_one(new, base, expected, is_different):
    found = ratio(new, base)
    assert (found.value, found.low, found.high) == pytest.approx(expected)
    assert found.is_different is is_different


@pytest.mark.parametrize(("new", "base"), [(near(-1.0), SURE), (SURE, near(-1.0)), (SURE, near(0.0))])
def test_factors_need_positive_figures(new, base):
    assert ratio(new, base) is None


@pytest.mark.parametrize(
    ("low", "high", "is_different"),
    [(1.0, 1.4, False), (0.6, 1.0, False), (1.01, 1.4, True), (0.6, 0.99, True), (None, 0.5, None), (2.0, None, None)],
)
def test_sets_are_different_when_the_interval_leaves_out_one(low, high, is_different):
    assert Ratio(1.0, low, high).is_different is is_different


def test_a_group_counts_once_however_many_are_in_it():
    assert mean_of_groups([[2.0], [8.0, 8.0, 8.0]]) == pytest.approx(4.0)
    assert mean_of_groups([[2.0, 0.5], [3.0]]) == pytest.approx(3.0**0.5)
    assert mean_of_groups([[1.5, 6.0]]) == pytest.approx(3.0)


@pytest.mark.parametrize("groups", [[], [[]], [[1.0], [0.0]], [[1.0], [-2.0]]])
def test_a_mean_of_nothing_or_of_what_is_not_positive_is_refused(groups):
    with pytest.raises(StatisticsError):
        mean_of_groups(groups)
