"""What machines reach of the bounds: coefficients and factors fitted to cited and measured rates. Pure: no Django.

    seconds = factor(card) x sum of coefficient(vendor) x term

Coefficients are fitted to all rates of a vendor, non-negative, by least relative deviation, every accelerator
with the same weight. The factor is what is left: the median over an accelerator's own rates, drawn towards the median
of its family, which is drawn towards 1. Nothing else is adjusted. `without` hides an accelerator's own rates.
"""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from stackviz.pages.fit.rates import TERMS, Bound, Pass, RatedAccelerator, Test, pass_terms

Level = Literal["accelerator", "family", "vendor", "all"]
_Deviations = Mapping[str, list[float]]  # accelerator -> logarithms of its seconds over those predicted
FEWEST_OF_VENDOR = 10  # rates, below which the coefficients of all vendors are used
FEWEST_FOR_SPREAD = 4  # rates, below which the spread of the next wider level is used
SHRINKAGE = 1.0  # accelerators or rates that the wider level counts as
LOW, HIGH = 0.1, 0.9  # quantiles of the interval
LEAST_SPREAD = 0.05  # of the logarithm: no prediction is better than 5 %


@dataclass(frozen=True, kw_only=True)
class ReachedRate:
    """A rate that an accelerator with a sheet reached with a model of the table.

    Cited: somebody measured and published it; `is_measured`: a machine of a public lab did, and reported it here.
    """

    accelerator: str
    model: str
    test: Test
    work: Pass
    tokens_per_s: float
    cards: int = 1
    is_measured: bool = False
    source_title: str = ""

    @property
    def seconds(self) -> float:
        """Of one pass (decode), of one token (prefill)."""
        return (self.work.batch if self.test == "decode" else 1) / self.tokens_per_s


@dataclass(frozen=True, kw_only=True)
class Factor:
    """What a card's times are multiplied with: `mid`, and the range most rates lie in.

    `count`: rates behind it; `measured`: how many of these are measured, not cited.
    """

    low: float
    mid: float
    high: float
    level: Level
    count: int
    measured: int


@dataclass(frozen=True, kw_only=True)
class Term:
    """One term of a pass: `ideal` seconds on a perfect machine, times `coefficient`."""

    name: str
    bound: Bound
    ideal: float
    coefficient: float

    @property
    def seconds(self) -> float:
        return self.ideal * self.coefficient


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """tokens/s. `efficiency`: the rate as a share of `bound_rate`. `factor`: the accelerator's, see Factor.

    `bound_rate`: what bytes (decode) or products (prefill) alone would allow on a perfect machine.
    """

    low: float
    mid: float
    high: float
    efficiency: float
    level: Level
    count: int
    measured: int
    factor: float
    terms: tuple[Term, ...]
    bound_rate: float

    @property
    def bound_by(self) -> Bound:
        """What takes most of the time."""
        shares: dict[Bound, float] = defaultdict(float)
        for term in self.terms:
            shares[term.bound] += term.seconds
        return max(shares, key=shares.__getitem__)


