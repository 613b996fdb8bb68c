"""Check what must hold for every public value, with four queries whatever the size; and print what does not."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stackviz.records.catalog.checks import CHECKS
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.cross_checks import unlike_siblings
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


def sibling_lines() -> list[str]:
    """Sheets of one chip and memory whose bandwidths differ, for a person to look at. Four queries."""
    return [*unlike_siblings(read_reviewed({}))]


def as_data(verdict: CatalogueCheck) -> dict[str, object]:
    """Plain data, for --json."""
    return {
        "is_clean": verdict.is_clean,
        "public_accelerators": verdict.public_accelerators,
        "reviewed_values": verdict.reviewed_values,
        "names": verdict.names,
        "checks": [
            {
                "name": outcome.name,
                "title": outcome.title,
                "looked_at": outcome.checked,
                "excused": outcome.excused,
                "problems": [
                    {
                        "device": p.device,
                        "field": p.field,
                        "condition": p.condition,
                        "said": p.actual,
                        "expected": p.expected,
                    }
                    for p in outcome.problems
                ],
            }
            for outcome in verdict.outcomes
        ],
        "idle_exceptions": [list(cell) for cell in verdict.idle],
    }


def check_lines(verdict: CatalogueCheck) -> Iterator[str]:
    """For a terminal: a line per check, below it its problems by accelerator."""
    yield (
        f"{verdict.public_accelerators:,} public accelerators, {verdict.reviewed_values:,} reviewed values, "
        f"{verdict.names:,} names"
    )
    for outcome in verdict.outcomes:
        counts = f"{outcome.checked:,} checked"
        counts += f", {outcome.excused:,} explained" if outcome.excused else ""
        counts += f", {len(outcome.problems):,} wrong" if outcome.problems else ""
        yield f"{'WRONG' if outcome.problems else 'ok   '} {outcome.name:9}  {outcome.title} ({counts})"
        yield from _problem_lines(outcome.problems)
    for device, name, condition in verdict.idle:
        where = f"{device}, {name} {condition or '(no condition)'}"
        yield f"note: the exception for {where} in exceptions.csv is no longer needed"


def _problem_lines(problems: Sequence[Problem]) -> Iterator[str]:
    device = ""
    for problem in sorted(problems, key=lambda problem: (problem.device, problem.field, problem.condition)):
        if problem.device != device:
            device = problem.device
            yield f"      {device}"
        where = problem.field + (f" ({describe_condition(problem.condition)})" if problem.condition else "")
        yield f"        {f'{where}: ' if where else ''}{problem.actual}; expected {problem.expected}"
