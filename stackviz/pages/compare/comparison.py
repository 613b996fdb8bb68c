"""Loaded subjects -> everything the comparison page shows. Seven queries at most, whatever is stored."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from stackviz.draw.colours import Hue
from stackviz.draw.diagrams.boxes import Box, StackColumn, copy_with
from stackviz.draw.diagrams.columns import sheet_column
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.draw.diagrams.memory import MemoryDrawing, draw_memory
from stackviz.draw.diagrams.stack import StackDrawing, draw_columns
from stackviz.intake.report_parts.hosts import host_column
from stackviz.intake.report_parts.present import component_names, sort_findings, stack_column
from stackviz.pages.compare.file_parts import FileParts
from stackviz.pages.compare.host_charts import HostChart, host_charts
from stackviz.pages.compare.host_rows import HostResults, host_results, verdict_of_hosts
from stackviz.pages.compare.like_for_like import cited_tile, measured_tile, shared_results
from stackviz.pages.compare.measured import NOTHING_MEASURED, Measured, measure
from stackviz.pages.compare.query import Address, Subject, SubjectKind
from stackviz.pages.compare.reached import MachineResults, decode_tile, with_reached
from stackviz.pages.compare.spec_table import Sheets, sheets_of, spec_rows
from stackviz.pages.compare.subjects import (
    Head,
    Loaded,
    ProbedRow,
    baseline,
    describe,
    heads_of,
    probed_rows,
    subject_hues,
)
from stackviz.pages.compare.tiles import Answered, Tile, gap_tiles, measured_tiles, sheet_figures, tile_of, verdict_of
from stackviz.pages.compare.why import Explanation, explanations
from stackviz.records.catalog.models import Accelerator
from stackviz.records.series.measurement import Measurement
from stackviz.records.series.queries import latest_results, results_arrived_until
from stackviz.records.stacks.architectures import architectures_of_sheets
from stackviz.records.stacks.limits import drop_impossible
from stackviz.records.stacks.memory import memory_model_of
from stackviz.records.stacks.past import described_columns_at
from stackviz.records.stacks.queries import described_columns
from stackviz.report.rules import Finding

# --- the stacks: loaded subjects as columns of one diagram ---


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns to draw. `undescribed`: titles of the sheets whose vendor has no described stack.

    `of_slots`: slot of a subject -> place of the column that it stands in.
    """

    drawn: tuple[StackColumn, ...]
    undescribed: tuple[str, ...]
    of_slots: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacks:
    """The stack diagram. `undescribed`: sheets it says nothing about; `of_slots`: slot of a subject -> its column.

    `is_brief`: boxes lead to who explains them; `explained_url`: the stacks alone, where every box explains itself.
    `memories`: how the memory of each is built, where stacks alone are compared.
    """

    drawing: StackDrawing
    undescribed: tuple[str, ...]
    of_slots: Mapping[int, int]
    is_brief: bool
    explained_url: str
    memories: tuple[MemoryDrawing, ...] = ()


OF_SHEETS = "sheets on "
OF_THE_HOST = frozenset({"array-library", "cpu-math", "host-memory"})


def stacks_of(chosen: Sequence[Loaded], at: datetime | None = None) -> Stacks:
    """Draw the diagram. If only stacks are compared its boxes explain themselves, else they lead to pages that do.

    Of two subjects it also says what differs from one to the other: of more, that would be most of the page. `at`: as
    the stacks were described then, without how memory is built, which has no history.
    """
    with_differences = len(chosen) <= 2 or not _is_brief(chosen)
    columns = columns_of(chosen, with_differences=with_differences, at=at)
    slugs = dict.fromkeys(loaded.stack_slug for loaded in chosen if loaded.stack_slug)
    stacks = tuple(Subject(SubjectKind.STACK, slug) for slug in slugs)
    explained_url = Address(stacks, at=at).query() if not _are_stacks(chosen) and len(stacks) == 2 else ""
    memories = tuple(_memories(slugs)) if _are_stacks(chosen) and at is None else ()
    drawing = draw_columns(columns.drawn, is_brief=not with_differences)
    return Stacks(
        drawing=drawing,
        undescribed=columns.undescribed,
        of_slots=columns.of_slots,
        is_brief=_is_brief(chosen),
        explained_url=explained_url,
        memories=memories,
    )


