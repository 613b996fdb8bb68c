"""Loaded subjects -> everything the comparison page shows. Seven queries at most, whatever is stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stackviz.benchmarks.queries import latest_results
from stackviz.compare.measured import Measured, measure
from stackviz.compare.probed import ProbedRow, probed_rows
from stackviz.compare.query import Address
from stackviz.compare.spec_table import Sheets, sheets_of, spec_rows
from stackviz.compare.stacks import Stacks, stacks_of
from stackviz.compare.subjects import Head, Loaded, baseline, heads_of
from stackviz.compare.summary import SummaryLine, gap_verdicts, measured_verdicts, sheet_verdicts
from stackviz.reports.present import sort_findings
from stackviz.rules import Finding


@dataclass(frozen=True, slots=True)
class Faults:
    """Findings of the rules on one machine, worst first."""

    head: Head
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """`stacks` None: a comparison of the past, of which only spec sheets are kept. `base`: of the machines."""

    heads: tuple[Head, ...]
    verdicts: tuple[SummaryLine, ...]
    stacks: Stacks | None
    sheets: Sheets
    machines: tuple[Head, ...]
    base: Head | None
    probed: tuple[ProbedRow, ...]
    measured: Measured
    faults: tuple[Faults, ...]


def assemble(chosen: Sequence[Loaded], address: Address) -> Comparison:
    """Everything about these subjects, side by side."""
    heads = heads_of(chosen, address)
    stacks = stacks_of(chosen) if address.at is None else None
    figures, sheet_heads = spec_rows(chosen, heads, address)
    machines = [(head, loaded) for head, loaded in zip(heads, chosen, strict=True) if loaded.machine is not None]
    base = baseline([head for head, _loaded in machines], address)
    measured = _measured(machines, base)
    return Comparison(
        heads=heads,
        verdicts=(
            *sheet_verdicts(chosen, sheet_heads, figures),
            *measured_verdicts(heads, measured),
            *(gap_verdicts(stacks.drawing) if stacks else ()),
        ),
        stacks=stacks,
        sheets=sheets_of(chosen, sheet_heads, figures, address),
        machines=tuple(head for head, _loaded in machines),
        base=base,
        probed=probed_rows([loaded.report for _head, loaded in machines]),
        measured=measured,
        faults=tuple(filter(None, (_faults(head, loaded) for head, loaded in machines))),
    )


def published(chosen: Sequence[Loaded], address: Address) -> Sheets:
    """The spec table alone, as the page shows it: what is handed out as a file. One query; three of the past."""
    heads = heads_of(chosen, address)
    figures, sheet_heads = spec_rows(chosen, heads, address)
    return sheets_of(chosen, sheet_heads, figures, address)


def chart_figures(chosen: Sequence[Loaded]) -> dict[str, Any]:
    """The charts of what the machines measured, each by its `id`, as Plotly reads them."""
    address = Address(tuple(loaded.subject for loaded in chosen))
    pairs = zip(heads_of(chosen, address), chosen, strict=True)
    machines = [(head, loaded) for head, loaded in pairs if loaded.machine is not None]
    return {chart.id: chart.figure for chart in _measured(machines, None).charts}


def _measured(machines: Sequence[tuple[Head, Loaded]], base: Head | None) -> Measured:
    rows = [loaded.machine for _head, loaded in machines if loaded.machine is not None]
    snapshots = [loaded.snapshot for _head, loaded in machines if loaded.snapshot is not None]
    results = latest_results(rows, snapshots) if rows else {}
    return measure(
        [
            (head.place, head.title, results.get(loaded.machine.pk, []))
            for head, loaded in machines
            if loaded.machine is not None
        ],
        base.place if base else None,
    )


def _faults(head: Head, loaded: Loaded) -> Faults | None:
    if loaded.report is None:
        return None
    findings = sort_findings(loaded.report.findings)
    return Faults(head, (*findings.faults, *findings.notes)) if findings.faults or findings.notes else None
