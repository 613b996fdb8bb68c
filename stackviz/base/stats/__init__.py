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
from statistics import NormalDist, fmean, geometric_mean, median, stdev

from stackviz.base.light import light_dataclass

NOISY_IQR_RATIO = (
    0.10  # torch.utils.benchmark warns from the same share of the median on (common.py, _IQR_WARN_THRESHOLD)
)
MIN_SAMPLES_FOR_QUARTILES = 4  # below, a quartile lies between two samples that are the extremes themselves
MIN_ROUNDS = 3  # of two the interval reaches 13 standard errors to either side and says nothing
CONFIDENCE = 0.95


@light_dataclass(slots=True, kw_only=True)
class Summary:
    """Samples in short, in their own unit. `low` .. `high`: where the true median lies with CONFIDENCE.

    `rounds`: how many rounds the interval is worked out from; None: they are not known, and samples are taken for
    independent. `is_disturbed`: something else was at work, so that no interval of these samples can be trusted.
    """

    count: int
    median: float
    q1: float | None = None
    q3: float | None = None
    low: float | None = None
    high: float | None = None
    rounds: int | None = None
    is_disturbed: bool = False

    @property
    def iqr_ratio(self) -> float | None:
        """Interquartile range as a share of the median; None if there are too few samples, or the median is 0."""
        if self.q1 is None or self.q3 is None or self.median == 0:
            return None
        return (self.q3 - self.q1) / abs(self.median)

    @property
    def is_noisy(self) -> bool | None:
        """Whether the middle half spreads over more than NOISY_IQR_RATIO of the median; None: too few samples, or
        something else was at work: a steady load makes steady samples.
        """
        ratio = self.iqr_ratio
        if ratio is not None and ratio > NOISY_IQR_RATIO:
            return True
        return None if ratio is None or self.is_disturbed else False

    @property
    def is_uncertain(self) -> bool:
        """Whether nothing can be called different from this: noisy, or disturbed."""
        return self.is_disturbed or self.is_noisy is True


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times one median is another. `low` .. `high`: None if either has too few samples for an interval.

    `is_uncertain`: either is noisy or was disturbed.
    """

    value: float
    low: float | None
    high: float | None
    is_uncertain: bool = False

    @property
    def is_different(self) -> bool | None:
        """Whether the interval leaves out 1, "the same"; None: cannot tell."""
        if self.low is None or self.high is None or self.is_uncertain:
            return None
        return not self.low <= 1.0 <= self.high


def summarize(samples: Sequence[float], rounds: Sequence[int] = (), *, is_disturbed: bool = False) -> Summary | None:
    """Summarise samples, finite numbers in any order. Returns None without samples.

    `rounds`: the round of each sample; then the interval is that of the rounds, and None where they are too few.
    """
    count = len(samples)
    if not count:
        return None
    ordered = sorted(samples)
    middle = _at(ordered, 0.5)
    q1 = q3 = None
    if count >= MIN_SAMPLES_FOR_QUARTILES:
        q1, q3 = _at(ordered, 0.25), _at(ordered, 0.75)
    low, high = _interval_by_rounds(samples, rounds, middle) if rounds else _interval_by_samples(ordered)
    return Summary(
        count=count,
        median=middle,
        q1=q1,
        q3=q3,
        low=low,
        high=high,
        rounds=len(set(rounds)) or None,
        is_disturbed=is_disturbed,
    )


Interval = tuple[float, float] | tuple[None, None]


def _interval_by_samples(ordered: Sequence[float]) -> Interval:
    rank = interval_rank(len(ordered))
    return (None, None) if rank is None else (float(ordered[rank]), float(ordered[-1 - rank]))


def _interval_by_rounds(samples: Sequence[float], rounds: Sequence[int], middle: float) -> Interval:
    """Student's t interval of the logarithms of the rounds' medians, widened to contain the median of all samples.

    Samples of one round share its clocks, heat and memory: they are no independent observations, the rounds are. The
    interval is that of the highest level of repetition (Kalibera, Jones: Rigorous Benchmarking in Reasonable Time, ISMM
    2013, section 5; the method of batch means: Law, Simulation Modeling and Analysis, 5th ed., section 9.5.3). Of
    logarithms, so that times and the rates made of them have the same interval, and none reaches 0.
    """
    by_round: dict[int, list[float]] = {}
    for number, sample in zip(rounds, samples, strict=True):
        by_round.setdefault(number, []).append(sample)
    if len(by_round) < MIN_ROUNDS or min(samples) <= 0:
        return None, None
    logs = [math.log(median(of_round)) for of_round in by_round.values()]
    reach = t_quantile(len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    centre = fmean(logs)
    return min(middle, math.exp(centre - reach)), max(middle, math.exp(centre + reach))


_T_OF_FEW = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


def t_quantile(freedom: int) -> float:
    """The t value that CONFIDENCE of Student's distribution with so many degrees of freedom lie within, to 0.001.

    Few: tables (NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2); from 11 on the expansion of Fisher
    and Cornish about the normal distribution (Abramowitz, Stegun: Handbook of Mathematical Functions, 26.7.5).
    """
    if freedom <= len(_T_OF_FEW):
        return _T_OF_FEW[freedom - 1]
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


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
    reported too rarely rather than too often.
    """
    if base.median <= 0 or new.median < 0:
        return None
    value = new.median / base.median
    is_uncertain = new.is_uncertain or base.is_uncertain
    if new.low is None or new.high is None or not base.low or base.high is None or base.low < 0:
        return Ratio(value, None, None, is_uncertain)
    return Ratio(value, new.low / base.high, new.high / base.low, is_uncertain)


def mean_of_groups(groups: Iterable[Sequence[float]]) -> float:
    """The geometric mean of the geometric means of groups of ratios: each group counts once, however many are in it.

        >>> round(mean_of_groups([[2.0], [8.0, 8.0, 8.0]]), 6)
        4.0

    All ratios must be positive, no group empty; StatisticsError otherwise.
    """
    return geometric_mean([geometric_mean(group) for group in groups])