def _memories(slugs: Iterable[str]) -> list[MemoryDrawing]:
    """Each way of building a memory once, however many of the stacks have it."""
    models = dict.fromkeys(filter(None, map(memory_model_of, slugs)))
    return [draw_memory(model) for model in models]


def _is_brief(chosen: Sequence[Loaded]) -> bool:
    return len(chosen) > 2 or not _are_stacks(chosen)


def _are_stacks(chosen: Sequence[Loaded]) -> bool:
    return all(loaded.subject.kind is SubjectKind.STACK for loaded in chosen)


def columns_of(chosen: Sequence[Loaded], *, with_differences: bool = True, at: datetime | None = None) -> Columns:
    """A column for each stack and machine, and one for all sheets of the same described stack, in their order.

    A column has the colour of its first subject. `with_differences`: boxes say what their newest releases need. The
    described stacks are read in one go. `at`: see `stacks_of`.
    """
    slugs = {loaded.stack_slug for loaded in chosen if loaded.stack_slug}
    described = described_columns(slugs) if at is None else described_columns_at(slugs, at)
    hues = subject_hues(chosen)
    together: dict[str, list[int]] = {}
    for index, loaded in enumerate(chosen):
        together.setdefault(_shared(loaded), []).append(index)
    drawn = [
        _column([chosen[index] for index in indices], described.get(chosen[indices[0]].stack_slug), hues[indices[0]])
        for key, indices in together.items()
        if key
    ]
    if all(loaded.subject.kind is SubjectKind.ACCELERATOR for loaded in chosen):
        drawn = [_without_host(column) for column in drawn]
    if not with_differences:
        judged = [tuple(link for link in column.links if link.state != State.DESCRIBED) for column in drawn]
        drawn = [copy_with(column, links=links) for column, links in zip(drawn, judged, strict=True)]
    slots = [indices for key, indices in together.items() if key]
    return Columns(
        drawn=tuple(drawn),
        undescribed=tuple(chosen[index].title for index in together.get("", ())),
        of_slots={index: column for column, indices in enumerate(slots) for index in indices},
    )


def _without_host(column: StackColumn) -> StackColumn:
    """The column without host components, which mean nothing in a comparison of cards."""
    return copy_with(column, boxes=tuple(box for box in column.boxes if box.role not in OF_THE_HOST))


def _shared(loaded: Loaded) -> str:
    """What the subjects of one column have in common; "" for a sheet that no described stack stands on."""
    if loaded.subject.kind is SubjectKind.ACCELERATOR:
        return f"{OF_SHEETS}{loaded.stack_slug}" if loaded.stack_slug else ""
    return loaded.subject.name


def _column(subjects: Sequence[Loaded], described: StackColumn | None, hue: Hue) -> StackColumn:
    loaded = subjects[0]
    key, title, subtitle, url = loaded.subject.name, loaded.title, describe(loaded), loaded.url
    base = described or StackColumn(key=key, title=title, subtitle=subtitle, url=url, boxes=())
    if loaded.host is not None and loaded.report is not None:
        names = component_names([loaded.report.report])
        column = host_column(loaded.host, loaded.report, base, names, is_brief=True)
        return copy_with(column, key=key, title=title, subtitle=subtitle, url=url, hue=hue)
    if loaded.report is not None:
        column = stack_column(loaded.report, base, key=key, title=title, subtitle=subtitle, url=url, is_brief=True)
        return copy_with(column, hue=hue)
    if len(subjects) > 1:
        title = ", ".join(subject.title for subject in subjects)
        subtitle, url = _("on %(stack)s as described") % {"stack": base.title}, base.url
    accelerators = [subject.accelerator for subject in subjects if subject.accelerator is not None]
    if accelerators:
        base = drop_impossible(base, architectures_of_sheets(accelerators))
        base = sheet_column(base, [_sheet_box(accelerator) for accelerator in accelerators])
    return copy_with(base, key=key, title=title, subtitle=subtitle, url=url, hue=hue)


