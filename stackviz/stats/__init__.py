"""What samples come to: median, quartiles, an interval, whether they are noisy, how two compare. Standard library only.

Too few samples to say is None, never 0: a spread of 0.0 from one sample would look like perfect calm.

    >>> summarize([1.0, 1.1, 1.2, 1.3, 1.4, 9.0])
    Summary(count=6, median=1.25, q1=1.125, q3=1.375, low=1.0, high=9.0)
    >>> summarize([2.0])
    Summary(count=1, median=2.0, q1=None, q3=None, low=None, high=None)
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import geometric_mean

from stackviz.light import light_dataclass

NOISY_IQR_RATIO = (
    0.10  # torch.utils.benchmark warns from the same share of the median on (common.py, _IQR_WARN_THRESHOLD)
)
MIN_SAMPLES_FOR_QUARTILES = 4  # below, a quartile lies between two samples that are the extremes themselves
CONFIDENCE = 0.95


@light_dataclass(slots=True, kw_only=True)
class Summary:
    """Samples in short, in their own unit. `low` .. `high`: where the true median lies with CONFIDENCE."""

    count: int
    median: float
    q1: float | None = None
    q3: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def iqr_ratio(self) -> float | None:
        """Interquartile range as a share of the median; None if there are too few samples, or the median is 0."""
        if self.q1 is None or self.q3 is None or self.median == 0:
            return None
        return (self.q3 - self.q1) / abs(self.median)

    @property
    def is_noisy(self) -> bool | None:
        """Whether the middle half spreads over more than NOISY_IQR_RATIO of the median; None: too few samples."""
        ratio = self.iqr_ratio
        return None if ratio is None else ratio > NOISY_IQR_RATIO


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times one median is another. `low` .. `high`: None if either has too few samples for an interval."""

    value: float
    low: float | None
    high: float | None

    @property
    def is_different(self) -> bool | None:
        """Whether the interval leaves out 1, "the same"; None: cannot tell."""
        if self.low is None or self.high is None:
            return None
        return not self.low <= 1.0 <= self.high


def summarize(samples: Sequence[float]) -> Summary | None:
    """The summary of these samples in any order; None of none. Samples are finite numbers."""
    count = len(samples)
    if not count:
        return None
    ordered = sorted(samples)
    median = _at(ordered, 0.5)
    if count < MIN_SAMPLES_FOR_QUARTILES:
        return Summary(count=count, median=median)
    q1, q3 = _at(ordered, 0.25), _at(ordered, 0.75)
    rank = interval_rank(count)
    if rank is None:
        return Summary(count=count, median=median, q1=q1, q3=q3)
    return Summary(count=count, median=median, q1=q1, q3=q3, low=float(ordered[rank]), high=float(ordered[-1 - rank]))


def _at(ordered: Sequence[float], share: float) -> float:
    """The quantile at `share`, interpolated between neighbours: R's type 7, the default of numpy."""
    position = (len(ordered) - 1) * share
    below = int(position)
    left = ordered[below]
    part = position - below
    return float(left + (ordered[below + 1] - left) * part) if part else float(left)


@lru_cache(maxsize=4096)
def interval_rank(count: int) -> int | None:
    """Which sample from either end bounds the median's interval, 0 the outermost; None below 6 samples.

    Order statistics, no assumption about the distribution: x[r] .. x[n-1-r] misses the median with probability
    2 P(Binomial(n, 1/2) <= r), the largest r with at most 1 - CONFIDENCE is taken (Conover, Practical Nonparametric
    Statistics, 3rd ed., section 3.2). Five samples reach 93.75 % at best, hence six.
    """
    allowed = (1 - CONFIDENCE) / 2
    missed = 0.0
    for rank in range(count):
        # Through logarithms: 0.5 ** count underflows from 1,075 samples on.
        missed += math.exp(_log_choose(count, rank) - count * math.log(2))
        if missed > allowed:
            return rank - 1 if rank else None
    return None


def _log_choose(count: int, chosen: int) -> float:
    return math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)


def ratio(new: Summary, base: Summary) -> Ratio | None:
    """How many times `base` is `new`; None if the base is 0 or either is negative.

    The interval divides the worst of one by the best of the other: wider than it need be, so that "different" is
    said too rarely rather than too often.
    """
    if base.median <= 0 or new.median < 0:
        return None
    value = new.median / base.median
    if new.low is None or new.high is None or not base.low or base.high is None or base.low < 0:
        return Ratio(value, None, None)
    return Ratio(value, new.low / base.high, new.high / base.low)


def mean_of_groups(groups: Iterable[Sequence[float]]) -> float:
    """The geometric mean of the geometric means of groups of ratios: each group counts once, however many are in it.

        >>> round(mean_of_groups([[2.0], [8.0, 8.0, 8.0]]), 6)
        4.0

    All ratios must be positive, no group empty; StatisticsError otherwise.
    """
    return geometric_mean([geometric_mean(group) for group in groups])
