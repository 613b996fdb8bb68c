"""Where a series of results changed its level: PELT with a robust estimate of noise. Standard library only.

Results are split into segments of constant level so that squared residuals plus a penalty for each segment are least
(Killick, Fearnhead and Eckley, Optimal Detection of Changepoints With a Linear Computational Cost, JASA 2012). What is
ours, and why, is in docs/decisions/0012-change-points.md; how well it works, in docs/history.md.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

from stackviz.base.stats import Ratio, ratio, summarize

MIN_SEGMENT = 3  # results: fewer at another level are outliers
MIN_RESULTS = 10  # below, the noise is a guess
MIN_CHANGE = 0.02  # smaller ones are real now and then, but nobody acts on them
MAX_RESULTS = 500  # where nothing changes the cost grows with the square

# A change in the mean with known noise costs 3 log(n) (Zhang and Siegmund, Biometrics 2007). Here noise is estimated,
# the worse the fewer results there are: both figures are fitted to false alarms in stable series (docs/history.md).
_PENALTY_PER_LOG = 4.0
_PENALTY_FEW_RESULTS = 150.0

_FLOOR = 0.001  # relative noise below this is not believed: timers and clocks step
_OUTLIER = 3.0  # Hampel's identifier: so many deviations from the median of five neighbours
_QUANTILES = ((0.5, 0.6745), (0.8, 1.2816))  # share of differences below -> where a normal distribution has it
_MIN_RESULTS_FOR_LASTING_NOISE = 12
_LAGS = 7  # how far apart results are compared to tell lasting noise, fitted to false alarms like the penalty
_RESULTS_PER_LAG = 6
_CERTAIN = 3.0  # times the noise of one result: a change that is no lasting noise
_MOST_LASTING_NOISE = 0.7  # correlation of neighbours: above, noise and changes look alike


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChange:
    """A change of level. `index`: of the first result after it. `before`, `after`: medians of the two segments.

    `ratio`: after over before; its interval is None where a segment is shorter than six results.
    """

    index: int
    before: float
    after: float
    ratio: Ratio


def level_changes(values: Sequence[float]) -> list[LevelChange]:
    """The changes of level in values in order of time, the oldest first; of the newest MAX_RESULTS.

    Values are positive and finite (seconds, rates). None is found in fewer than MIN_RESULTS.
    """
    skipped = max(0, len(values) - MAX_RESULTS)
    recent = values[skipped:]
    if len(recent) < MIN_RESULTS:
        return []
    logs = [math.log(value) for value in recent]
    noise = lasting_noise_of(logs, noise_of(logs))
    ends = _merge_small(recent, _split(_without_outliers(logs, noise), noise))
    return [_change(recent, start, end, stop, skipped) for start, end, stop in _neighbours(ends)]


def noise_of(logs: Sequence[float]) -> float:
    """The standard deviation that counts for means of many results: of one result, more where noise lasts.

    From differences of neighbours, most of which no change of level touches; the larger of two quantiles, because the
    median difference of noise with two modes is small. Noise that lasts longer than one result is small between
    neighbours: taken as autoregressive, its correlation follows from differences of second neighbours.
    """
    noise = max(_FLOOR, _spread(_steps(logs, 1)) / math.sqrt(2))
    if len(logs) < _MIN_RESULTS_FOR_LASTING_NOISE:
        return noise
    near, far = (_mean_square(_steps(logs, lag)) / 2 for lag in (1, 2))
    return noise * _short_memory(near, far)


def lasting_noise_of(logs: Sequence[float], noise: float) -> float:
    """`noise` of `noise_of`, or more where noise lasts over many results, from heat or other work.

    Changes that are too large for noise are removed first: the rest shows how far results hang together.
    """
    lags = min(_LAGS, len(logs) // _RESULTS_PER_LAG)
    if lags < 2 or _long_run(logs, lags) <= noise:
        return noise
    return max(noise, _long_run(_level(logs, _split(_without_outliers(logs, noise), noise), noise), lags))


def _level(logs: Sequence[float], ends: Sequence[int], noise: float) -> list[float]:
    """The values without the changes of level that no noise makes: larger than _CERTAIN times that of one result."""
    flat: list[float] = []
    start, level = 0, None
    for end in ends:
        middle = median(logs[start:end])
        if level is None or abs(middle - level) > _CERTAIN * noise:
            level = middle
        flat += [value - level for value in logs[start:end]]
        start = end
    return flat


def _short_memory(near: float, far: float) -> float:
    """The factor for means where only neighbours hang together: an autoregressive process of first order."""
    lasting = min(max(far / near - 1, 0.0), _MOST_LASTING_NOISE) if near else 0.0
    return math.sqrt(1 + lasting) / (1 - lasting)


def _long_run(logs: Sequence[float], lags: int) -> float:
    """The standard deviation that counts for means, of values without a change of level.

    The long-run variance of Newey and West (Econometrica 55, 1987); correlations are computed from differences, and the
    variance by those of the longer half of the lags, where results hang together least.
    """
    halves = [_mean_square(_steps(logs, lag)) / 2 for lag in range(1, lags + 1)]  # variance times (1 - correlation)
    variance = sum(halves[lags // 2 :]) / (lags - lags // 2)
    if not variance:
        return 0.0
    shares = [(1 - lag / (lags + 1)) * max(0.0, 1 - half / variance) for lag, half in enumerate(halves, 1)]
    return math.sqrt(variance * (1 + 2 * sum(shares)))


def _steps(logs: Sequence[float], lag: int) -> list[float]:
    """Sizes of the differences of results `lag` apart, in ascending order."""
    return sorted(abs(after - before) for before, after in zip(logs, logs[lag:], strict=False))


def _spread(steps: Sequence[float]) -> float:
    """The standard deviation of normal differences with these quantiles."""
    return max(steps[int(share * (len(steps) - 1))] / normal for share, normal in _QUANTILES)


def _mean_square(steps: Sequence[float]) -> float:
    """Of differences, none counted as more than an outlier would be: that is where changes are."""
    limit = _OUTLIER * _spread(steps)
    return sum(min(step, limit) ** 2 for step in steps) / len(steps)


def _without_outliers(logs: Sequence[float], noise: float) -> list[float]:
    """Single results far from their neighbours, moved to the middle of these: they are no change of level."""
    limit, last = _OUTLIER * noise, len(logs) - 5
    middles = [median(logs[start : start + 5]) for start in range(last + 1)]
    near = (middles[min(max(at - 2, 0), last)] for at in range(len(logs)))
    return [middle if abs(value - middle) > limit else value for value, middle in zip(logs, near, strict=True)]


def _split(logs: Sequence[float], noise: float) -> list[int]:
    """Ends of the best segments, in order: PELT with the cost of a change in the mean."""
    count = len(logs)
    scaled = [(value - logs[0]) / noise for value in logs]
    sums = [0.0, *accumulate(scaled)]
    squares = [0.0, *accumulate(value * value for value in scaled)]
    penalty = _PENALTY_PER_LOG * math.log(count) + _PENALTY_FEW_RESULTS / count
    best = [-penalty] + [math.inf] * count
    previous = [0] * (count + 1)
    candidates = [0]
    for end in range(MIN_SEGMENT, count + 1):
        total, square = sums[end], squares[end]
        costs = [
            best[start] + square - squares[start] - (total - sums[start]) ** 2 / (end - start) for start in candidates
        ]
        least = min(costs)
        best[end] = least + penalty
        previous[end] = candidates[costs.index(least)]
        candidates = [start for start, cost in zip(candidates, costs, strict=True) if cost <= best[end]]
        if end + 1 >= 2 * MIN_SEGMENT:
            candidates.append(end + 1 - MIN_SEGMENT)
    ends = [count]
    while previous[ends[-1]]:
        ends.append(previous[ends[-1]])
    return ends[::-1]


def _neighbours(ends: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(start, end, end of the next) of each segment that has a next one."""
    starts = [0, *ends]
    yield from zip(starts, ends, ends[1:], strict=False)


def _merge_small(values: Sequence[float], ends: Sequence[int]) -> list[int]:
    """Merge changes smaller than MIN_CHANGE, the smallest first: merging moves the neighbouring levels."""
    left = list(ends)
    while len(left) > 1:
        sizes = [
            abs(math.log(median(values[end:stop]) / median(values[start:end])))
            for start, end, stop in _neighbours(left)
        ]
        if min(sizes) >= math.log1p(MIN_CHANGE):
            break
        del left[sizes.index(min(sizes))]
    return left


def _change(values: Sequence[float], start: int, end: int, stop: int, skipped: int) -> LevelChange:
    before, after = summarize(values[start:end]), summarize(values[end:stop])
    factor = ratio(after, before) if before and after else None
    if before is None or after is None or factor is None:
        raise ValueError("values must be positive")
    return LevelChange(index=end + skipped, before=before.median, after=after.median, ratio=factor)
