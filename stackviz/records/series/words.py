"""Statistics of samples as text, for every page that shows a result in full."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from stackviz.base.stats import MIN_ROUNDS, Summary
from stackviz.base.units import UNITS, format_number, quantity_label
from stackviz.report.measuring import Benchmark


def remarks_of_all(remarks: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What is said of every one of several results, in the order of the first."""
    return tuple(text for text in remarks[0] if all(text in others for others in remarks)) if remarks else ()


def sample_statistics(summary: Summary | None, unit: str, round_medians: Sequence[float] = ()) -> list[tuple[str, str]]:
    """(name, figure in the unit of the samples); too few samples are reported, not filled in. [] for a run without."""
    if summary is None:
        return []
    too_few = _("too few samples")
    rounds = _("not known: the interval takes samples for independent") if summary.rounds is None else ""
    return [
        (_("Median"), sample_text(summary.median, unit)),
        (_("95 % interval of the median"), _span([summary.low, summary.high], unit) or _too_few(summary)),
        (_("Interquartile range"), _span([summary.q1, summary.q3], unit) or too_few),
        (_("Samples"), str(summary.count)),
        (_("Rounds"), rounds or _rounds(summary, unit, round_medians)),
    ]


def _too_few(summary: Summary) -> str:
    if summary.rounds is None or summary.rounds >= MIN_ROUNDS:
        return _("too few samples")
    return _("too few rounds")


def _rounds(summary: Summary, unit: str, medians: Sequence[float]) -> str:
    """`3: 1.42 ms, 1.43 ms, 1.42 ms`"""
    texts = ", ".join(sample_text(each, unit) for each in medians)
    return f"{summary.rounds}: {texts}" if texts else str(summary.rounds)


def _span(ends: Sequence[float | None], unit: str) -> str:
    return " – ".join(sample_text(end, unit) for end in ends if end is not None)


def sample_text(value: float, unit: str, digits: int = 4) -> str:
    """`1.42 ms`; in a unit this site does not know, as it is: anyone may send one."""
    known = UNITS.get(unit)
    if known is None:
        return f"{format_number(value, digits)} {unit}".rstrip()
    return quantity_label(value * known.factor, known.si, digits=digits)


def size_text(factor: float, known: Benchmark | None) -> str:
    """`5 % slower`, `12 % faster`, of a rate; `5 % lower` of what is no speed."""
    share = format_number(abs(factor - 1) * 100, 2)
    if known is not None and not known.is_speed:
        return _("%(share)s %% lower") % {"share": share} if factor < 1 else _("%(share)s %% higher") % {"share": share}
    return _("%(share)s %% slower") % {"share": share} if factor < 1 else _("%(share)s %% faster") % {"share": share}
