"""The benchmark `launch`: a time, of which less is better."""

from stackviz.base.stats import Summary
from stackviz.records.series.comparability import Basis, best_by, robust_best
from stackviz.records.series.measurement import Rate
from stackviz.report.measuring.gemm import GEMM
from stackviz.report.measuring.launch import LAUNCH
from tests.records.series.test_measurement import measured

QUEUED = {"op": "queued"}


def test_the_rate_is_the_time_of_a_call():
    assert LAUNCH.rate(QUEUED, 4.5e-6) == 4.5e-6
    assert LAUNCH.rates(QUEUED, 4.5e-6, 4e-6, 5e-6) == (4.5e-6, 4e-6, 5e-6)
    assert Rate(4.5e-6, 4e-6, 5e-6, "s").label == "4.5 µs"
    assert LAUNCH.rate({"op": "dropped"}, 1.0) is None


def test_less_is_better_for_times_only():
    assert not LAUNCH.higher_is_better
    assert GEMM.higher_is_better
    assert Rate(4e-6, None, None, "s").speed > Rate(5e-6, None, None, "s").speed
    assert Rate(4.0, None, None, "B/s").speed < Rate(5.0, None, None, "B/s").speed


def test_nothing_published_bounds_it():
    assert LAUNCH.bounds_of(QUEUED) == ()


def launched(seconds, machine=1, width=0.01):
    """A run of this median, whose interval reaches `width` of it to either side."""
    low, high = seconds * (1 - width), seconds * (1 + width)
    summary = Summary(count=12, median=seconds, q1=low, q3=high, low=low, high=high, rounds=3)
    return measured(benchmark_key="launch", params=QUEUED, summary=summary, machine_id=machine)


def test_the_shortest_time_that_another_run_confirms_is_the_best():
    runs = [launched(6e-6), launched(4.1e-6, 2), launched(4e-6, 3)]
    best = robust_best(runs)
    assert (best.result, best.basis) == (runs[2], Basis.CONFIRMED)
    (of_all,) = best_by(lambda _result: "all", runs).values()
    assert of_all.result is runs[2]


def test_times_confirm_each_other_where_their_intervals_overlap():
    shorter, longer = launched(4e-6, width=0.06), launched(4.4e-6, 2, width=0.06)
    assert robust_best([longer, shorter]).result is shorter
    apart = robust_best([launched(4e-6), launched(4.6e-6, 2)])
    assert (apart.basis, apart.rate.value) == (Basis.MEDIAN, 4.6e-6)
