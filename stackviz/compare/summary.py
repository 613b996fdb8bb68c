"""The sentences at the top of a comparison: what its figures, results and stacks say. No database.

A verdict is drawn only from figures of one field under one condition. Where a subject has none, the verdict says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.benchmarks.comparability import Comparability, rate_of_ranked
from stackviz.benchmarks.measurement import Measurement
from stackviz.catalog.fields import COMPUTE_RATE, POWER, PRICE
from stackviz.catalog.spec_table import SpecRow
from stackviz.compare.answers import Question, SubjectFigure, figures_of
from stackviz.compare.leading import RateFactor, rate_factor
from stackviz.compare.measured import Measured
from stackviz.compare.subjects import Head, Loaded
from stackviz.diagrams.layers import Layer
from stackviz.diagrams.stack import StackDrawing
from stackviz.units import format_factor

NEARLY_EQUAL = 1.02  # figures within 2 % are called equal: data sheets round more coarsely


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """`lead`: the part to read first; `rest`: what qualifies it; `is_known` False: the figures cannot tell."""

    title: str
    lead: str
    rest: str = ""
    is_known: bool = True


QUESTIONS = (
    Question(
        "memory",
        gettext_lazy("Memory"),
        gettext_lazy("memory"),
        ("memory_gb", "memory_gb_max"),
        higher_is_better=True,
    ),
    Question(
        "bandwidth",
        gettext_lazy("Memory bandwidth"),
        gettext_lazy("memory bandwidth"),
        ("memory_bandwidth_gb_s",),
        higher_is_better=True,
    ),
    Question(
        "bf16",
        COMPUTE_RATE.title,
        gettext_lazy("bf16 matrix rate"),
        ("bf16_tensor_tflops",),
        higher_is_better=True,
        meaning=COMPUTE_RATE,
    ),
    Question("fp32", gettext_lazy("fp32"), gettext_lazy("fp32 rate"), ("fp32_tflops",), higher_is_better=True),
    Question("power", POWER.title, gettext_lazy("power"), ("tdp_w", "power_w"), higher_is_better=False, meaning=POWER),
    Question(
        "price",
        gettext_lazy("Launch price"),
        gettext_lazy("launch price"),
        ("launch_price_usd", "machine_price_usd"),
        higher_is_better=False,
        meaning=PRICE,
    ),
)


def gaps(title: str, missing: Mapping[str, Sequence[str]]) -> SummaryLine:
    """Verdict on missing counterparts: `missing` maps a subject to the components only others have."""
    lines = [
        _("%(subject)s has no counterpart for %(names)s") % {"subject": subject, "names": ", ".join(names)}
        for subject, names in missing.items()
        if names
    ]
    if not lines:
        return SummaryLine(title, _("every component has a counterpart"))
    return SummaryLine(title, lines[0], "; ".join(lines[1:]))


def judge(question: Question, figures: Sequence[SubjectFigure]) -> SummaryLine:
    """The sentence for one question. Two known figures give a factor, one is only stated, none is "cannot tell"."""
    title = str(question.title)
    known = [figure for figure in figures if figure.amount is not None and figure.amount > 0]
    unknown = [figure for figure in figures if figure.amount is None]
    if not known:
        reasons = (
            _missing(unknown)
            if any(figure.why or figure.beside for figure in unknown)
            else _("no value is published for any of these")
        )
        return SummaryLine(title, _("cannot tell"), reasons, is_known=False)
    if len(known) == 1:
        return SummaryLine(title, f"{known[0].subject}: {known[0].text}", _missing(unknown))
    return SummaryLine(title, *_ranking(known, unknown, higher_is_better=question.higher_is_better))


def _ranking(
    known: Sequence[SubjectFigure], unknown: Sequence[SubjectFigure], *, higher_is_better: bool
) -> tuple[str, str]:
    ranked = sorted(known, key=lambda figure: figure.amount or 0.0, reverse=higher_is_better)
    best, last = ranked[0], ranked[-1]
    figures = ", ".join(f"{figure.subject} {figure.text}" for figure in ranked)
    factor = _factor(best, last)
    if factor < NEARLY_EQUAL:
        lead = _("about equal")
    elif higher_is_better:
        lead = _("%(best)s is %(factor)s %(last)s") % _names(best, factor, last)
    else:
        lead = _("%(last)s is %(factor)s %(best)s") % _names(best, factor, last)
    return lead, "; ".join(filter(None, (figures, _missing(unknown))))


def _names(best: SubjectFigure, factor: float, last: SubjectFigure) -> dict[str, str]:
    return {"best": best.subject, "factor": format_factor(factor), "last": last.subject}


def _factor(first: SubjectFigure, second: SubjectFigure) -> float:
    low, high = sorted((first.amount or 0.0, second.amount or 0.0))
    return high / low


def _missing(unknown: Sequence[SubjectFigure]) -> str:
    """`M4 Max 60 W (observed); not published: M3 Max`; "" where every subject has its figure."""
    by_reason: dict[str, list[str]] = {}
    for figure in unknown:
        if figure.why or not figure.beside:
            by_reason.setdefault(figure.why or _("not published"), []).append(figure.subject)
    beside = [f"{figure.subject} {figure.beside}" for figure in unknown if figure.beside]
    reasons = [
        _("%(why)s: %(subjects)s") % {"why": why, "subjects": ", ".join(subjects)}
        for why, subjects in by_reason.items()
    ]
    return "; ".join((*beside, *reasons))


# --- what the parts of a comparison answer ---


def sheet_figures(
    chosen: Sequence[Loaded], heads: Sequence[Head], rows: Sequence[SpecRow]
) -> list[tuple[Question, list[SubjectFigure]]]:
    """What the sheets answer to each question, each sheet once; nothing for fewer than two sheets."""
    first_of: dict[int, int] = {}
    for column, head in enumerate(heads):
        sheet = chosen[head.slot].accelerator
        if sheet is not None:
            first_of.setdefault(sheet.pk, column)
    columns = list(first_of.values())
    if len(columns) < 2:
        return []
    return [(question, figures_of(question, chosen, heads, columns, rows)) for question in QUESTIONS]


# Where a missing counterpart stops a program; below and above, the difference is one of kind.
_TELLING_LAYERS = (Layer.COMPILER, Layer.LIBRARY, Layer.PLATFORM)


def gap_verdicts(drawing: StackDrawing) -> list[SummaryLine]:
    """A sentence on components that only some stacks have; none for fewer than two columns."""
    if len(drawing.columns) < 2:
        return []
    missing: dict[str, list[str]] = {column.title: [] for column in drawing.columns if column.boxes}
    rows = [row for layer in drawing.layers if layer.layer in _TELLING_LAYERS for row in layer.rows]
    for row in rows:
        names = dict.fromkeys(placed.box.name for cell in row.cells for placed in cell.placed)
        for cell in row.cells:
            if cell.is_gap and cell.column.title in missing:
                missing[cell.column.title] += names
    return [gaps(_("Missing on one side (unavailable, or done by another component)"), missing)]


def measured_verdicts(heads: Sequence[Head], measured: Measured) -> list[SummaryLine]:
    """The results in a sentence: how far machines are apart, or how much of its published peak a single one reaches."""
    if not measured.rows:
        return []
    if measured.leading is None:
        return [SummaryLine(_("Measured"), _("cannot tell"), _("no result counts"), is_known=False)]
    names = {head.slot: head.title for head in heads}
    results = measured.leading.results
    slot, fastest = results[0]
    title = f"{_('Measured')}: {fastest.title} {fastest.setting}"
    rates = "; ".join(f"{names[slot]} {_in_full(result)}" for slot, result in results)
    if len(results) == 1:
        return [SummaryLine(title, f"{names[slot]}: {rate_of_ranked(fastest).label}", _details(fastest))]
    outcome = measured.leading.outcome
    rest = "; ".join([rates, *(outcome.reasons if outcome else ())])
    if outcome and outcome.answer is Comparability.NOT_COMPARABLE:
        return [SummaryLine(title, _("not comparable"), rest, is_known=False)]
    if outcome and outcome.answer is Comparability.CANNOT_TELL:
        return [SummaryLine(title, _("cannot tell"), rest, is_known=False)]
    last_slot, slowest = results[-1]
    return [SummaryLine(title, _distance(names[slot], rate_factor(fastest, slowest), names[last_slot]), rest)]


def _distance(best: str, between: RateFactor, last: str) -> str:
    if between.factor < NEARLY_EQUAL:
        return _("about equal")
    if not between.is_certain:
        return _("cannot tell")
    lead = _("%(best)s is %(factor)s %(last)s") % {
        "best": best, "factor": format_factor(between.factor), "last": last,
    }  # fmt: skip
    if between.interval is None:
        return lead
    low, high = between.interval
    return _("%(lead)s (%(low)s to %(high)s)") % {"lead": lead, "low": low, "high": high}


def _in_full(result: Measurement) -> str:
    return f"{rate_of_ranked(result).label} ({_details(result)})"


def _details(result: Measurement) -> str:
    """`cuda:0, ±0.4 %, 54 % of its published peak`"""
    share = _("%(share)s of its published peak") % {"share": result.peak.label} if result.peak else ""
    return ", ".join(filter(None, (result.device, rate_of_ranked(result).spread_label, share)))
