"""Loaded subjects -> everything the comparison page shows. Two or three queries of its own, whatever is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from stackviz.benchmarks.queries import latest_results
from stackviz.catalog.queries import SpecCell, SpecRow, spec_table
from stackviz.compare.columns import columns_of
from stackviz.compare.measured import Measured, measure
from stackviz.compare.probed import ProbedRow, probed_rows
from stackviz.compare.selection import Subject, query_string
from stackviz.compare.subjects import Loaded, describe
from stackviz.compare.verdicts import QUESTIONS, Figure, Question, Verdict, gaps, judge
from stackviz.diagrams.layers import Layer
from stackviz.diagrams.stack import Drawing, draw_columns
from stackviz.labs.models import Finding
from stackviz.units import format_factor


@dataclass(frozen=True, slots=True)
class Head:
    """A subject as the head of its column. `remove_url`: this comparison without it."""

    place: int
    name: str
    title: str
    subtitle: str
    url: str
    remove_url: str

    @property
    def css(self) -> str:
        return f"s{self.place + 1}"


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A published figure beside the baseline's. `source`: number in the list of sources, 0 for none."""

    text: str = ""
    exact: str = ""
    basis: str = ""
    note: str = ""
    factor: str = ""
    is_best: bool = False
    source: int = 0


@dataclass(frozen=True, slots=True)
class SheetRow:
    row: SpecRow
    cells: tuple[SheetCell | None, ...]

    @property
    def differs(self) -> bool:
        return self.row.differs


@dataclass(frozen=True, slots=True)
class Source:
    number: int
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Sheets:
    """The published part: one column per subject that has a sheet. `per_card`: places whose sheet is of their cards."""

    heads: tuple[Head, ...]
    per_card: frozenset[int]
    rows: tuple[SheetRow, ...]
    sources: tuple[Source, ...]

    @property
    def differing_count(self) -> int:
        return sum(row.differs for row in self.rows)


@dataclass(frozen=True, slots=True)
class Faults:
    """What rules found on one machine: the findings worth a reader's time, worst first."""

    head: Head
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    heads: tuple[Head, ...]
    verdicts: tuple[Verdict, ...]
    drawing: Drawing
    sheets: Sheets
    machines: tuple[Head, ...]
    probed: tuple[ProbedRow, ...]
    measured: Measured
    faults: tuple[Faults, ...]


def assemble(chosen: Sequence[Loaded]) -> Comparison:
    """Everything about these subjects, side by side. The first is what factors are against."""
    heads = _heads(chosen)
    drawing = draw_columns(columns_of(chosen))
    spec_rows, sheet_heads = _spec_rows(chosen, heads)
    machines = [(head, loaded) for head, loaded in zip(heads, chosen, strict=True) if loaded.machine is not None]
    measured = _measured(machines)
    return Comparison(
        heads=heads,
        verdicts=(
            *_verdicts(chosen, sheet_heads, spec_rows),
            *_measured_verdicts(heads, measured),
            *_gaps(drawing),
        ),
        drawing=drawing,
        sheets=_sheets(chosen, sheet_heads, spec_rows),
        machines=tuple(head for head, _loaded in machines),
        probed=probed_rows([loaded.snapshot for _head, loaded in machines]),
        measured=measured,
        faults=tuple(filter(None, (_faults(head, loaded) for head, loaded in machines))),
    )


def _heads(chosen: Sequence[Loaded]) -> tuple[Head, ...]:
    subjects = [loaded.subject for loaded in chosen]
    return tuple(
        Head(
            place=place,
            name=loaded.subject.name,
            title=loaded.title,
            subtitle=describe(loaded),
            url=loaded.url,
            remove_url=query_string(_without(subjects, loaded.subject)),
        )
        for place, loaded in enumerate(chosen)
    )


def _without(subjects: Sequence[Subject], leaving: Subject) -> list[Subject]:
    return [subject for subject in subjects if subject != leaving]


# --- published -------------------------------------------------------------------------------------------------


def _spec_rows(chosen: Sequence[Loaded], heads: Sequence[Head]) -> tuple[tuple[SpecRow, ...], tuple[Head, ...]]:
    """(rows of the spec table, heads of its columns): subjects without a sheet have no column."""
    with_sheet = [
        (head, loaded.accelerator) for head, loaded in zip(heads, chosen, strict=True) if loaded.accelerator is not None
    ]
    rows = spec_table([accelerator for _head, accelerator in with_sheet]) if with_sheet else ()
    return rows, tuple(head for head, _accelerator in with_sheet)


def _sheets(chosen: Sequence[Loaded], heads: tuple[Head, ...], rows: Sequence[SpecRow]) -> Sheets:
    numbers: dict[tuple[str, str], int] = {}
    for cell in (cell for row in rows for cell in row.cells if cell is not None and cell.source_url):
        numbers.setdefault((cell.source_title, cell.source_url), len(numbers) + 1)
    per_card = frozenset(head.place for head in heads if chosen[head.place].machine is not None)
    sources = tuple(Source(number, title, url) for (title, url), number in numbers.items())
    return Sheets(heads, per_card, tuple(SheetRow(row, _sheet_cells(row, numbers)) for row in rows), sources)


