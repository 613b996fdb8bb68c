"""Columns of a diagram: a described stack, put together with an accelerator, or with what a machine reported.

Pure: no ORM, no request.
"""

from collections.abc import Mapping, Sequence

from stackviz.draw.diagrams.boxes import (
    ALARMS,
    SEVERITY_STATES,
    Box,
    BoxNote,
    FindingLike,
    ReportedComponent,
    StackColumn,
    copy_with,
)
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.report.format import cards_named


def sheet_column(described: StackColumn, hardware: Sequence[Box]) -> StackColumn:
    """A described stack on one accelerator: `hardware` replaces the described boxes of the same role, in place.

    Attributes missing in `hardware` are taken from the description of the component.
    """
    known = {box.component: box for box in described.boxes}
    by_role: dict[str, list[Box]] = {}
    for box in hardware:
        by_role.setdefault(box.role, []).append(_explained(box, known.get(box.component, box)))
    boxes: list[Box] = []
    replaced = set(by_role)
    # Links to a described box are redirected to the box that replaces it.
    stands_for = {
        box.component: by_role[box.role][0].component if box.role in by_role else box.component
        for box in described.boxes
    }
    for box in described.boxes:
        if box.layer != Layer.HARDWARE or box.role not in replaced:
            boxes.append(box)
        else:
            boxes += by_role.pop(box.role, [])
    boxes += [box for group in by_role.values() for box in group]
    links = [copy_with(link, target_component=stands_for.get(link.target_component, "")) for link in described.links]
    return copy_with(described, boxes=tuple(boxes), links=tuple(links))


def _explained(box: Box, described: Box) -> Box:
    return copy_with(
        box,
        summary=box.summary or described.summary,
        url=box.url or described.url,
        see_version=box.see_version or described.see_version,
        source=box.source or described.source,
        counterparts=box.counterparts or described.counterparts,
        install=box.install or described.install,
    )


def machine_column(
    described: StackColumn,
    *,
    components: Sequence[ReportedComponent],
    hardware: Sequence[Box],
    findings: Sequence[FindingLike],
) -> StackColumn:
    """A described stack with the reported components of one machine.

    A role without a reported component stays as one box "not reported"; of alternatives, only the reported ones
    stay. `hardware` replaces the described boxes of the same role. Findings set the state of their component's boxes.
    """
    reported = {item.component: item for item in components}
    boxes = _keep_reported([_fill(box, reported) for box in described.boxes])
    column = sheet_column(copy_with(described, boxes=tuple(boxes), links=()), hardware)
    about: dict[str, list[FindingLike]] = {}
    for finding in findings:
        about.setdefault(finding.component, []).append(finding)
    return copy_with(column, boxes=tuple(_judge(box, about.get(box.component, ())) for box in column.boxes))


def _fill(box: Box, reported: Mapping[str, ReportedComponent]) -> Box:
    if box.state == State.ABSENT:
        return box
    if box.component in reported:
        return copy_with(box, version=reported[box.component].version or "", state=State.REPORTED)
    return copy_with(box, version="", state=State.REPORTED if box.part_of in reported else State.UNKNOWN)


def _keep_reported(boxes: list[Box]) -> list[Box]:
    """For each layer and role the reported boxes, or else one "not reported" box that names all alternatives."""
    groups: dict[tuple[Layer, str], list[Box]] = {}
    for box in boxes:
        groups.setdefault((box.layer, box.role), []).append(box)
    remaining: list[Box] = []
    for group in groups.values():
        known = [box for box in group if box.state != State.UNKNOWN]
        remaining += known or [copy_with(group[0], name=" / ".join(box.name for box in group))]
    return remaining


def _is_about(finding: FindingLike, box: Box) -> bool:
    """Whether the finding is about this box; one that names cards is only about the boxes of these cards."""
    named = cards_named(finding.evidence) if box.cards else frozenset()
    return not named or not named.isdisjoint(box.cards)


def _judge(box: Box, findings: Sequence[FindingLike]) -> Box:
    """The box with a note for each finding about it, in the worst of their states. `findings`: of its component."""
    if not findings or not box.component or box.state == State.ABSENT:
        return box
    relevant = [finding for finding in findings if _is_about(finding, box)]
    if not relevant:
        return box
    notes = tuple(BoxNote(SEVERITY_STATES.get(finding.severity, State.UNKNOWN), finding.title) for finding in relevant)
    worst = max((note.state for note in notes if note.state in ALARMS), key=ALARMS.index, default=box.state)
    return copy_with(box, state=worst, notes=(*box.notes, *notes))


# --- rows that no machine reported: left out of a drawing and listed beside it ---


def drop_unreported_rows(columns: Sequence[StackColumn]) -> tuple[list[StackColumn], tuple[str, ...]]:
    """The columns without the rows that no machine reported, and the names of the components left out.

    Each layer keeps its first row, which then reads "not reported".
    """
    reported = {_row(box) for column in columns for box in column.boxes if _is_reported(box)}
    reported_layers = {layer for layer, _role in reported}
    for layer in Layer:
        if layer not in reported_layers:
            reported.update([_row(box) for column in columns for box in column.boxes if box.layer == layer][:1])
    left_out = [box for column in columns for box in column.boxes if _row(box) not in reported]
    names = tuple(dict.fromkeys(box.name for box in left_out if box.state != State.ABSENT))
    return [_only(column, reported) for column in columns], names


def is_stack(columns: Sequence[StackColumn]) -> bool:
    """Whether anything below the application layer was reported, so that there is a stack to draw."""
    return any(_is_reported(box) and box.layer != Layer.APPLICATION for column in columns for box in column.boxes)


def _only(column: StackColumn, rows: set[tuple[Layer, str]]) -> StackColumn:
    boxes = tuple(box for box in column.boxes if _row(box) in rows or box.state == State.ABSENT)
    drawn = {box.component for box in boxes}
    links = tuple(link for link in column.links if {link.source_component, link.target_component} <= drawn)
    return copy_with(column, boxes=boxes, links=links)


def _row(box: Box) -> tuple[Layer, str]:
    return box.layer, box.role


def _is_reported(box: Box) -> bool:
    return bool(box.notes) or box.state not in (State.UNKNOWN, State.ABSENT)
