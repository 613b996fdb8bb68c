"""Rates per watt: a rate of this catalogue, or a cited one, over the power that is published or was observed."""

from collections.abc import Callable, Iterable

from django.utils.translation import gettext as _

from stackviz.base.units import format_number
from stackviz.pages.explore.measures import Axis, AxisFigure, Measure

ReadAxis = Callable[[str, str | None], Axis]
ENDING, POWER = "-per-watt", "power"
# Rates that are divided; cited ones only where they are known.
RATES = ("compute-rate", "fp32_tflops", "memory_bandwidth_gb_s", "llama-bench-tg128", "llama-bench-pp512")
DIGITS = 4


def per_watt_names(known: Iterable[str]) -> tuple[str, ...]:
    """The measures there are, of rates that are `known`."""
    measures = frozenset(known)
    return tuple(f"{rate}{ENDING}" for rate in RATES if rate in measures)


def per_watt_axis(name: str, read: ReadAxis) -> Axis:
    """The axis of a measure of `per_watt_names`; `read` gives those of the rate and the power."""
    rate, power = read(name.removesuffix(ENDING), None), read(POWER, None)
    figures = {
        pk: _figure(figure, power.figures[pk], rate.measure, power.measure)
        for pk, figure in rate.figures.items()
        if pk in power.figures
    }
    without = _("no power is published or was observed")
    return Axis(
        measure=_measure(name, rate, power),
        condition="",
        choices=(),
        figures=figures,
        elsewhere={pk: without for pk in rate.figures if pk not in power.figures},
        ranking_url=rate.ranking_url,
    )


def _measure(name: str, rate: Axis, power: Axis) -> Measure:
    words = {"rate": rate.title, "power": power.title}
    return Measure(
        name=name,
        title=_("%(rate)s, per watt") % words,
        meaning=_("What one watt buys. Published power is a limit, not what was drawn during the run."),
        unit=f"{rate.measure.unit}/W",
        si=f"{rate.measure.si} / {power.measure.si}",
        factor=rate.measure.factor / power.measure.factor,
        better=True,
        kind="derived",
        formula=_("%(above)s ÷ %(below)s") % {"above": rate.title, "below": power.title},
        is_hollow=rate.measure.is_hollow,
    )


def _figure(rate: AxisFigure, power: AxisFigure, rates: Measure, powers: Measure) -> AxisFigure:
    amount = rate.amount / power.amount
    worked = f"{rate.text} {rates.unit} ÷ {power.text} {powers.unit}"
    return AxisFigure(
        amount=amount,
        text=format_number(amount / rates.factor * powers.factor, DIGITS),
        exact=f"{format_number(amount, 12)} {rates.si} / {powers.si}",
        basis_name="derived",
        remark=" · ".join(filter(None, (worked, rate.remark if rate.run else "", power.basis))),
        instead="; ".join(filter(None, (rate.instead, power.instead))),
        is_worked=True,
    )
