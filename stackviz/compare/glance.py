"""The sentences at the top of a comparison: what its figures, results and stacks say at a glance."""

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext as _

from stackviz.catalog.queries import Missing, SpecRow
from stackviz.compare.heads import Head
from stackviz.compare.measured import Measured
from stackviz.compare.subjects import Loaded
from stackviz.compare.verdicts import QUESTIONS, Figure, Question, Verdict, gaps, judge
from stackviz.diagrams.layers import Layer
from stackviz.diagrams.stack import Drawing
from stackviz.units import format_quantity
from stackviz.web.words import missing_text


def sheet_verdicts(chosen: Sequence[Loaded], heads: Sequence[Head], rows: Sequence[SpecRow]) -> list[Verdict]:
    """A sentence per question about the sheets, each sheet once; none for fewer than two sheets."""
    first_of: dict[int, int] = {}
    for column, head in enumerate(heads):
        sheet = chosen[head.place].accelerator
        if sheet is not None:
            first_of.setdefault(sheet.pk, column)
    columns = list(first_of.values())
    if len(columns) < 2:
        return []
    reported = {head.place: _reported_memory(chosen[head.place]) for head in heads}
    return [judge(question, _figures(question, heads, columns, rows, reported)) for question in QUESTIONS]


def _figures(
    question: Question,
    heads: Sequence[Head],
    columns: Sequence[int],
    rows: Sequence[SpecRow],
    reported: Mapping[int, float | None],
) -> list[Figure]:
    """The answers of these columns, from the row (field and condition) in which most of them have a figure.

    A machine's memory is what it reported: its sheet may be of a chip that is sold with several.
    """
    candidates = [row for field in question.fields for row in rows if row.field == field]
    if not candidates:
        return [Figure(heads[column].title, None) for column in columns]

    def known(row: SpecRow) -> int:
        return sum(cell is not None and cell.amount is not None for cell in (row.cells[column] for column in columns))

    fullest = max(candidates, key=known)
    figures = [_figure(heads[column], column, fullest) for column in columns]
    if question.key != "memory":
        return figures
    return [
        _memory_figure(figure, reported[heads[column].place]) for column, figure in zip(columns, figures, strict=True)
    ]


def _reported_memory(loaded: Loaded) -> float | None:
    """Memory in bytes of a card of the machine's main sheet, as the machine reported it; None for a sheet."""
    cards = loaded.snapshot.cards.all() if loaded.snapshot else ()
    return next((card.memory_bytes for card in cards if card.public_sheet == loaded.accelerator), None)


def _memory_figure(figure: Figure, reported: float | None) -> Figure:
    if reported is None:
        return figure
    shown = format_quantity(reported, "B", binary=True, digits=3).label
    return Figure(figure.subject, reported, _("%(memory)s (reported)") % {"memory": shown})


def _figure(head: Head, column: int, row: SpecRow) -> Figure:
    cell = row.cells[column]
    if cell is None or cell.amount is None:
        return Figure(head.title, None, why=_why(row.missing[column]))
    condition = f" ({row.condition})" if row.condition else ""
    text = f"{cell.text} {row.unit}".rstrip() + condition
    # Where a product is sold in variants the largest is what is compared.
    return Figure(
        head.title,
        cell.amount,
        _("%(figures)s, the largest is compared") % {"figures": text} if " / " in cell.text else text,
    )


def _why(missing: Missing | None) -> str:
    """Why there is no figure, where it is not simply that none is published."""
    if missing is None or missing.reason == "not_published":
        return ""
    if missing.reason == "other_condition":
        return _("only %(condition)s") % {"condition": missing.condition or _("no condition named")}
    return missing_text(missing.reason)


# Where a missing counterpart stops a program; below and above, the difference is one of kind.
_TELLING_LAYERS = (Layer.COMPILER, Layer.LIBRARY, Layer.PLATFORM)


def gap_verdicts(drawing: Drawing) -> list[Verdict]:
    """What only some of the stacks have; nothing to say about fewer than two columns."""
    if len(drawing.columns) < 2:
        return []
    missing: dict[str, list[str]] = {column.title: [] for column in drawing.columns if column.boxes}
    rows = [row for layer in drawing.layers if layer.layer in _TELLING_LAYERS for row in layer.rows]
    for row in rows:
        names = dict.fromkeys(placed.box.name for cell in row.cells for placed in cell.placed)
        for cell in row.cells:
            if cell.is_gap and cell.column.title in missing:
                missing[cell.column.title] += names
    return [gaps(_("No counterpart: will not run, or another part does it"), missing)]


def measured_verdicts(heads: Sequence[Head], measured: Measured) -> list[Verdict]:
    """The first row of the results in a sentence: machine against machine, or against its own published peak."""
    if not measured.rows:
        return []
    row = measured.rows[0]
    figures = [(heads[cell.place].title, cell) for cell in row.cells if cell.label]
    title = f"{_('Measured')}: {row.title} {row.setting}"
    if not figures:
        return [Verdict(title, _("cannot tell"), _("the runs failed or were skipped"), is_known=False)]
    name, cell = next(((name, cell) for name, cell in figures if cell.is_best), figures[0])
    rest = [f"{other} {its.label}" for other, its in figures if other != name]
    if cell.peak:
        rest.append(_("%(share)s of its published peak") % {"share": cell.peak})
    return [Verdict(title, f"{name}: {cell.label}", "; ".join(rest))]
