"""What has to be true of every public value, checked over the database: four queries, whatever its size."""

from collections.abc import Iterable
from dataclasses import dataclass

from stackviz.records.catalog.checks import CHECKS
from stackviz.records.catalog.files import DATA, ExceptionLine, read_catalogue
from stackviz.records.catalog.reviewed import Cell, Problem, read_reviewed


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """One check: how many values it checked, how many deviations are explained, and what is wrong."""

    name: str
    title: str
    checked: int
    excused: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class CatalogueCheck:
    """All checks. `idle`: exceptions that no longer excuse anything; not an error, but they should be removed."""

    public_accelerators: int
    reviewed_values: int
    names: int
    outcomes: tuple[CheckOutcome, ...]
    idle: tuple[Cell, ...]

    @property
    def is_clean(self) -> bool:
        return not any(outcome.problems for outcome in self.outcomes)


def check_catalogue(exceptions: Iterable[ExceptionLine] | None = None) -> CatalogueCheck:
    """Look at all that is public. `exceptions`: those of the curated files, unless given. Four queries."""
    lines = read_catalogue(DATA).exceptions if exceptions is None else exceptions
    reviewed = read_reviewed({line.slot: line for line in lines})
    outcomes, used = [], set[Cell]()
    for name, (title, look) in CHECKS.items():
        findings = list(look(reviewed))
        used |= {finding.excused_by for finding in findings if finding.excused_by}
        problems = tuple(finding.problem for finding in findings if finding.problem)
        outcomes.append(
            CheckOutcome(name, title, len(findings), sum(finding.is_excused for finding in findings), problems)
        )
    return CatalogueCheck(
        public_accelerators=len(reviewed.accelerators),
        reviewed_values=len(reviewed.values),
        names=len(reviewed.aliases),
        outcomes=tuple(outcomes),
        idle=tuple(sorted(reviewed.exceptions.keys() - used)),
    )
