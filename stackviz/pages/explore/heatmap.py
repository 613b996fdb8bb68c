"""The heat map: accelerators by cited benchmarks, each cell the best result as a share of the best in its column."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.base.units import format_number
from stackviz.draw.charts.heat import HeatSpot, heat_figure, heat_level, heat_steps
from stackviz.pages.explore.axes import PlotData
from stackviz.pages.explore.ladder import filter_accelerators, undated_texts
from stackviz.pages.explore.measures import Axis, AxisFigure, PlottedAccelerator
from stackviz.pages.explore.selection import ALL_SETTINGS, HeatmapChoice
from stackviz.records.cited.filled_cases import FilledCase, filled_cases
from stackviz.records.cited.ranking import Lead
from stackviz.records.cited.words import no_first_text

# Of these the fullest settings are two questions: reading a prompt and generating.
_TWO_QUESTIONS = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatColumn:
    """One setting of a benchmark. `best`: what all others are held against, and whose figure that is if it is first."""

    axis: Axis
    title: str
    setting: str
    best: str
    best_amount: float
    count: int

    @property
    def name(self) -> str:
        return f"{self.title}: {self.setting}" if self.setting else self.title

    def share(self, figure: AxisFigure) -> float:
        """Of the best in the column: 1 for itself, whichever direction is better."""
        if self.axis.measure.better:
            return figure.amount / self.best_amount
        return self.best_amount / figure.amount


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatCell:
    """`text`: the share in per cent; `value`: the figure with its unit; `level`: how dark."""

    figure: AxisFigure
    share: float
    text: str
    value: str
    level: int
    url: str


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One accelerator; a cell is None where there is no result. `count`: of those there are."""

    subject: PlottedAccelerator
    cells: tuple[HeatCell | None, ...]
    count: int


@dataclass(frozen=True, slots=True)
class HeatMap:
    """`rows`: the accelerators with most columns first."""

    columns: tuple[HeatColumn, ...]
    rows: tuple[HeatRow, ...]
    legend: tuple[tuple[int, str], ...]
    notes: tuple[str, ...]

    @property
    def count_text(self) -> str:
        count = len(self.rows)
        return ngettext("%(n)d accelerator", "%(n)d accelerators", count) % {"n": count}


def draw_heatmap(catalogue: PlotData, choice: HeatmapChoice) -> HeatMap:
    """Accelerators that match the filters and have a result in one of the columns.

    The best of a column is that of all accelerators, whatever is filtered, so that a cell says the same in any view.
    """
    columns = [_column(case, catalogue) for case in _settings(choice)]
    subjects = filter_accelerators(catalogue.subjects, choice)
    rows = [row for subject in subjects if (row := _row(subject, columns)).count]
    rows.sort(key=lambda row: (-row.count, -_mean_level(row), row.subject.name))
    return HeatMap(tuple(columns), tuple(rows), _legend(), tuple(undated_texts(catalogue, choice)))


def plotly_heatmap(heatmap: HeatMap, rows: Sequence[HeatRow]) -> dict[str, Any]:
    """Some rows of a heat map as a Plotly figure."""
    spots = [
        HeatSpot(
            row=number,
            column=at,
            share=cell.share,
            text=cell.text,
            note=f"{heatmap.columns[at].name}: {cell.value}",
            url=cell.url,
        )
        for number, row in enumerate(rows)
        for at, cell in enumerate(row.cells)
        if cell
    ]
    names = [row.subject.name for row in rows]
    return heat_figure(
        names,
        [column.name for column in heatmap.columns],
        spots,
        _("No accelerator that matches these filters has a cited result."),
    )


def _settings(choice: HeatmapChoice) -> list[FilledCase]:
    """The fullest setting of each benchmark, or each that many accelerators have, where the best is a merit."""
    cases = [case for case in filled_cases().values() if case.benchmark.has_first]
    if choice.settings == ALL_SETTINGS:
        return cases
    chosen: dict[str, list[FilledCase]] = {}
    for case in cases:
        of_benchmark = chosen.setdefault(case.benchmark.key, [])
        most = 2 if case.benchmark.facets[0] == _TWO_QUESTIONS else 1
        if len(of_benchmark) < most:
            of_benchmark.append(case)
    return [case for of_benchmark in chosen.values() for case in of_benchmark]


def _column(case: FilledCase, catalogue: PlotData) -> HeatColumn:
    axis = catalogue.axis(case.name)
    pk, figure = next(iter(axis.figures.items()))
    name = next((subject.name for subject in catalogue.subjects if subject.pk == pk), "")
    return HeatColumn(
        axis=axis,
        title=str(case.benchmark.title),
        setting=case.setting,
        best=_best_text(name, f"{figure.text} {axis.measure.unit}", axis.lead) if axis.lead else "",
        best_amount=figure.amount,
        count=len(axis.figures),
    )


def _best_text(name: str, value: str, lead: Lead) -> str:
    """The best of a column, named where the ranking of its benchmark names a first."""
    if lead.row is None:
        return f"{value}, {no_first_text(lead)}"
    is_first = not lead.better and not lead.row.family
    return f"{name}, {value}" if is_first else f"{name}, {value}, {_('first of those with a sheet')}"


def _row(subject: PlottedAccelerator, columns: Sequence[HeatColumn]) -> HeatRow:
    cells = tuple(_cell(subject, column) for column in columns)
    return HeatRow(subject, cells, sum(cell is not None for cell in cells))


def _cell(subject: PlottedAccelerator, column: HeatColumn) -> HeatCell | None:
    figure = column.axis.figures.get(subject.pk)
    if figure is None:
        return None
    share = column.share(figure)
    return HeatCell(
        figure=figure,
        share=share,
        text=format_number(share * 100, 2) if share < 1 else "100",
        value=f"{figure.text} {column.axis.measure.unit}",
        level=heat_level(share),
        url=column.axis.ranking_url,
    )


def _mean_level(row: HeatRow) -> float:
    return sum(cell.level for cell in row.cells if cell) / row.count


def _legend() -> tuple[tuple[int, str], ...]:
    steps = []
    for level, low, high in heat_steps():
        words = {"low": format_number(low * 100, 2), "high": format_number(high * 100, 2)}
        steps.append((level, _("%(low)s–%(high)s %%") % words if low else _("up to %(high)s %%") % words))
    return tuple(steps)
