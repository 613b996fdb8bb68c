"""Queries on stacks and components, each with a fixed number of database queries; rows are plain data."""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Protocol, TypeVar

from django.utils.translation import get_language

from stackviz.draw.colours import hue_of
from stackviz.draw.diagrams.boxes import Box, BoxCounterpart, SourceLink, StackColumn
from stackviz.draw.diagrams.layers import Layer, State
from stackviz.records.catalog.models import Source
from stackviz.records.stacks.files import DATA
from stackviz.records.stacks.models import Call, Component, Counterpart, Edition, Placement, Stack, UnfilledRole
from stackviz.records.stacks.requirements import DescribedColumn, by_component, described_needs
from stackviz.records.stacks.rule_tables import requirement_rows
from stackviz.web.i18n.curated_text import curated_words


def described_columns(slugs: Iterable[str]) -> dict[str, StackColumn]:
    """Slug -> column of the described stacks; unknown slugs are left out. One query, seven after a change."""
    wanted = set(slugs)
    if not wanted:
        return {}
    columns = _columns(Edition.current(), get_language() or "")
    return {slug: column for slug, column in columns.items() if slug in wanted}


def described_column(slug: str) -> StackColumn | None:
    """The column of one described stack; None if there is none of this slug."""
    return described_columns([slug]).get(slug)


def public_stacks() -> tuple[Stack, ...]:
    """The public stacks. One query, two after a change of the data."""
    return _public_stacks(Edition.current())


@lru_cache(maxsize=2)
def _public_stacks(_edition: str) -> tuple[Stack, ...]:
    return tuple(Stack.objects.filter(is_public=True))


@lru_cache(maxsize=4)
def _columns(_edition: str, _language: str) -> Mapping[str, StackColumn]:
    """All public stacks, cached per edition, which every change of a row renews."""
    stacks = public_stacks()
    placements: dict[int, list[Placement]] = defaultdict(list)
    standing = Placement.objects.filter(kind=Placement.Kind.LAYER)
    for placement in standing.select_related("component__source", "component__part_of").order_by("order"):
        placements[placement.stack_id].append(placement)
    calls: dict[tuple[int, int], list[str]] = defaultdict(list)
    for call in Call.objects.select_related("callee").order_by("pk"):
        calls[call.stack_id, call.caller_id].append(call.callee.local_name)
    others = counterpart_boxes(Counterpart.objects.select_related("component", "other", "source").order_by("pk"))
    unfilled: dict[int, list[UnfilledRole]] = defaultdict(list)
    for row in UnfilledRole.objects.select_related("done_by", "source").order_by("pk"):
        unfilled[row.stack_id].append(row)
    layers = layers_of_roles(Component.objects.all(), chain.from_iterable(placements.values()))
    demands = by_component(requirement_rows())
    columns = {
        stack.slug: DescribedColumn(
            key=f"stack:{stack.slug}",
            title=stack.local_name,
            subtitle="",
            url=stack.get_absolute_url(),
            hue=hue_of(stack.vendor),
            boxes=(
                *(box_of(placed, calls, others[placed.component_id]) for placed in in_layers(placements[stack.pk])),
                *(unfilled_box(row, layers) for row in unfilled[stack.pk] if row.role in layers),
            ),
            demands=demands,
        )
        for stack in stacks
    }
    return {stack.slug: described_needs(columns[stack.slug], stack.system) for stack in stacks}


def in_layers(placements: Iterable[Placement]) -> list[Placement]:
    layers = list(Layer)
    return sorted(placements, key=lambda placed: (layers.index(Layer(placed.component.layer)), placed.order))


def layers_of_roles(components: Iterable[Component], placements: Iterable[Placement]) -> dict[str, Layer]:
    """Role -> the layer it is drawn on: that of a component placed with it, or else of any component with it."""
    layers = {component.role: Layer(component.layer) for component in components}
    return layers | {placed.role or placed.component.role: Layer(placed.component.layer) for placed in placements}


def counterpart_boxes(rows: Iterable[Counterpart]) -> dict[int, list[BoxCounterpart]]:
    """Component id -> its counterparts on other stacks."""
    others: dict[int, list[BoxCounterpart]] = defaultdict(list)
    for row in rows:
        for component, other in ((row.component, row.other), (row.other, row.component)):
            others[component.pk].append(
                BoxCounterpart(other.slug, other.local_name, row.differs, source_link(row.source))
            )
    return others


def box_of(placed: Placement, calls: Mapping[tuple[int, int], Sequence[str]], others: Sequence[BoxCounterpart]) -> Box:
    component = placed.component
    return Box(
        component=component.slug,
        role=placed.role or component.role,
        layer=Layer(component.layer),
        name=component.local_name,
        version=curated_words(placed.version),
        summary=f"{component.description} {placed.note}".rstrip(),
        url=component.get_absolute_url(),
        calls=tuple(calls.get((placed.stack_id, component.pk), ())),
        see_version=component.see_version,
        source=source_link(component.source),
        counterparts=tuple(others),
        part_of=component.part_of.slug if component.part_of else "",
        install=component.install,
        since=placed.since,
        until=placed.until,
    )


def source_link(source: Source) -> SourceLink:
    return SourceLink(source.title, source.url)


def unfilled_box(row: UnfilledRole, layers: Mapping[str, Layer]) -> Box:
    """The box of a role without a component, with the name and page of the one that does its job; "" if none does."""
    return Box(
        component="",
        role=row.role,
        layer=layers[row.role],
        name=row.done_by.local_name if row.done_by else "",
        state=State.ABSENT,
        summary=row.explanation,
        url=row.done_by.get_absolute_url() if row.done_by else "",
        source=source_link(row.source),
    )


def names_of_components() -> Mapping[str, str]:
    """Slug -> name in the language of the page. No query but that for the edition; one more after a change."""
    return _names(Edition.current(), get_language() or "")


@lru_cache(maxsize=4)
def _names(_edition: str, _language: str) -> Mapping[str, str]:
    names = Component.objects.order_by().values_list("slug", "name")
    return MappingProxyType({slug: curated_words(name) for slug, name in names})


FILE = "stacks.toml"


class StackLike(Protocol):
    @property
    def slug(self) -> str: ...
    @property
    def vendor(self) -> str: ...


_Stack = TypeVar("_Stack", bound=StackLike)


def stacks_of_accelerator(stacks: Iterable[_Stack], vendor: str, accelerator: str = "") -> list[_Stack]:
    """Those of these stacks that the accelerator runs, in their order; the first is the one it is drawn on.

    A stack made for certain accelerators is the only one of those, and none of the others. Without an accelerator all
    of the vendor's.
    """
    of_vendor = [stack for stack in stacks if stack.vendor == vendor]
    if not accelerator:
        return of_vendor
    made_for_it = [stack for stack in of_vendor if _is_made_for(stack.slug, accelerator)]
    return made_for_it or [stack for stack in of_vendor if not accelerator_patterns().get(stack.slug)]


def _is_made_for(stack: str, accelerator: str) -> bool:
    return any(fnmatchcase(accelerator, pattern) for pattern in accelerator_patterns().get(stack, ()))


@lru_cache(maxsize=1)
def accelerator_patterns() -> Mapping[str, tuple[str, ...]]:
    """Stack -> patterns of the slugs of the only accelerators that run it; stacks of any accelerator are left out."""
    stacks = tomllib.loads((DATA / FILE).read_text(encoding="utf-8"))
    return {slug: tuple(stack["accelerators"]) for slug, stack in stacks.items() if "accelerators" in stack}
