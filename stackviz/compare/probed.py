"""What compared machines said about themselves, row by row. No queries."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from stackviz.labs.models import Snapshot
from stackviz.units import format_counts, format_quantity
from stackviz.web.words import missing_text


@dataclass(frozen=True, slots=True)
class ProbedCell:
    """`text` is empty when the machine did not say; `missing` is the reason it gave, in words."""

    text: str = ""
    missing: str = ""


@dataclass(frozen=True, slots=True)
class ProbedRow:
    title: str
    cells: tuple[ProbedCell, ...]

    @property
    def differs(self) -> bool:
        return len({cell.text for cell in self.cells}) > 1


@dataclass(frozen=True, slots=True)
class _Asked:
    """One row: the fact that names the reason when nothing is known, and how it is written."""

    title: str | Promise
    fact: str
    text: Callable[[Snapshot], str]


def _fact(name: str) -> Callable[[Snapshot], str]:
    def text(snapshot: Snapshot) -> str:
        value = snapshot.facts.get(name)
        return "" if value is None else str(value)

    return text


def _joined(*names: str) -> Callable[[Snapshot], str]:
    return lambda snapshot: " ".join(str(snapshot.facts[name]) for name in names if snapshot.facts.get(name))


def _memory(snapshot: Snapshot) -> str:
    total = snapshot.facts.get("memory.total_bytes")
    return format_quantity(total, "B", binary=True, digits=3).label if total else ""


def _cards(snapshot: Snapshot) -> str:
    return format_counts(card.reported_name for card in snapshot.cards.all())


ASKED = (
    _Asked(_("Accelerators"), "cards", _cards),
    _Asked(_("CPU"), "cpu.model", _fact("cpu.model")),
    _Asked(_("Main memory"), "memory.total_bytes", _memory),
    _Asked(_("Operating system"), "os.name", _joined("os.name", "os.version")),
    _Asked(_("NVIDIA driver"), "nvidia.driver_version", _fact("nvidia.driver_version")),
    _Asked(_("CUDA runtime"), "cuda.runtime_version", _fact("cuda.runtime_version")),
    _Asked(_("Python"), "python.version", _fact("python.version")),
    _Asked(_("PyTorch"), "torch.version", _fact("torch.version")),
)


def probed_rows(snapshots: Sequence[Snapshot | None]) -> tuple[ProbedRow, ...]:
    """A row per fact, a cell per machine in order; rows about which no machine says anything are left out."""
    rows = [ProbedRow(str(asked.title), tuple(_cell(asked, snapshot) for snapshot in snapshots)) for asked in ASKED]
    return tuple(row for row in rows if any(cell.text for cell in row.cells))


def _cell(asked: _Asked, snapshot: Snapshot | None) -> ProbedCell:
    if snapshot is None:
        return ProbedCell(missing=missing_text("not_reported"))
    text = asked.text(snapshot)
    if text:
        return ProbedCell(text)
    reason = snapshot.absent.get(asked.fact, {}).get("reason")
    return ProbedCell(missing=missing_text(reason or "not_reported"))
