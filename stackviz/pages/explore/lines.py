"""Lines in the scatter: equal quotients of its axes, or the most that published figures allow a cited rate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.base.units import format_number, format_quantity
from stackviz.draw.charts.scatter import Dot, Iso, Ways, iso_ratios
from stackviz.pages.explore.composed import YEAR
from stackviz.pages.explore.measures import Axis, AxisBound, Measure
from stackviz.records.catalog.fields import FIELDS
from stackviz.records.cited.words import share_text

# The unit of a quotient: (base unit above, base unit below) -> text after the number.
RATIOS: Mapping[tuple[str, str], str] = {
    ("FLOP/s", "B/s"): "FLOP/B",
    ("op/s", "B/s"): "op/B",
    ("FLOP/s", "W"): "/W",
    ("op/s", "W"): "/W",
    ("B/s", "W"): "/W",
    ("FLOP/s", "USD"): "/USD",
    ("op/s", "USD"): "/USD",
    ("B/s", "USD"): "/USD",
    ("B", "USD"): "/USD",
}


@dataclass(frozen=True, slots=True)
class PlotBound:
    """The bound of the rates on one axis by the published figures on the other. `limit`: axis of those figures."""

    rate: Axis
    limit: Axis
    bound: AxisBound
    iso: Iso

    @property
    def words(self) -> str:
        """`Bound: Memory bandwidth ÷ 3.56 GiB of weights that each token reads`"""
        what = self.limit.title
        if self.bound.divisor_words:
            what = _("%(above)s ÷ %(below)s") % {"above": what, "below": self.bound.divisor_words}
        return _("Dashed line, the bound: %(formula)s.") % {"formula": what}

    def most(self, pk: int) -> float:
        """The most that this accelerator could reach, in the base unit of the rate."""
        return self.limit.figures[pk].amount / self.bound.divisor

    def share(self, pk: int) -> float:
        return self.rate.figures[pk].amount / self.most(pk)


def plot_bound(x: Axis, y: Axis) -> PlotBound | None:
    """The bound where one axis has published figures, under their usual condition, that bound the rates of the other.

    None where it bounds nothing, or where less is better: a time has no such bound.
    """
    for rate, limit, is_inverse in ((y, x, False), (x, y, True)):
        bound = rate.bound
        if bound is None or limit.measure.name not in bound.fields or not rate.measure.better:
            continue
        if limit.condition in FIELDS[limit.measure.name].usual:
            slope = limit.measure.factor / bound.divisor / rate.measure.factor
            return PlotBound(rate, limit, bound, Iso(slope, _("bound"), is_inverse, is_bound=True))
    return None


def ways_of(x: Axis, y: Axis) -> Ways | None:
    """Which way is better on both axes; None where that is not known of one."""
    more_x, more_y = (_more_is_better(axis.measure) for axis in (x, y))
    return None if more_x is None or more_y is None else Ways(more_x, more_y)


def _more_is_better(measure: Measure) -> bool | None:
    """Alone, less power is no merit; beside what it buys, it is."""
    return False if measure.si == "W" else measure.better


def quotient_lines(x: Measure, y: Measure, dots: Sequence[Dot]) -> tuple[list[Iso], str]:
    """Lines of equal quotient and a description of the quotient; ([], "") where the units make no useful one."""
    is_inverse = (y.si, x.si) not in RATIOS
    above, below = (x, y) if is_inverse else (y, x)
    if (above.si, below.si) not in RATIOS:
        return [], ""
    scale = above.factor / below.factor  # from the axes' units to SI
    pairs = [(dot.x, dot.y) if is_inverse else (dot.y, dot.x) for dot in dots]
    ratios = iso_ratios(over / under * scale for over, under in pairs if over > 0 and under > 0)
    words = _quotient_words(below.si) % {"above": above.title, "below": below.title}
    return [Iso(ratio / scale, _ratio_text(ratio, above.si, below.si), is_inverse) for ratio in ratios], words


def _quotient_words(below: str) -> str:
    if below == "B/s":
        return _("Dotted lines: equal ridge point, %(above)s ÷ %(below)s")
    if below == "USD":
        return _("Dotted lines: equal price-performance, %(above)s ÷ %(below)s")
    return _("Dotted lines: equal efficiency, %(above)s ÷ %(below)s")


def _ratio_text(ratio: float, above: str, below: str) -> str:
    """`100 FLOP/B`, `1 TFLOP/s/W`, `50 MB/USD`"""
    words = RATIOS[above, below]
    if not words.startswith("/"):
        return f"{ratio:g} {words}"
    return format_quantity(ratio, above).label + words


def front_text(x: Measure, y: Measure, count: int, points: int) -> str:
    ways = "; ".join(_way_text(measure) for measure in (x, y))
    words = {"n": count, "all": points, "ways": ways}
    return (
        _("Pareto front, %(n)d of %(all)d: no other is better in one without being worse in the other (%(ways)s)")
        % words
    )


def _way_text(measure: Measure) -> str:
    if measure.si == YEAR:
        return _("%(measure)s: earlier counts") % {"measure": measure.title}
    words = _("%(measure)s: higher is better") if measure.better else _("%(measure)s: lower is better")
    return words % {"measure": measure.title}


def bound_example(name: str, pk: int, bound: PlotBound) -> str:
    """`NVIDIA GeForce RTX 4090: 1,008 GB/s ÷ 3.56 GiB of weights that each token reads = 263.7 token/s; 71 %`"""
    limit, rate = bound.limit, bound.rate
    words = {
        "name": name,
        "limit": f"{limit.figures[pk].text} {limit.measure.unit}",
        "divisor": bound.bound.divisor_words,
        "most": f"{format_number(rate.measure.scaled(bound.most(pk)))} {rate.measure.unit}",
        "reached": f"{rate.figures[pk].text} {rate.measure.unit}",
        "share": share_text(bound.share(pk)),
    }
    if not bound.bound.divisor_words:
        return _("%(name)s: at most %(most)s; cited %(reached)s, %(share)s of it.") % words
    return _("%(name)s: %(limit)s ÷ %(divisor)s = %(most)s; cited %(reached)s, %(share)s of it.") % words
