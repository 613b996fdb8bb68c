"""Loaded subjects -> everything the comparison page shows. Seven queries at most, whatever is stored."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stackviz.benchmarks.queries import latest_results
from stackviz.compare.columns import columns_of
from stackviz.compare.glance import gap_verdicts, measured_verdicts, sheet_verdicts
from stackviz.compare.heads import Head, baseline, heads_of
from stackviz.compare.measured import Measured, measure
from stackviz.compare.probed import ProbedRow, probed_rows
from stackviz.compare.selection import Address, Kind, Subject
from stackviz.compare.sheets import Sheets, sheets_of, spec_rows
from stackviz.compare.subjects import Loaded
from stackviz.compare.verdicts import Verdict
from stackviz.diagrams.memory import MemoryDrawing, draw_memory
from stackviz.diagrams.stack import Drawing, draw_columns
from stackviz.labs.models import Finding
from stackviz.stacks.memory import memory_model_of


@dataclass(frozen=True, slots=True)
class Faults:
    """What rules found on one machine: the findings worth a reader's time, worst first."""

    head: Head
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Stacks:
    """The stack diagram. `undescribed`: sheets it says nothing about.

    `is_brief`: boxes lead to who explains them; `explained_url`: the stacks alone, where every box explains itself.
    `memories`: how the memory of each is built, where stacks alone are compared.
    """

    drawing: Drawing
    undescribed: tuple[str, ...]
    is_brief: bool
    explained_url: str
    memories: tuple[MemoryDrawing, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """`stacks` None: a comparison of the past, of which only spec sheets are kept. `base`: of the machines."""

    heads: tuple[Head, ...]
    verdicts: tuple[Verdict, ...]
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
        probed=probed_rows([loaded.snapshot for _head, loaded in machines]),
        measured=measured,
        faults=tuple(filter(None, (_faults(head, loaded) for head, loaded in machines))),
    )


def published(chosen: Sequence[Loaded], address: Address) -> Sheets:
    """The spec table alone, as the page shows it: what is handed out as a file. One query; three of the past."""
    heads = heads_of(chosen, address)
    figures, sheet_heads = spec_rows(chosen, heads, address)
    return sheets_of(chosen, sheet_heads, figures, address)


def stacks_of(chosen: Sequence[Loaded]) -> Stacks:
    """The diagram. Where stacks alone are compared its boxes explain themselves; beside figures they lead to who does.

    Of two subjects it also says what differs from one to the other: of more, that would be most of the page.
    """
    columns = columns_of(chosen, with_differences=len(chosen) <= 2 or not _is_brief(chosen))
    slugs = dict.fromkeys(loaded.stack_slug for loaded in chosen if loaded.stack_slug)
    stacks = tuple(Subject(Kind.STACK, slug) for slug in slugs)
    explained_url = Address(stacks).query() if not _are_stacks(chosen) and len(stacks) == 2 else ""
    memories = tuple(_memories(slugs)) if _are_stacks(chosen) else ()
    return Stacks(draw_columns(columns.drawn), columns.undescribed, _is_brief(chosen), explained_url, memories)


def _memories(slugs: Iterable[str]) -> list[MemoryDrawing]:
    """Each way of building a memory once, however many of the stacks have it."""
    models = dict.fromkeys(filter(None, map(memory_model_of, slugs)))
    return [draw_memory(model) for model in models]


def _is_brief(chosen: Sequence[Loaded]) -> bool:
    return len(chosen) > 2 or not _are_stacks(chosen)


def _are_stacks(chosen: Sequence[Loaded]) -> bool:
    return all(loaded.subject.kind is Kind.STACK for loaded in chosen)


def _measured(machines: Sequence[tuple[Head, Loaded]], base: Head | None) -> Measured:
    rows = [loaded.machine for _head, loaded in machines if loaded.machine is not None]
    results = latest_results(rows) if rows else {}
    return measure(
        [
            (head.place, head.title, results.get(loaded.machine.pk, []))
            for head, loaded in machines
            if loaded.machine is not None
        ],
        base.place if base else None,
    )


_SEVERITIES = (Finding.Severity.BROKEN, Finding.Severity.WARNING, Finding.Severity.NOTE)


def _faults(head: Head, loaded: Loaded) -> Faults | None:
    if loaded.snapshot is None:
        return None
    known = [finding for finding in loaded.snapshot.findings.all() if finding.severity in _SEVERITIES]
    known.sort(key=lambda finding: _SEVERITIES.index(Finding.Severity(finding.severity)))
    return Faults(head, tuple(known)) if known else None