class Calibration:
    """Fitted to the rates of one test. `cards`: by slug, with all that the rates name."""

    def __init__(self, test: Test, rates: Iterable[ReachedRate], cards: Mapping[str, RatedAccelerator]) -> None:
        self.test: Test = test
        self.cards = cards
        usable = [rate for rate in rates if rate.test == test and _is_rated(cards.get(rate.accelerator), test)]
        self._rows = [(rate, pass_terms(test, rate.work, cards[rate.accelerator])) for rate in usable]
        self._measured = Counter(rate.accelerator for rate in usable if rate.is_measured)
        self._coefficients: dict[tuple[str, str], tuple[float, ...]] = {}
        self._missed: dict[tuple[str, str], list[float]] = {}
        self._by_accelerator: dict[tuple[str, str], _Deviations] = {}

    @property
    def rates(self) -> list[ReachedRate]:
        return [rate for rate, _terms in self._rows]

    def coefficients(self, vendor: str, without: str = "") -> tuple[float, ...]:
        """Of this vendor's terms; of all vendors' where it has too few rates."""
        rows = self._of_vendor(vendor, without)
        key = ("" if rows is None else vendor, without if self._has(without) else "")
        if key not in self._coefficients:
            used = rows if rows is not None else [row for row in self._rows if row[0].accelerator != without]
            self._coefficients[key] = _fit(used, len(TERMS[self.test]))
        return self._coefficients[key]

    def factor(self, card: RatedAccelerator, without: str = "") -> Factor:
        """The factor of a card and where it is from."""
        deviations = self._deviations(card.vendor, without)
        own_rates, family = deviations.get(card.slug, []), self._relatives(card, deviations)
        middle = _drawn(own_rates, towards=_centre(family))
        has_vendor = self._of_vendor(card.vendor, without) is not None
        level: Level = "accelerator" if own_rates else "family" if family else "vendor" if has_vendor else "all"
        behind = {card.slug: own_rates} if own_rates else family or deviations
        if len(own_rates) >= FEWEST_FOR_SPREAD:
            fast, slow = _spread([deviation - middle for deviation in own_rates])
        else:
            fast, slow = _spread(self._misses(card.vendor, without))
        return Factor(
            low=math.exp(middle + fast),
            mid=math.exp(middle),
            high=math.exp(middle + slow),
            level=level,
            count=sum(len(rows) for rows in behind.values()),
            measured=sum(self._measured[slug] for slug in behind),
        )

    def _relatives(self, card: RatedAccelerator, deviations: _Deviations) -> _Deviations:
        """The deviations of the other accelerators of its family."""
        return {
            slug: rows
            for slug, rows in deviations.items()
            if slug != card.slug and card.family and self.cards[slug].family == card.family
        }

    def _misses(self, vendor: str, without: str) -> list[float]:
        """How far the rates of each accelerator lie from what its relatives say: the error of a card without rates."""
        key = (vendor, without if self._has(without) else "")
        if key not in self._missed:
            deviations = self._deviations(vendor, without)
            self._missed[key] = [
                row - _centre(self._relatives(self.cards[slug], deviations))
                for slug, rows in deviations.items()
                for row in rows
            ]
        return self._missed[key]

    def predict(self, work: Pass, card: RatedAccelerator, without: str = "") -> Prediction:
        """What a card is expected to reach. Raises NotPublished where a figure of its sheet is missing."""
        terms = tuple(
            Term(name=name, bound=bound, ideal=ideal, coefficient=coefficient)
            for (name, bound), ideal, coefficient in zip(
                TERMS[self.test].items(),
                pass_terms(self.test, work, card),
                self.coefficients(card.vendor, without),
                strict=True,
            )
        )
        factor, seconds = self.factor(card, without), sum(term.seconds for term in terms)
        done = work.batch if self.test == "decode" else 1
        bound_seconds = terms[1].ideal  # bytes for decode, products for prefill: what no software avoids
        return Prediction(
            low=done / (seconds * factor.high),
            mid=done / (seconds * factor.mid),
            high=done / (seconds * factor.low),
            efficiency=bound_seconds / (seconds * factor.mid),
            level=factor.level,
            count=factor.count,
            measured=factor.measured,
            factor=factor.mid,
            terms=terms,
            bound_rate=done / bound_seconds,
        )

    def _has(self, slug: str) -> bool:
        return any(rate.accelerator == slug for rate, _terms in self._rows)

    def _of_vendor(self, vendor: str, without: str) -> "list[_Row] | None":
        rows = [
            row
            for row in self._rows
            if row[0].accelerator != without and self.cards[row[0].accelerator].vendor == vendor
        ]
        return rows if len(rows) >= FEWEST_OF_VENDOR else None

    def _deviations(self, vendor: str, without: str) -> _Deviations:
        """Logarithms of seconds over those predicted, by accelerator."""
        key = (vendor, without if self._has(without) else "")
        if key not in self._by_accelerator:
            self._by_accelerator[key] = self._deviations_of(*key)
        return self._by_accelerator[key]

    def _deviations_of(self, vendor: str, without: str) -> _Deviations:
        weights = self.coefficients(vendor, without)
        rows = self._of_vendor(vendor, without)
        by_accelerator: dict[str, list[float]] = defaultdict(list)
        for rate, terms in rows if rows is not None else self._rows:
            if rate.accelerator != without:
                expected = sum(weight * term for weight, term in zip(weights, terms, strict=True))
                by_accelerator[rate.accelerator].append(math.log(rate.seconds / expected))
        return by_accelerator


_Row = tuple[ReachedRate, tuple[float, ...]]


def leave_one_out(calibration: Calibration) -> list[tuple[ReachedRate, Prediction]]:
    """Every rate with what is predicted when all rates of its accelerator are hidden."""
    return [
        (rate, calibration.predict(rate.work, calibration.cards[rate.accelerator], without=rate.accelerator))
        for rate in calibration.rates
    ]


