"""Facts that the compared machines reported, row by row. No queries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext_lazy as _

from stackviz.reports.facts import ShownFact, headline_fact, one_fact
from stackviz.reports.present import JudgedReport
from stackviz.units import format_counts, quantity_label


@dataclass(frozen=True, slots=True)
class ProbedRow:
    title: str
    cells: tuple[ShownFact, ...]

    @property
    def differs(self) -> bool:
        return len({cell.text for cell in self.cells}) > 1


TITLES = {
    "cards": _("Accelerators"),
    "cpu.model": _("CPU"),
    "memory.total_bytes": _("Main memory"),
    "os.name": _("Operating system"),
    "nvidia.driver_version": _("NVIDIA driver"),
    "cuda.runtime_version": _("CUDA runtime"),
    "python.version": _("Python"),
    "torch.version": _("PyTorch"),
}
"""What a row is about -> its title, in the order of the rows."""


def probed_rows(reports: Sequence[JudgedReport | None]) -> tuple[ProbedRow, ...]:
    """A row per fact, a cell per machine in order; rows about which no machine says anything are left out."""
    rows = [ProbedRow(str(title), tuple(_cell(name, judged) for judged in reports)) for name, title in TITLES.items()]
    return tuple(row for row in rows if any(cell.text for cell in row.cells))


def _cell(name: str, judged: JudgedReport | None) -> ShownFact:
    if judged is None:
        return one_fact(name, {}, {})
    report = judged.report
    fact = headline_fact(name, report.facts, report.absent)
    if name == "cards":
        return replace(fact, text=format_counts(card.reported_name for card in report.cards))
    if name == "memory.total_bytes" and fact.text:  # in short: columns are narrow
        return replace(fact, text=quantity_label(float(report.facts[name]), "B", binary=True, digits=3))
    return fact
