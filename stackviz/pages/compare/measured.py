"""Results of several machines side by side: which pair up, in which matrix they stand, what is drawn. No queries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mode
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from stackviz.base.units import from_si
from stackviz.draw.charts.panels import (
    Panel,
    PanelLine,
    PanelPoint,
    PlacedPanels,
    figure_height,
    panels_figure,
    place_panels,
)
from stackviz.draw.colours import GREY, Hue
from stackviz.pages.compare.matrix import (
    MatrixGroup,
    MatrixHead,
    MatrixLine,
    Notes,
    ResultMatrix,
    draw_matrix,
    heads_of_results,
    rows_by_group,
)
from stackviz.pages.compare.measured_rows import LeadingSetting, Machines, MeasuredRow, Results, leading_setting
from stackviz.records.series.comparability import is_accelerated, is_rankable
from stackviz.records.series.measurement import Measurement
from stackviz.web.http.addresses import address_by_id

FEWEST_OF_SEVERAL, FEWEST_OF_ONE = 2, 3  # points of the longest line


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeChart:
    """The panels of one matrix. `x_names`: size -> what it is called; `height`: pixels that the Plotly figure takes."""

    id: str
    title: str
    panels: tuple[Panel, ...]
    x_names: Mapping[float, str]

    @property
    def height(self) -> int:
        return figure_height(len(self.panels))

    @property
    def placed(self) -> PlacedPanels:
        return place_panels(self.panels, self.x_names)

    @property
    def figure(self) -> dict[str, Any]:
        """The Plotly figure, as plain data."""
        return panels_figure(self.title, self.panels, self.x_names)


def size_chart(matrix: ResultMatrix, hues: Mapping[int, Hue]) -> SizeChart | None:
    """None where no line has two points, or one panel no line of three: the matrix says as much."""
    panels = [
        Panel(group.title, group.printed_unit, tuple(_lines(group, matrix.sizes, hues))) for group in matrix.groups
    ]
    panels = [panel for panel in panels if panel.lines]
    longest = max((len(line.points) for panel in panels for line in panel.lines), default=0)
    if longest < (FEWEST_OF_SEVERAL if len(panels) > 1 else FEWEST_OF_ONE):
        return None
    drawn = {point.x for panel in panels for line in panel.lines for point in line.points}
    names = {size: name for size, name in zip(matrix.sizes, matrix.columns, strict=True) if size in drawn}
    return SizeChart(id=f"chart-{matrix.id}", title=matrix.title, panels=tuple(panels), x_names=names)


def _lines(group: MatrixGroup, sizes: Sequence[float | None], hues: Mapping[int, Hue]) -> Iterator[PanelLine]:
    for line in group.lines:
        points = tuple(_points(line, group.unit, sizes)) if line.cells else ()
        if points:
            yield PanelLine(line.name, hues.get(line.slot, GREY), points)


def _points(line: MatrixLine, unit: str, sizes: Sequence[float | None]) -> Iterator[PanelPoint]:
    for item, size in zip(line.cells, sizes, strict=True):
        result = item.cell.result if item else None
        if size is None or result is None or not is_rankable(result) or result.rate is None:
            continue
        rate = result.rate
        low, high = (None if end is None else from_si(end, unit) for end in (rate.low, rate.high))
        yield PanelPoint(size, from_si(rate.value, unit), low, high)


Setting = tuple[bool, str, int, str]  # whether on an accelerator, and the pair of a result


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredKind:
    """What one kind of device measured: a matrix per benchmark, each with a chart or None.

    `verdict`: whether results may be compared, as most rows say; `notes`: what single cells say, by number;
    `without`: names of the machines that measured nothing there.
    """

    id: str
    title: str
    heads: tuple[MatrixHead, ...]
    verdict: str
    matrices: tuple[tuple[ResultMatrix, SizeChart | None], ...]
    notes: tuple[str, ...]
    without: tuple[str, ...]

    @property
    def left_out(self) -> int:
        return sum(matrix.left_out for matrix, _chart in self.matrices)

    @property
    def has_links(self) -> bool:
        """Whether a rate leads to its own receipt."""
        return any(cell.receipt_url for matrix, _chart in self.matrices for row in matrix.rows for cell in row.cells)


@dataclass(frozen=True, slots=True)
class Measured:
    """The measured part of a comparison, accelerators and processors apart.

    `receipts`: slot of a machine -> the receipt of most of its column. `leading` None: no result counts.
    """

    kinds: tuple[MeasuredKind, ...]
    receipts: Mapping[int, str]
    leading: LeadingSetting | None

    @property
    def rows(self) -> tuple[MeasuredRow, ...]:
        """Every setting, also what has no place in a matrix."""
        return tuple(row for kind in self.kinds for matrix, _chart in kind.matrices for row in matrix.rows)

    @property
    def charts(self) -> tuple[SizeChart, ...]:
        return tuple(chart for kind in self.kinds for _matrix, chart in kind.matrices if chart is not None)

    @property
    def figures(self) -> dict[str, Any]:
        """The charts as Plotly reads them, each by its `id`."""
        return {chart.id: chart.figure for chart in self.charts}


NOTHING_MEASURED = Measured(kinds=(), receipts={}, leading=None)


def measure(
    results: Sequence[tuple[int, str, Sequence[Measurement]]],
    base: int | None = None,
    hues: Mapping[int, Hue] = MappingProxyType({}),
) -> Measured:
    """`results`: (slot of the subject, its name, its newest results) for each machine compared.

    `base`: the slot factors are against, None for the first; `hues`: slot -> the colour of its lines. Results pair up
    when benchmark, version, parameters and kind of device are equal: a processor never stands beside an accelerator. Of
    several devices of one machine that ran the same, the fastest stands in the cell.
    """
    by_setting: dict[Setting, dict[int, Measurement]] = {}
    for slot, _name, measurements in results:
        for measurement in measurements:
            by_slot = by_setting.setdefault((is_accelerated(measurement), *measurement.pair), {})
            if slot not in by_slot or _is_faster(measurement, by_slot[slot]):
                by_slot[slot] = measurement
    names = {slot: name for slot, name, _measurements in results}
    settings = list(by_setting.values())
    reports = _main_reports(settings)
    base = next(iter(names), None) if base is None else base
    machines = Machines(names=names, base=base, reports=reports, hues=hues)
    kinds = (("accelerators", _("Accelerators"), True), ("processors", _("Processors"), False))
    return Measured(
        kinds=tuple(
            _kind(f"on-{name}", title, benchmarks, machines)
            for name, title, accelerated in kinds
            if (benchmarks := _by_benchmark(by_setting, accelerated=accelerated))
        ),
        receipts={slot: address_by_id("ingest:receipt", report) for slot, report in reports.items()},
        leading=leading_setting(settings),
    )


def _by_benchmark(by_setting: Mapping[Setting, Results], *, accelerated: bool) -> list[list[Results]]:
    """The settings of each benchmark on this kind of device."""
    groups: dict[tuple[str, int], list[Results]] = {}
    for (on_accelerator, benchmark, version, _params), results in by_setting.items():
        if on_accelerator == accelerated:
            groups.setdefault((benchmark, version), []).append(results)
    return [groups[key] for key in sorted(groups)]


def _kind(id_: str, title: str, benchmarks: Sequence[Sequence[Results]], machines: Machines) -> MeasuredKind:
    of_slots: dict[int, list[Measurement]] = {}
    for settings in benchmarks:
        for results in settings:
            for slot, result in results.items():
                of_slots.setdefault(slot, []).append(result)
    heads = heads_of_results(of_slots, machines)
    grouped = [rows_by_group(settings, machines) for settings in benchmarks]
    notes = Notes(heads, (row for rows in grouped for of_group in rows.values() for _position, row in of_group))
    drawn = [draw_matrix(f"{id_}-{number}", rows, machines, notes) for number, rows in enumerate(grouped, 1)]
    return MeasuredKind(
        id=id_,
        title=title,
        heads=heads,
        verdict=notes.verdict,
        matrices=tuple((matrix, size_chart(matrix, machines.hues)) for matrix in drawn),
        notes=notes.texts,
        without=tuple(name for slot, name in machines.names.items() if slot not in of_slots),
    )


def _main_reports(settings: Sequence[Results]) -> dict[int, UUID]:
    """Slot -> the report that most of its results are from."""
    reports: dict[int, list[UUID]] = {}
    for results in settings:
        for slot, result in results.items():
            reports.setdefault(slot, []).append(result.report_id)
    return {slot: mode(ids) for slot, ids in reports.items()}


def _is_faster(candidate: Measurement, current: Measurement) -> bool:
    """Whether this result represents the machine; one that is set aside does only if there is no other."""
    return _standing_rate(candidate) > _standing_rate(current)


def _standing_rate(result: Measurement) -> tuple[bool, float]:
    return is_rankable(result), result.rate.speed if result.rate else 0.0
