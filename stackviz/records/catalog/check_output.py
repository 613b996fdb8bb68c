"""A verdict on the catalogue as text for a terminal and as data for a program. No query."""

from collections.abc import Iterator, Sequence

from stackviz.records.catalog.check import CatalogueCheck
from stackviz.records.catalog.conditions import describe_condition
from stackviz.records.catalog.reviewed import Problem


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
