"""Findings of a report, parted by what a reader does about them. No queries."""

from collections.abc import Iterable
from dataclasses import dataclass

from stackviz.rules import Finding, Severity


@dataclass(frozen=True, slots=True)
class SortedFindings:
    """Every finding is in one of these, worst first. `faults`: broken and warnings; `open_questions`: cannot tell."""

    faults: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    open_questions: tuple[Finding, ...]
    fits: tuple[Finding, ...]


def sort_findings(findings: Iterable[Finding]) -> SortedFindings:
    """Raises KeyError for a severity that no rule gives."""
    by_severity: dict[str, list[Finding]] = {severity.value: [] for severity in Severity}
    for finding in findings:
        by_severity[finding.severity].append(finding)
    return SortedFindings(
        faults=(*by_severity[Severity.BROKEN], *by_severity[Severity.WARNING]),
        notes=tuple(by_severity[Severity.NOTE]),
        open_questions=tuple(by_severity[Severity.CANNOT_TELL]),
        fits=tuple(by_severity[Severity.FITS]),
    )
