"""Loaded subjects -> everything the comparison page shows. Seven queries at most, whatever is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from stackviz.benchmarks.queries import latest_results
from stackviz.compare.columns import columns_of
from stackviz.compare.glance import gap_verdicts, measured_verdicts, sheet_verdicts
from stackviz.compare.heads import Head, heads_of
from stackviz.compare.measured import Measured, measure
from stackviz.compare.probed import ProbedRow, probed_rows
from stackviz.compare.sheets import Sheets, sheets_of, spec_rows
from stackviz.compare.subjects import Loaded
from stackviz.compare.verdicts import Verdict
from stackviz.diagrams.stack import Drawing, draw_columns
from stackviz.labs.models import Finding


@dataclass(frozen=True, slots=True)
class Faults:
    """What rules found on one machine: the findings worth a reader's time, worst first."""

    head: Head
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    heads: tuple[Head, ...]
    verdicts: tuple[Verdict, ...]
    drawing: Drawing
    sheets: Sheets
    machines: tuple[Head, ...]
    probed: tuple[ProbedRow, ...]
    measured: Measured
    faults: tuple[Faults, ...]


def assemble(chosen: Sequence[Loaded]) -> Comparison:
    """Everything about these subjects, side by side. The first is what factors are against."""
    heads = heads_of(chosen)
    drawing = draw_columns(columns_of(chosen))
    figures, sheet_heads = spec_rows(chosen, heads)
    machines = [(head, loaded) for head, loaded in zip(heads, chosen, strict=True) if loaded.machine is not None]
    measured = _measured(machines)
    return Comparison(
        heads=heads,
        verdicts=(
            *sheet_verdicts(chosen, sheet_heads, figures),
            *measured_verdicts(heads, measured),
            *gap_verdicts(drawing),
        ),
        drawing=drawing,
        sheets=sheets_of(chosen, sheet_heads, figures),
        machines=tuple(head for head, _loaded in machines),
        probed=probed_rows([loaded.snapshot for _head, loaded in machines]),
        measured=measured,
        faults=tuple(filter(None, (_faults(head, loaded) for head, loaded in machines))),
    )


def _measured(machines: Sequence[tuple[Head, Loaded]]) -> Measured:
    rows = [loaded.machine for _head, loaded in machines if loaded.machine is not None]
    results = latest_results(rows) if rows else {}
    return measure(
        [
            (head.place, head.title, results.get(loaded.machine.pk, []))
            for head, loaded in machines
            if loaded.machine is not None
        ]
    )


_SEVERITIES = (Finding.Severity.BROKEN, Finding.Severity.WARNING, Finding.Severity.NOTE)


def _faults(head: Head, loaded: Loaded) -> Faults | None:
    if loaded.snapshot is None:
        return None
    known = [finding for finding in loaded.snapshot.findings.all() if finding.severity in _SEVERITIES]
    known.sort(key=lambda finding: _SEVERITIES.index(Finding.Severity(finding.severity)))
    return Faults(head, tuple(known)) if known else None
