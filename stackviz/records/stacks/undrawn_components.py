"""Components of a stack that are on none of its layers: monitoring tools and related components."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from django.utils.translation import get_language

from stackviz.draw.diagrams.boxes import SourceLink
from stackviz.draw.diagrams.layers import Layer, role_title
from stackviz.records.stacks.models import Call, Edition, Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A monitoring tool. `reads`: (name, address) of the components it reads."""

    name: str
    url: str
    role: str
    what_it_is: str
    what_it_does: str
    install: str
    see_version: str
    reads: tuple[tuple[str, str], ...]
    source: SourceLink

    @property
    def role_title(self) -> str:
        """In the current language; the cached rows serve all languages."""
        return role_title(self.role)


@dataclass(frozen=True, slots=True)
class Beside:
    """A component that belongs to the stack without being drawn."""

    name: str
    url: str
    layer: str
    role: str
    what_it_is: str

    @property
    def role_title(self) -> str:
        return role_title(self.role)


@dataclass(frozen=True, slots=True)
class UndrawnComponents:
    """The monitoring tools of a stack, and its related components."""

    tools: tuple[Tool, ...] = ()
    beside: tuple[Beside, ...] = ()


def undrawn_components(stack: str) -> UndrawnComponents:
    """The undrawn components of a public stack. One query, three after a change of the data."""
    return _by_stack(Edition.current(), get_language() or "").get(stack, UndrawnComponents())


@lru_cache(maxsize=4)
def _by_stack(_edition: str, _language: str) -> Mapping[str, UndrawnComponents]:
    reads: dict[tuple[int, int], list[tuple[str, str]]] = defaultdict(list)
    for call in Call.objects.select_related("callee").order_by("pk"):
        reads[call.stack_id, call.caller_id].append((call.callee.local_name, call.callee.get_absolute_url()))
    tools: dict[str, list[Tool]] = defaultdict(list)
    beside: dict[str, list[tuple[int, Beside]]] = defaultdict(list)
    placements = Placement.objects.filter(stack__is_public=True).exclude(kind=Placement.Kind.LAYER)
    for placed in placements.select_related("stack", "component__source").order_by("order", "pk"):
        if placed.kind == Placement.Kind.TOOL:
            tools[placed.stack.slug].append(_tool(placed, reads[placed.stack_id, placed.component_id]))
        else:
            depth = list(Layer).index(Layer(placed.component.layer))
            beside[placed.stack.slug].append((depth, _beside(placed)))
    return {
        slug: UndrawnComponents(
            tuple(tools[slug]),
            tuple(row for _depth, row in sorted(beside[slug], key=lambda pair: pair[0])),
        )
        for slug in {*tools, *beside}
    }


def _tool(placed: Placement, reads: list[tuple[str, str]]) -> Tool:
    component = placed.component
    return Tool(
        name=component.local_name,
        url=component.get_absolute_url(),
        role=component.role,
        what_it_is=component.what_it_is,
        what_it_does=component.what_it_does,
        install=component.install,
        see_version=component.see_version,
        reads=tuple(reads),
        source=SourceLink(component.source.title, component.source.url),
    )


def _beside(placed: Placement) -> Beside:
    component = placed.component
    return Beside(
        component.local_name, component.get_absolute_url(), component.layer, component.role, component.what_it_is
    )
