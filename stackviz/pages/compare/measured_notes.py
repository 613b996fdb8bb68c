"""What must be known beside measured figures: of each machine once, of single cells in numbered notes. No queries."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stackviz.base.light import light_dataclass
from stackviz.pages.compare.measured_rows import Machines, MeasuredCell, MeasuredRow
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.words import remarks_of_all

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
    """One machine over its matrix: devices, software, samples and what must be known beside every of its figures."""

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
            text = _("a remark that stands in the CSV and JSON files")
        return self._numbers.setdefault(text, len(self._numbers) + 1)
