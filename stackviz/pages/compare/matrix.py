"""Results of one benchmark on one kind of device as a matrix: a data type a group, a size a column.

Remarks that all results of a machine share stand over its columns, those of single cells in numbered notes. No queries.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import cbrt, prod

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.base.light import light_dataclass
from stackviz.base.units import readable_unit, unit_label
from stackviz.pages.compare.measured_rows import Machines, MeasuredCell, MeasuredRow, Results, RowScale, measured_row
from stackviz.records.series.comparability import dtype_place, is_rankable
from stackviz.records.series.measurement import Measurement, setting_label
from stackviz.records.series.words import remarks_of_all
from stackviz.report.measuring.benchmark import positive

MOST_NOTES = 40
MOST_NAMED = 3  # devices and versions over a matrix


@light_dataclass(slots=True)
class NotedCell:
    """`notes`: numbers of the notes below the matrix. `state`: of a run without a rate."""

    cell: MeasuredCell
    notes: tuple[int, ...] = ()
    state: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixHead:
    """One machine over its matrix: devices, software, samples and what holds for every one of its figures."""

    slot: int
    name: str
    words: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def css(self) -> str:
        return f"s{self.slot + 1}"


def common_remarks(results: Mapping[int, Sequence[Measurement]]) -> dict[int, tuple[str, ...]]:
    """Slot -> the remarks that all of its results with a rate have."""
    return {slot: remarks_of_all([result.remarks for result in of_slot]) for slot, of_slot in results.items()}


def heads_of_results(results: Mapping[int, Sequence[Measurement]], machines: Machines) -> tuple[MatrixHead, ...]:
    """`results`: slot -> all results of one kind of device. A head for each machine that has any."""
    common = common_remarks(results)
    return tuple(
        MatrixHead(slot=slot, name=name, words=tuple(_words(results[slot])), remarks=common[slot])
        for slot, name in machines.names.items()
        if slot in results
    )


def _words(results: Sequence[Measurement]) -> Iterator[str]:
    """`cuda:0, NVIDIA H100`, `torch 2.13.0`, `8 samples each`"""
    devices = dict.fromkeys(
        f"{result.device}, {result.card.reported_name}" if result.card else result.device for result in results
    )
    yield "; ".join(list(devices)[:MOST_NAMED]) + ("; …" if len(devices) > MOST_NAMED else "")
    yield from list(dict.fromkeys(" ".join(result.software) for result in results if result.software))[:MOST_NAMED]
    counts = sorted({result.summary.count for result in results if result.summary})
    if len(counts) == 1:
        yield ngettext("%(n)d sample each", "%(n)d samples each", counts[0]) % {"n": counts[0]}
    elif counts:
        yield _("%(least)d to %(most)d samples each") % {"least": counts[0], "most": counts[-1]}


class Notes:
    """Numbers what single cells say beyond `heads` and `verdict`, which is what most rows say of comparability."""

    def __init__(self, heads: Sequence[MatrixHead], rows: Iterable[MeasuredRow]) -> None:
        self._common = {head.slot: head.remarks for head in heads}
        self._numbers: dict[str, int] = {}
        verdicts = Counter(row.compared for row in rows if row.compared)
        self.verdict = verdicts.most_common(1)[0][0] if verdicts else ""

    @property
    def slots(self) -> Collection[int]:
        """Of the machines with a head: those that ran anything."""
        return self._common.keys()

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(self._numbers)

    def cell(self, cell: MeasuredCell, row: MeasuredRow) -> NotedCell | None:
        """The cell with the numbers of its notes; None where the machine measured nothing."""
        if cell.result is None:
            return None
        if not cell.text:
            state = {"failed": _("failed"), "skipped": _("skipped")}.get(cell.result.state, _("no rate"))
            return NotedCell(cell, (self._number(cell.missing),), state)
        words = [remark for remark in cell.remarks if remark not in self._common[cell.slot]]
        if row.compared and row.compared != self.verdict:
            words.append(row.compared)
        return NotedCell(cell, tuple(map(self._number, words)))

    def _number(self, text: str) -> int:
        """The number of a note; of too many, further ones are left to the file."""
        if text not in self._numbers and len(self._numbers) >= MOST_NOTES:
            text = _("a remark that is in the CSV and JSON files")
        return self._numbers.setdefault(text, len(self._numbers) + 1)


MOST_COLUMNS, MOST_GROUPS = 8, 12  # what a machine measures takes five and six; anyone may send other parameters
SIDES = ("m", "n", "k")


@light_dataclass(slots=True)
class CellPosition:
    """Return the place of a setting: group, column, and the size of the column, None if it has none."""

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

    @property
    def printed_unit(self) -> str:
        return unit_label(self.unit)


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
    units = {si: readable_unit(rate, si) for si, rate in largest.items()}
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