def _sheet_cells(row: SpecRow, numbers: dict[tuple[str, str], int]) -> tuple[SheetCell | None, ...]:
    known = [cell.amount for cell in row.cells if cell is not None and cell.amount]
    best = None if row.better is None or len(known) < 2 or len(set(known)) == 1 else _best(known, higher=row.better)
    base = row.cells[0].amount if row.cells and row.cells[0] is not None else None
    return tuple(
        None if cell is None else _sheet_cell(cell, base if place else None, best, numbers)
        for place, cell in enumerate(row.cells)
    )


def _best(amounts: Sequence[float], *, higher: bool) -> float:
    return max(amounts) if higher else min(amounts)


def _sheet_cell(
    cell: SpecCell, base: float | None, best: float | None, numbers: dict[tuple[str, str], int]
) -> SheetCell:
    return SheetCell(
        text=cell.text,
        exact=cell.exact,
        basis=cell.basis,
        note=cell.note,
        factor=format_factor(cell.amount / base) if base and cell.amount and cell.amount != base else "",
        is_best=best is not None and cell.amount == best,
        source=numbers.get((cell.source_title, cell.source_url), 0),
    )


def _verdicts(chosen: Sequence[Loaded], heads: Sequence[Head], rows: Sequence[SpecRow]) -> list[Verdict]:
    """A sentence per question about the sheets, each sheet once; none for fewer than two sheets."""
    first_of: dict[int, int] = {}
    for column, head in enumerate(heads):
        sheet = chosen[head.place].accelerator
        if sheet is not None:
            first_of.setdefault(sheet.pk, column)
    columns = list(first_of.values())
    if len(columns) < 2:
        return []
    return [judge(question, _figures(question, heads, columns, rows)) for question in QUESTIONS]


def _figures(
    question: Question, heads: Sequence[Head], columns: Sequence[int], rows: Sequence[SpecRow]
) -> list[Figure]:
    """The answers of these columns, from the row (field and condition) in which most of them have a figure."""
    candidates = [row for field in question.fields for row in rows if row.field == field]
    if not candidates:
        return [Figure(heads[column].title, None) for column in columns]

    def known(row: SpecRow) -> int:
        return sum(cell is not None and cell.amount is not None for cell in (row.cells[column] for column in columns))

    fullest = max(candidates, key=known)
    return [_figure(heads[column], fullest.cells[column], fullest) for column in columns]


def _figure(head: Head, cell: SpecCell | None, row: SpecRow) -> Figure:
    if cell is None or cell.amount is None:
        return Figure(head.title, None)
    condition = f" ({row.condition})" if row.condition else ""
    return Figure(head.title, cell.amount, f"{cell.text} {row.unit}".rstrip() + condition)


# Where a missing counterpart stops a program; below and above, the difference is one of kind.
_TELLING_LAYERS = (Layer.COMPILER, Layer.LIBRARY, Layer.PLATFORM)


def _gaps(drawing: Drawing) -> list[Verdict]:
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
    return [gaps(_("Will not run, or runs elsewhere"), missing)]


# --- measured, found ----------------------------------------------------------------------------------------------


def _measured(machines: Sequence[tuple[Head, Loaded]]) -> Measured:
    rows = [loaded.machine for _head, loaded in machines if loaded.machine is not None]
    results = latest_results(rows) if rows else {}
    return measure(
        [
            (head.place, head.title, results.get(loaded.machine.pk, []))
            for head, loaded in machines
            if loaded.machine is not None
        ]
    )


def _measured_verdicts(heads: Sequence[Head], measured: Measured) -> list[Verdict]:
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


_SEVERITIES = (Finding.Severity.BROKEN, Finding.Severity.WARNING, Finding.Severity.NOTE)


def _faults(head: Head, loaded: Loaded) -> Faults | None:
    if loaded.snapshot is None:
        return None
    known = [finding for finding in loaded.snapshot.findings.all() if finding.severity in _SEVERITIES]
    known.sort(key=lambda finding: _SEVERITIES.index(Finding.Severity(finding.severity)))
    return Faults(head, tuple(known)) if known else None


def heading(heads: Sequence[Head]) -> str:
    """`H100 SXM against M3 Max 40-core and dgx-07`."""
    titles = [head.title for head in heads]
    if not titles:
        return _("Compare")
    if len(titles) == 1:
        return titles[0]
    *middle, last = titles[1:]
    if not middle:
        return _("%(first)s against %(last)s") % {"first": titles[0], "last": last}
    return _("%(first)s against %(middle)s and %(last)s") % {
        "first": titles[0],
        "middle": ", ".join(middle),
        "last": last,
    }