def _sheet_box(accelerator: Accelerator) -> Box:
    return Box(
        component="hardware",
        role="accelerator",
        layer=Layer.HARDWARE,
        name=accelerator.name,
        url=accelerator.get_absolute_url(),
    )


# --- everything ---


@dataclass(frozen=True, slots=True)
class Faults:
    """Findings of the rules on one machine, worst first."""

    head: Head
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Computer:
    """A machine, or a public host that its owner described."""

    head: Head
    is_host: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """`stacks`: of the past, as described and reported then. `base`: of the machines. `probed`: of `computers`, which
    are machines and public hosts.

    `verdict`: the comparison in one sentence of plain text; `tiles`: a question each, with every subject's answer.
    """

    heads: tuple[Head, ...]
    verdict: str
    tiles: tuple[Tile, ...]
    stacks: Stacks
    sheets: Sheets
    machines: tuple[Head, ...]
    computers: tuple[Computer, ...]
    base: Head | None
    probed: tuple[ProbedRow, ...]
    measured: Measured
    faults: tuple[Faults, ...]
    hosts: HostResults | None
    explanations: tuple[Explanation, ...]
    host_charts: tuple[HostChart, ...]

    @property
    def colours(self) -> str:
        """The colour of each subject, --s1 to --s6, as a style."""
        return ";".join(f"--s{head.slot + 1}:{head.hue.value}" for head in self.heads)


def assemble(chosen: Sequence[Loaded], address: Address) -> Comparison:
    """Everything about these subjects, side by side."""
    heads = heads_of(chosen, address)
    stacks = stacks_of(chosen, address.at)
    figures, columns = spec_rows(chosen, heads, address)
    machines = _machines(chosen, heads)
    computers = [(head, loaded) for head, loaded in zip(heads, chosen, strict=True) if loaded.has_cards]
    base = baseline([head for head, _loaded in machines], address)
    results = _results_of(machines, address.at)
    measured = _measured(machines, results, base)
    answered = sheet_figures(chosen, columns, figures)
    hosts = host_results(chosen, heads, baseline(heads, address)) if address.at is None else None
    if address.at is None:
        tiles = [*_sheet_tiles(chosen, answered, results), *_shared_tiles(chosen, heads, address, results)]
    else:
        tiles = [*_published_tiles(answered)]
    tiles += [*(measured_tiles(heads, measured) if machines else ()), *gap_tiles(stacks.drawing)]
    return Comparison(
        heads=heads,
        verdict=verdict_of_hosts(hosts) or verdict_of(chosen, answered),
        tiles=tuple(filter(None, tiles)),
        stacks=stacks,
        sheets=sheets_of(chosen, heads, columns, figures, address),
        machines=tuple(head for head, _loaded in machines),
        computers=tuple(Computer(head, loaded.host is not None) for head, loaded in computers),
        base=base,
        probed=probed_rows([loaded for _head, loaded in computers]),
        measured=measured,
        faults=tuple(filter(None, (_faults(head, loaded) for head, loaded in computers))),
        hosts=hosts,
        explanations=explanations(hosts),
        host_charts=host_charts(hosts, [loaded.host for loaded in chosen if loaded.host is not None]),
    )


def _published_tiles(answered: Sequence[Answered]) -> list[Tile]:
    """All that a past moment has: cited results and those of other machines are of today."""
    return [tile_of(question, figures) for question, figures in answered]


def _sheet_tiles(chosen: Sequence[Loaded], answered: Sequence[Answered], results: MachineResults) -> list[Tile | None]:
    """Put the decode rate after the peaks that bound it, before power and price.

    Not of public hosts: their results follow, and those of their accelerators are of others.
    """
    tiles = _published_tiles([(question, with_reached(question, figures, chosen)) for question, figures in answered])
    has_decode = len(chosen) > 1 and not any(loaded.host for loaded in chosen)
    of_peaks = sum(bool(question.higher_is_better) for question, _figures in answered)
    return [*tiles[:of_peaks], decode_tile(chosen, results) if has_decode else None, *tiles[of_peaks:]]