def _is_rated(card: RatedAccelerator | None, test: Test) -> bool:
    return card is not None and bool(card.bandwidth) and (test == "decode" or bool(card.matrix_flops))


def _drawn(values: Sequence[float], towards: float) -> float:
    """The median, drawn towards a wider one by as much as that counts."""
    if not values:
        return towards
    share = len(values) / (len(values) + SHRINKAGE)
    return share * statistics.median(values) + (1 - share) * towards


def _centre(family: _Deviations) -> float:
    """What a family deviates by: the median of its accelerators' medians, drawn towards 0."""
    return _drawn([statistics.median(rows) for rows in family.values()], towards=0.0)


def _spread(deviations: Sequence[float]) -> tuple[float, float]:
    """How far below and above 0 most of them lie: (fast, slow)."""
    around = sorted(deviations)
    if not around:
        return -math.log(2), math.log(2)
    return min(_quantile(around, LOW), -LEAST_SPREAD), max(_quantile(around, HIGH), LEAST_SPREAD)


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Of sorted values, linear between neighbours."""
    at = share * (len(ordered) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (at - below)


def _fit(rows: Sequence[_Row], count: int) -> tuple[float, ...]:
    """Coefficients >= 0 of least absolute relative deviation; every accelerator weighs the same."""
    per_accelerator = Counter(rate.accelerator for rate, _terms in rows)
    scaled = [[term / rate.seconds for term in terms] for rate, terms in rows]
    return least_deviation(scaled, [1.0 / per_accelerator[rate.accelerator] for rate, _terms in rows], count)


ROUNDS = 15  # of reweighting; the coefficients stand still to four digits after ten
SMALLEST_DEVIATION = 0.03  # relative; keeps a time that is met exactly from outweighing all others


def least_deviation(scaled: Sequence[Sequence[float]], weights: Sequence[float], count: int) -> tuple[float, ...]:
    """`count` coefficients >= 0 whose sums with each row come nearest to 1, by reweighted least squares.

    `scaled`: rows of terms, each divided by the time they should add up to; `weights`: of the rows.
    """
    coefficients = [0.0] * count
    adjusted = list(weights)
    for _round in range(ROUNDS):
        coefficients = _non_negative(scaled, adjusted, count)
        for at, terms in enumerate(scaled):
            deviation = abs(sum(c * term for c, term in zip(coefficients, terms, strict=True)) - 1.0)
            adjusted[at] = weights[at] / max(deviation, SMALLEST_DEVIATION)
    return tuple(coefficients)


def _non_negative(scaled: Sequence[Sequence[float]], weights: Sequence[float], count: int) -> list[float]:
    """Weighted least squares to 1 with coefficients >= 0: those that come out negative are left out, worst first."""
    square = [
        [sum(w * terms[i] * terms[j] for w, terms in zip(weights, scaled, strict=True)) for j in range(count)]
        for i in range(count)
    ]
    right = [sum(w * terms[i] for w, terms in zip(weights, scaled, strict=True)) for i in range(count)]
    used = [i for i in range(count) if square[i][i] > 0]
    while used:
        solved = _solve([[square[i][j] for j in used] for i in used], [right[i] for i in used])
        worst = min(range(len(used)), key=solved.__getitem__)
        if solved[worst] >= 0:
            return [solved[used.index(i)] if i in used else 0.0 for i in range(count)]
        del used[worst]
    return [0.0] * count


def _solve(square: list[list[float]], right: list[float]) -> list[float]:
    """Gauss-Jordan with pivoting, after scaling; a column that depends on others gets 0."""
    size = len(right)
    scale = [math.sqrt(square[i][i]) for i in range(size)]
    rows = [[square[i][j] / scale[i] / scale[j] for j in range(size)] + [right[i] / scale[i]] for i in range(size)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        if abs(rows[column][column]) < 1e-9:  # singular
            rows[column] = [0.0] * (size + 1)
            rows[column][column] = 1.0
        _clear(rows, column)
    return [rows[i][size] / scale[i] for i in range(size)]


def _clear(rows: list[list[float]], column: int) -> None:
    """Make the column 0 in all rows but its own, where it becomes 1."""
    head = rows[column][column]
    rows[column] = [cell / head for cell in rows[column]]
    for at, row in enumerate(rows):
        if at != column and row[column]:
            rows[at] = [cell - row[column] * base for cell, base in zip(row, rows[column], strict=True)]
