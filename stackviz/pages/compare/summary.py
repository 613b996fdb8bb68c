"""What a comparison says before its tables: tiles of its sheets, results and stacks, and its verdict. No queries but
those of cited and public results.
"""

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext as _

from stackviz.base.units import format_factor
from stackviz.draw.diagrams.layers import Layer
from stackviz.draw.diagrams.stack import StackDrawing
from stackviz.pages.compare.answers import SubjectFigure, figures_of
from stackviz.pages.compare.leading import RateFactor, rate_factor
from stackviz.pages.compare.measured import Measured
from stackviz.pages.compare.questions import QUESTIONS, Question
from stackviz.pages.compare.subjects import Head, Loaded
from stackviz.pages.compare.tiles import Tile, is_level, tile_lines
from stackviz.records.catalog.spec_table import SpecRow
from stackviz.records.series.comparability import Comparability, rate_of_ranked
from stackviz.records.series.measurement import Measurement


def sheet_figures(
    chosen: Sequence[Loaded], heads: Sequence[Head], rows: Sequence[SpecRow]
) -> list[tuple[Question, list[SubjectFigure]]]:
    """What the columns of the spec table answer to each question; nothing for fewer than two."""
    if len(heads) < 2:
        return []
    return [(question, figures_of(question, chosen, heads, rows)) for question in QUESTIONS]


# Where a missing counterpart stops a program; below and above, the difference is one of kind.
_TELLING_LAYERS = (Layer.COMPILER, Layer.LIBRARY, Layer.PLATFORM)


def gap_tiles(drawing: StackDrawing) -> list[Tile]:
    """A tile on components that only some stacks have; none for fewer than two columns."""
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


def gaps(title: str, missing: Mapping[str, Sequence[str]]) -> Tile:
    """`missing`: of each subject the components that only others have."""
    lines = [
        _("%(subject)s has no counterpart for %(names)s") % {"subject": subject, "names": ", ".join(names)}
        for subject, names in missing.items()
        if names
    ]
    if not lines:
        return Tile(title=title, lead=_("every component has a counterpart"))
    return Tile(title=title, lead=lines[0], rest="; ".join(lines[1:]))


def measured_tiles(heads: Sequence[Head], measured: Measured) -> list[Tile]:
    """The leading result: how far machines are apart, or how much of its published peak a single one reaches."""
    if not measured.rows:
        return []
    if measured.leading is None:
        return [Tile(title=_("Measured"), lead=_("cannot tell"), rest=_("no result counts"), is_known=False)]
    names = {head.slot: head.title for head in heads}
    results = measured.leading.results
    slot, fastest = results[0]
    title = f"{_('Measured')}: {fastest.title} {fastest.setting}"
    lines = tile_lines([_result_figure(slot, names[slot], result) for slot, result in results])
    if len(results) == 1:
        return [Tile(title=title, lines=lines)]
    outcome = measured.leading.outcome
    rest = "; ".join(outcome.reasons) if outcome else ""
    if outcome and outcome.answer is Comparability.NOT_COMPARABLE:
        return [Tile(title=title, lead=_("not comparable"), rest=rest, is_known=False, lines=lines)]
    if outcome and outcome.answer is Comparability.CANNOT_TELL:
        return [Tile(title=title, lead=_("cannot tell"), rest=rest, is_known=False, lines=lines)]
    last_slot, slowest = results[-1]
    lead = speed_distance(names[slot], rate_factor(fastest, slowest), names[last_slot])
    return [Tile(title=title, lead=lead, rest=rest, lines=lines)]


def _result_figure(slot: int, name: str, result: Measurement) -> SubjectFigure:
    rate = rate_of_ranked(result)
    return SubjectFigure(subject=name, slot=slot, amount=rate.value, text=rate.label, condition=_details(result))


def speed_distance(best: str, between: RateFactor, last: str) -> str:
    """`dgx-07 is 49× as fast as mbp (47× to 51×)`"""
    if is_level(between.factor):
        return _("about equal")
    if not between.is_certain:
        return _("cannot tell")
    lead = _("%(best)s is %(factor)s as fast as %(last)s") % {
        "best": best, "factor": format_factor(between.factor), "last": last,
    }  # fmt: skip
    if between.interval is None:
        return lead
    low, high = between.interval
    return _("%(lead)s (%(low)s to %(high)s)") % {"lead": lead, "low": low, "high": high}


def _details(result: Measurement) -> str:
    """`cuda:0, ±0.4 %, 54 % of its published peak`"""
    share = _("%(share)s of its published peak") % {"share": result.peak.label} if result.peak else ""
    return ", ".join(filter(None, (result.device, rate_of_ranked(result).spread_label, share)))
