"""What machines reach of the bounds: coefficients and factors fitted to cited and measured rates. Pure: no Django.

    seconds = factor(accelerator) x sum of coefficient x term

Coefficients are non-negative and of least relative deviation; every accelerator has the same weight, and of one
accelerator every source. Decoding has one set for all vendors; prompts have one for each vendor with rates of enough
accelerators, whose libraries multiply in their own way. The factor is what is left: the median over the sources of an
accelerator, drawn towards its family, that towards its vendor, that towards 1.

The range is measured, not assumed: each source is hidden in turn, its rates are predicted from the others, and the
middle 80 % of those errors is the range (split conformal prediction, Vovk et al. 2005, with sources as the folds).
"""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from stackviz.pages.fit.rates import TERMS, Bound, Pass, RatedAccelerator, Test, pass_terms

Level = Literal["accelerator", "family", "vendor", "all"]
FEWEST_OF_VENDOR = 15  # accelerators, below which prompts have the coefficients of all vendors
DRAWN_TO_FAMILY, DRAWN_TO_VENDOR, DRAWN_TO_ALL = 0.5, 1.0, 4.0  # sources or accelerators that the wider level counts as
LOW, HIGH = 0.1, 0.9  # quantiles of the range
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
        self._counts = Counter(rate.accelerator for rate in usable)
        self._measured = Counter(rate.accelerator for rate in usable if rate.is_measured)
        self._fitted: dict[str, tuple[float, ...]] = {}
        self._medians_without: dict[str, Mapping[str, float]] = {}

    @property
    def rates(self) -> list[ReachedRate]:
        return [rate for rate, _terms in self._rows]

    def coefficients(self, vendor: str) -> tuple[float, ...]:
        """Of this vendor's terms; of all vendors' for decoding, and where it has rates of too few accelerators."""
        rows = [row for row in self._rows if self.cards[row[0].accelerator].vendor == vendor]
        has_own = self.test == "prefill" and len({rate.accelerator for rate, _terms in rows}) >= FEWEST_OF_VENDOR
        key = vendor if has_own else ""
        if key not in self._fitted:
            self._fitted[key] = _fit(rows if has_own else self._rows, len(TERMS[self.test]))
        return self._fitted[key]

    def factor(self, card: RatedAccelerator, without: str = "") -> Factor:
        """The factor of a card and where it is from. `without`: a source whose rates are hidden."""
        middle, level, behind = self._middle(card, without)
        fast, slow = self._range
        return Factor(
            low=math.exp(middle + fast),
            mid=math.exp(middle),
            high=math.exp(middle + slow),
            level=level,
            count=sum(self._counts[slug] for slug in behind),
            measured=sum(self._measured[slug] for slug in behind),
        )

    def predict(self, work: Pass, card: RatedAccelerator, without: str = "") -> Prediction:
        """What a card is expected to reach. Raises NotPublished where a figure of its sheet is missing."""
        terms = tuple(
            Term(name=name, bound=bound, ideal=ideal, coefficient=coefficient)
            for (name, bound), ideal, coefficient in zip(
                TERMS[self.test].items(),
                pass_terms(self.test, work, card),
                self.coefficients(card.vendor),
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

    @cached_property
    def _deviations(self) -> list[tuple[ReachedRate, float]]:
        """Each rate with the logarithm of its seconds over those that the coefficients alone predict."""
        weights = {rate.accelerator: self.coefficients(self.cards[rate.accelerator].vendor) for rate in self.rates}
        return [
            (rate, math.log(rate.seconds / sum(map(math.prod, zip(weights[rate.accelerator], terms, strict=True)))))
            for rate, terms in self._rows
        ]

    @cached_property
    def _by_source(self) -> Mapping[str, Mapping[str, float]]:
        """Accelerator -> source -> the median deviation of its rates."""
        grouped: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for rate, deviation in self._deviations:
            grouped[rate.accelerator][rate.source_title].append(deviation)
        return {slug: {key: statistics.median(rows) for key, rows in by.items()} for slug, by in grouped.items()}

    def _middle(self, card: RatedAccelerator, without: str) -> tuple[float, Level, Sequence[str]]:
        """What a card deviates by, how near the evidence is, and the accelerators behind it."""
        medians = self._medians(without)
        of_vendor = {slug: of for slug, of in medians.items() if self.cards[slug].vendor == card.vendor}
        others = {slug: of for slug, of in of_vendor.items() if slug != card.slug}
        family = {slug: of for slug, of in others.items() if card.family and self.cards[slug].family == card.family}
        alone = self._of_other_sources(card.slug, without)
        middle = 0.0
        for values, drawn_by in (
            (others.values(), DRAWN_TO_ALL),
            (family.values(), DRAWN_TO_VENDOR),
            (alone, DRAWN_TO_FAMILY),
        ):
            middle = _drawn(list(values), middle, drawn_by)
        if alone:
            return middle, "accelerator", [card.slug]
        level: Level = "family" if family else "vendor" if of_vendor else "all"
        return middle, level, list(family or of_vendor or medians)

    def _of_other_sources(self, slug: str, without: str) -> list[float]:
        """What an accelerator deviates by, once for each of its sources but the hidden one."""
        return [of for source, of in self._by_source.get(slug, {}).items() if not without or source != without]

    def _medians(self, without: str) -> Mapping[str, float]:
        """Accelerator -> the median over its sources but the hidden one."""
        if without not in self._medians_without:
            left = {slug: self._of_other_sources(slug, without) for slug in self._by_source}
            self._medians_without[without] = {slug: statistics.median(rows) for slug, rows in left.items() if rows}
        return self._medians_without[without]

    @cached_property
    def errors(self) -> Sequence[float]:
        """By how much (logarithm of seconds) each rate missed what the other sources say, sorted."""
        middles: dict[tuple[str, str], float] = {}
        for accelerator, source in {(rate.accelerator, rate.source_title) for rate in self.rates}:
            middles[accelerator, source] = self._middle(self.cards[accelerator], source)[0]
        missed = (of - middles[rate.accelerator, rate.source_title] for rate, of in self._deviations)
        return sorted(missed)

    @cached_property
    def _range(self) -> tuple[float, float]:
        """How far below and above 0 most errors lie: (fast, slow). Twice and half where there are none."""
        if not self.errors:
            return -math.log(2), math.log(2)
        return min(_quantile(self.errors, LOW), -LEAST_SPREAD), max(_quantile(self.errors, HIGH), LEAST_SPREAD)


_Row = tuple[ReachedRate, tuple[float, ...]]


def leave_one_out(calibration: Calibration) -> list[tuple[ReachedRate, Prediction]]:
    """Every rate with what is predicted when its source is hidden."""
    return [
        (rate, calibration.predict(rate.work, calibration.cards[rate.accelerator], without=rate.source_title))
        for rate in calibration.rates
    ]


def _is_rated(card: RatedAccelerator | None, test: Test) -> bool:
    return card is not None and bool(card.bandwidth) and (test == "decode" or bool(card.matrix_flops))


def _drawn(values: Sequence[float], towards: float, drawn_by: float) -> float:
    """The median, drawn towards a wider one by as many values as that counts."""
    if not values:
        return towards
    share = len(values) / (len(values) + drawn_by)
    return share * statistics.median(values) + (1 - share) * towards


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Of sorted values, linear between neighbours."""
    at = share * (len(ordered) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (at - below)


def _fit(rows: Sequence[_Row], count: int) -> tuple[float, ...]:
    """Coefficients >= 0 of least absolute relative deviation; every accelerator weighs the same, and its sources."""
    of_source = Counter((rate.accelerator, rate.source_title) for rate, _terms in rows)
    sources = Counter(accelerator for accelerator, _source in of_source)
    scaled = [[term / rate.seconds for term in terms] for rate, terms in rows]
    weights = [
        1.0 / of_source[rate.accelerator, rate.source_title] / sources[rate.accelerator] for rate, _terms in rows
    ]
    return least_deviation(scaled, weights, count)


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