def _shared_tiles(
    chosen: Sequence[Loaded], heads: Sequence[Head], address: Address, results: MachineResults
) -> tuple[Tile | None, ...]:
    base = baseline(heads, address)
    names = {head.slot: head.title for head in heads}
    return cited_tile(chosen, base.slot if base else 0), measured_tile(names, shared_results(results))


def parts_of_file(chosen: Sequence[Loaded], address: Address, page: str) -> tuple[Sheets, FileParts]:
    """What is handed out as a file: as on the page, whose address is `page`, now or at the moment it names.

    Of the figures each subject has a column of its own.
    """
    heads = heads_of(chosen, address)
    figures, columns = spec_rows(chosen, heads, address, repeats=True)
    machines = _machines(chosen, heads)
    computers = [(head, loaded) for head, loaded in zip(heads, chosen, strict=True) if loaded.has_cards]
    base = baseline([head for head, _loaded in machines], address)
    stacks = stacks_of(chosen, address.at)
    parts = FileParts(
        heads=heads,
        machines=tuple(head for head, _loaded in machines),
        computers=tuple(head for head, _loaded in computers),
        probed=probed_rows([loaded for _head, loaded in computers]),
        measured=_measured(machines, _results_of(machines, address.at), base),
        hosts=host_results(chosen, heads, baseline(heads, address)) if address.at is None else None,
        drawing=stacks.drawing,
        columns=stacks.of_slots,
        at=address.at,
        address=page,
    )
    return sheets_of(chosen, heads, columns, figures, address), parts


def comparison_figures(chosen: Sequence[Loaded], at: datetime | None = None) -> dict[str, Any]:
    """The charts of what the machines measured, each by its `id`, as Plotly reads them."""
    return measured_of(chosen, heads_of(chosen, Address(tuple(loaded.subject for loaded in chosen))), at).figures


def measured_of(chosen: Sequence[Loaded], heads: Sequence[Head], at: datetime | None = None) -> Measured:
    """What the machines among these measured, `at` that moment. Two queries; none without a machine."""
    machines = _machines(chosen, heads)
    return _measured(machines, _results_of(machines, at), None)


def _machines(chosen: Sequence[Loaded], heads: Sequence[Head]) -> list[tuple[Head, Loaded]]:
    return [(head, loaded) for head, loaded in zip(heads, chosen, strict=True) if loaded.machine is not None]


def _results_of(machines: Sequence[tuple[Head, Loaded]], at: datetime | None) -> dict[int, Sequence[Measurement]]:
    """Slot of a machine -> its newest results, or those it had at the moment."""
    rows = [loaded.machine for _head, loaded in machines if loaded.machine is not None]
    snapshots = [loaded.snapshot for _head, loaded in machines if loaded.snapshot is not None]
    if not rows:
        return {}
    of_past = None if at is None else results_arrived_until([row.pk for row in rows], at, snapshots)
    results = latest_results(rows, snapshots) if of_past is None else of_past
    return {head.slot: results.get(loaded.machine.pk, []) for head, loaded in machines if loaded.machine is not None}


def _measured(machines: Sequence[tuple[Head, Loaded]], results: MachineResults, base: Head | None) -> Measured:
    if not machines:
        return NOTHING_MEASURED
    of_machines = [(head.slot, head.title, results[head.slot]) for head, _loaded in machines]
    return measure(of_machines, base.slot if base else None, {head.slot: head.hue for head, _loaded in machines})


def _faults(head: Head, loaded: Loaded) -> Faults | None:
    if loaded.report is None:
        return None
    findings = sort_findings(loaded.report.findings)
    return Faults(head, (*findings.faults, *findings.notes)) if findings.faults or findings.notes else None
