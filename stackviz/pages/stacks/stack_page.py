"""What the pages and the API show of a stack: its layers, its undrawn components, its support dates."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from stackviz.draw.diagrams.boxes import Box, StackColumn
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.records.stacks.lifecycle import STATES
from stackviz.records.stacks.models import Call, Component, Edition, Placement, Stack
from stackviz.records.stacks.queries import described_columns, public_stacks
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.records.stacks.table_checks import releases_of
from stackviz.report.rules.lifecycle import LifeState, newest_out, standing

_VARIANT_TITLES = {"ubuntu": "Ubuntu", "home-pro": "Home, Pro"}  # variants with support dates of their own


@dataclass(frozen=True, slots=True)
class StackRow:
    """A public stack and its column."""

    stack: Stack
    column: StackColumn

    @property
    def component_count(self) -> int:
        return sum(len(boxes) for _layer, boxes, _gaps in self.sections)

    @property
    def sections(self) -> list[tuple[Layer, list[Box], list[Box]]]:
        """(layer, boxes, gaps) of the column, top to bottom."""
        return [
            (
                layer,
                [box for box in self.column.boxes if box.layer == layer and box.state != State.ABSENT],
                [box for box in self.column.boxes if box.layer == layer and box.is_gap],
            )
            for layer in Layer
        ]


def stack_rows(stacks: Iterable[Stack] | None = None) -> list[StackRow]:
    """These stacks, or all public ones, with their columns. Two queries, six after a change of the data."""
    stacks = public_stacks() if stacks is None else list(stacks)
    columns = described_columns(stack.slug for stack in stacks)
    return [StackRow(stack, columns[stack.slug]) for stack in stacks if stack.slug in columns]


# Components of a stack that are on none of its layers.


@dataclass(slots=True)
class UndrawnComponents:
    """The monitoring tools of a stack with what each reads, and its related components from the top layer down."""

    tools: list[tuple[Component, Sequence[Component]]] = field(default_factory=list)
    related: list[Component] = field(default_factory=list)


def undrawn_components(stack: str) -> UndrawnComponents:
    """The undrawn components of a public stack. One query, three after a change of the data."""
    return _undrawn_by_stack(Edition.current()).get(stack, UndrawnComponents())


@lru_cache(maxsize=2)
def _undrawn_by_stack(_edition: str) -> Mapping[str, UndrawnComponents]:
    reads: dict[tuple[int, int], list[Component]] = defaultdict(list)
    for call in Call.objects.select_related("callee").order_by("pk"):
        reads[call.stack_id, call.caller_id].append(call.callee)
    undrawn: dict[str, UndrawnComponents] = defaultdict(UndrawnComponents)
    placements = Placement.objects.filter(stack__is_public=True).exclude(kind=Placement.Kind.LAYER)
    for placed in placements.select_related("stack", "component__source").order_by("order", "pk"):
        if placed.kind == Placement.Kind.TOOL:
            read = reads[placed.stack_id, placed.component_id]
            undrawn[placed.stack.slug].tools.append((placed.component, read))
        else:
            undrawn[placed.stack.slug].related.append(placed.component)
    for of_stack in undrawn.values():
        of_stack.related.sort(key=lambda component: list(Layer).index(Layer(component.layer)))
    return dict(undrawn)


# Support dates.


def support_of(column: StackColumn, system: str, day: str) -> list[dict[str, object]]:
    """The components of a described stack with dated releases, in its order. `system`: selects the driver variant.

    `newest`: the newest release; `supported`: (release, CSS class of its state) of those still supported, newest first;
    `table`: the name under which checks of the releases are kept.
    """
    tables = rule_tables()
    rows: list[dict[str, object]] = []
    for box in column.boxes:
        variant = _variant(box.component, system)
        newest = newest_out(tables, box.component, variant, day)
        if newest is not None:
            dated = [row for row in reversed(tables.releases_of(box.component, variant)) if row.support_ends]
            living = [(row, STATES[state][0]) for row in dated if (state := standing(row, day)) != LifeState.ENDED]
            name = f"{box.name} ({_VARIANT_TITLES[variant]})" if variant in _VARIANT_TITLES else box.name
            table = releases_of([box.component])[0]
            rows.append({"name": name, "url": box.url, "table": table, "newest": newest, "supported": living})
    return rows


def _variant(component: str, system: str) -> str:
    if component == "nvidia-driver":
        return "windows" if system in ("windows", "wsl") else "linux"
    return {"linux": "ubuntu", "windows": "home-pro"}.get(component, "")
