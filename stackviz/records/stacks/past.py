"""The described stacks as of a moment, rebuilt from the history of their rows; nothing extra is stored.

Stacks, components, placements and counterparts are as they were. Sources are current, as in `catalog.past`. Calls have
no history, and what releases need is left out, so that boxes of the past name neither.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from itertools import chain
from typing import TypeVar

from stackviz.draw.colours import hue_of
from stackviz.draw.diagrams.boxes import StackColumn
from stackviz.records.catalog.models import Source
from stackviz.records.catalog.past import rows_at
from stackviz.records.stacks.models import Component, Counterpart, Placement, Stack, UnfilledRole
from stackviz.records.stacks.queries import box_of, counterpart_boxes, in_layers, layers_of_roles, unfilled_box

_Sourced = TypeVar("_Sourced", Component, Counterpart, UnfilledRole)


def public_stacks_at(at: datetime) -> list[Stack]:
    """The stacks that were public at the moment and have not been unpublished since, as they were, in their order.

    What is not public now has no public past either; a stack that was removed has one. Not to be saved. Two queries.
    """
    rows: list[Stack] = rows_at(Stack, at, is_public=True)
    hidden = _hidden_now(row.pk for row in rows)
    return sorted((row for row in rows if row.pk not in hidden), key=lambda row: (row.order, row.name))


def unpublished_since(slugs: Iterable[str], at: datetime) -> frozenset[str]:
    """Those of these stacks that were public at the moment and are not any more. Two queries."""
    rows: list[Stack] = rows_at(Stack, at, is_public=True, slug__in=set(slugs))
    hidden = _hidden_now(row.pk for row in rows)
    return frozenset(row.slug for row in rows if row.pk in hidden)


def _hidden_now(pks: Iterable[int]) -> set[int]:
    """Those whose last state is not public, also of stacks that are gone. One query."""
    records = Stack.history.filter(id__in=set(pks)).order_by("history_date", "history_id")
    last = dict(records.values_list("id", "is_public"))
    return {pk for pk, is_public in last.items() if not is_public}


def described_columns_at(slugs: Iterable[str], at: datetime) -> dict[str, StackColumn]:
    """Slug -> column of the stacks described at the moment; unknown slugs are left out. Six queries."""
    wanted = set(slugs)
    stacks = [stack for stack in public_stacks_at(at) if stack.slug in wanted] if wanted else []
    if not stacks:
        return {}
    placements = _placements_at([stack.pk for stack in stacks], at)
    components = _components_at(at)
    others = counterpart_boxes(_counterparts_at(components, at))
    unfilled = _unfilled_roles_at([stack.pk for stack in stacks], components, at)
    placed_in: dict[int, list[Placement]] = {}
    for stack in stacks:
        placed_in[stack.pk] = [row for row in placements[stack.pk] if row.component_id in components]
        for row in placed_in[stack.pk]:
            row.component = components[row.component_id]
    layers = layers_of_roles(components.values(), chain.from_iterable(placed_in.values()))
    columns = {}
    for stack in stacks:
        placed = placed_in[stack.pk]
        boxes = [box_of(row, {}, others[row.component_id]) for row in in_layers(placed)]
        columns[stack.slug] = StackColumn(
            key=f"stack:{stack.slug}",
            title=stack.local_name,
            subtitle="",
            url=stack.get_absolute_url(),
            hue=hue_of(stack.vendor),
            boxes=(*boxes, *(unfilled_box(row, layers) for row in unfilled[stack.pk] if row.role in layers)),
        )
    return columns


def _placements_at(stacks: Iterable[int], at: datetime) -> dict[int, list[Placement]]:
    by_stack: dict[int, list[Placement]] = defaultdict(list)
    rows: list[Placement] = rows_at(Placement, at, stack_id__in=set(stacks), kind=Placement.Kind.LAYER)
    for row in sorted(rows, key=lambda row: (row.order, row.pk)):
        by_stack[row.stack_id].append(row)
    return by_stack


def _components_at(at: datetime) -> dict[int, Component]:
    """By id, each with what it is part of."""
    rows: list[Component] = rows_at(Component, at)
    by_id = {row.pk: row for row in _with_sources(rows)}
    for row in by_id.values():
        row.part_of = by_id.get(row.part_of_id or 0)
    return by_id


def _counterparts_at(components: dict[int, Component], at: datetime) -> list[Counterpart]:
    """Those between components that were there, in the order they were made."""
    rows: list[Counterpart] = rows_at(Counterpart, at)
    whole = [row for row in rows if {row.component_id, row.other_id} <= components.keys()]
    for row in whole:
        row.component, row.other = components[row.component_id], components[row.other_id]
    return sorted(_with_sources(whole), key=lambda row: row.pk)


def _unfilled_roles_at(
    stacks: Iterable[int], components: dict[int, Component], at: datetime
) -> dict[int, list[UnfilledRole]]:
    rows: list[UnfilledRole] = rows_at(UnfilledRole, at, stack_id__in=set(stacks))
    by_stack: dict[int, list[UnfilledRole]] = defaultdict(list)
    for row in sorted(_with_sources(rows), key=lambda row: row.pk):
        if row.done_by_id is None or row.done_by_id in components:
            row.done_by = components.get(row.done_by_id or 0)
            by_stack[row.stack_id].append(row)
    return by_stack


def _with_sources(rows: list[_Sourced]) -> list[_Sourced]:
    """The rows with their sources as they are now; without those whose source is gone. One query."""
    sources = Source.objects.in_bulk({row.source_id for row in rows})
    sourced = [row for row in rows if row.source_id in sources]
    for row in sourced:
        row.source = sources[row.source_id]
    return sourced
