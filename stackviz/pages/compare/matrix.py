"""Results of one benchmark on one kind of device as a matrix: a data type a group, a size a column. No queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cbrt, prod

from stackviz.base.light import light_dataclass
from stackviz.pages.compare.measured_notes import NotedCell, Notes
from stackviz.pages.compare.measured_rows import Machines, MeasuredRow, Results, RowScale, measured_row
from stackviz.records.series.chart import chart_unit
from stackviz.records.series.comparability import is_rankable
from stackviz.records.series.measurement import Measurement, setting_label
from stackviz.records.series.prominence import dtype_place
from stackviz.report.measuring.benchmark import positive

MOST_COLUMNS, MOST_GROUPS = 8, 12  # what a machine measures takes five and six; anyone may send other parameters
BELOW_PETA = 9.99e14  # rates beyond stay in tera, as people compare them
SIDES = ("m", "n", "k")


@light_dataclass(slots=True)
class CellPosition:
    """Where a setting stands: its group, its column, and the column's size, None where it is none."""

    group: str
    column: str
    size: float | None


RowsByGroup = dict[str, list[tuple[CellPosition, MeasuredRow]]]


@dataclass(frozen=True, slots=True)
class MatrixLine:
    """One machine's cells of a group, one for each column; None: not measured. Without cells: nothing was."""

    slot: int
    name: str
    cells: tuple[NotedCell | None, ...]

    @property
    def css(self) -> str:
        return f"s{self.slot + 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixGroup:
    """The lines of one data type, whose bars share one axis. `full`: what a full bar is, "" where there is no bar."""

    title: str
    unit: str
    full: str
    lines: tuple[MatrixLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultMatrix:
    """`sizes`: of the columns, None where a column is none.

    `rows`: every setting, also those that have no place in the drawing; of these `left_out` results.
    """

    id: str
    title: str
    formula: str
    columns: tuple[str, ...]
    sizes: tuple[float | None, ...]
    groups: tuple[MatrixGroup, ...]
    left_out: int
    rows: tuple[MeasuredRow, ...]


def _position_of(result: Measurement) -> CellPosition:
    """`bf16` and `8192³`; a copy has its bytes, a language model its test for a column."""
    params = result.params
    sides, size = [positive(params, name) for name in SIDES], positive(params, "bytes")
    if all(sides):
        used, column, size = set(SIDES), setting_label({name: params[name] for name in SIDES}), cbrt(prod(sides))
    elif size:
        used, column = {"bytes"}, setting_label({"bytes": params["bytes"]})
    else:
        used, column = {"test"}, str(params.get("test", ""))
    return CellPosition(
        setting_label({name: value for name, value in params.items() if name not in used}), column, size or None
    )


def rows_by_group(settings: Sequence[Results], machines: Machines) -> RowsByGroup:
    """The rows of one benchmark on one kind of device, in the order of reading; equal units are printed alike."""
    by_group: dict[str, list[tuple[CellPosition, Results]]] = {}
    largest: dict[str, float] = {}
    for results in settings:
        position = _position_of(next(iter(results.values())))
        by_group.setdefault(position.group, []).append((position, results))
        for rate in (result.rate for result in results.values() if result.rate):
            largest[rate.unit] = max(largest.get(rate.unit, 0.0), rate.value)
    units = {si: chart_unit(si, min(rate, BELOW_PETA)) for si, rate in largest.items()}
    return {name: _rows_of(by_group[name], units, machines) for name in sorted(by_group, key=_group_order)}


def draw_matrix(id_: str, rows: RowsByGroup, machines: Machines, notes: Notes) -> ResultMatrix:
    """`rows`: of at least one setting. What single cells say is numbered in `notes`."""
    every = [row for of_group in rows.values() for _position, row in of_group]
    shown = _shown_columns([item for of_group in rows.values() for item in of_group])
    groups = tuple(_group(name, rows[name], shown, machines, notes) for name in list(rows)[:MOST_GROUPS])
    drawn = sum(cell is not None for group in groups for line in group.lines for cell in line.cells)
    return ResultMatrix(
        id=id_,
        title=every[0].title,
        formula=every[0].formula,
        columns=tuple(position.column for position in shown),
        sizes=tuple(position.size for position in shown),
        groups=groups,
        left_out=sum(row.measured_count for row in every) - drawn,
        rows=tuple(every),
    )


def _group_order(name: str) -> tuple[int, str]:
    return dtype_place(name.partition(" ")[0]), name


def _rows_of(
    settings: Sequence[tuple[CellPosition, Results]], units: Mapping[str, str], machines: Machines
) -> list[tuple[CellPosition, MeasuredRow]]:
    """The rows of one group, smallest size first, on one scale: the highest rate or published peak is a full bar."""
    ordered = sorted(settings, key=lambda item: (item[0].size or 0.0, item[0].column))
    rated = [result for _position, results in settings for result in results.values() if result.rate]
    ranked = [result for result in rated if is_rankable(result)] or rated
    rates = [result.rate.value for result in ranked if result.rate]
    full = max([*rates, *(result.peak.peak for result in ranked if result.peak)], default=0.0)
    si = next((result.rate.unit for result in rated if result.rate), "")
    scale = RowScale(
        unit=units.get(si, ""),
        full=full,
        machines=machines,
    )
    return [(position, measured_row(results, scale)) for position, results in ordered]


def _shown_columns(rows: Sequence[tuple[CellPosition, MeasuredRow]]) -> list[CellPosition]:
    """A position for each column, smallest first; of too many those with most results, of equals the larger."""
    counted: dict[str, int] = {}
    places: dict[str, CellPosition] = {}
    for position, row in rows:
        counted[position.column] = counted.get(position.column, 0) + row.measured_count
        places[position.column] = position
    most = sorted(
        places.values(), key=lambda position: (-counted[position.column], -(position.size or 0.0), position.column)
    )
    return sorted(most[:MOST_COLUMNS], key=lambda position: (position.size or 0.0, position.column))


def _group(
    name: str,
    rows: Sequence[tuple[CellPosition, MeasuredRow]],
    shown: Sequence[CellPosition],
    machines: Machines,
    notes: Notes,
) -> MatrixGroup:
    by_column = {position.column: row for position, row in rows}
    lines = []
    for index, (slot, machine) in enumerate(machines.names.items()):
        if slot not in notes.slots:
            continue
        of_columns = [by_column.get(position.column) for position in shown]
        cells = tuple(notes.cell(row.cells[index], row) if row else None for row in of_columns)
        lines.append(MatrixLine(slot, machine, cells if any(cells) else ()))
    scale = rows[0][1]
    return MatrixGroup(title=name, unit=scale.unit, full=scale.full, lines=tuple(lines))
