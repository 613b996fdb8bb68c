"""Queries on stacks and components, each with a fixed number of database queries; rows are plain data."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import Q
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from stackviz.draw.diagrams.boxes import Box, BoxCounterpart, SourceLink, StackColumn
from stackviz.draw.diagrams.layers import Layer, State, role_title
from stackviz.records.catalog.models import Source
from stackviz.records.stacks.limits import parse_limits
from stackviz.records.stacks.models import Call, Component, Counterpart, Edition, Placement, Release, Requirement, Stack
from stackviz.records.stacks.requirements import DescribedColumn, by_component, described_needs
from stackviz.records.stacks.rule_tables import requirement_rows
from stackviz.records.stacks.table_checks import releases_of
from stackviz.records.stacks.terms import StackTerm, terms_of
from stackviz.records.stacks.versions import newest_first
from stackviz.web.curated_text import curated_words

NEWEST_RELEASES = 12
# Names of requirement subjects that are no components and whose slug is not readable.
SUBJECT_NAMES: Mapping[str, str | Promise] = {
    **{f"tensor-core-{kind}": format_lazy(gettext_lazy("tensor cores {dtype}"), dtype=kind.upper()) for kind in (
        "fp64", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4", "int8", "int4",
    )},
    "bf16-arithmetic": gettext_lazy("BF16 arithmetic"),
    "bfloat": "bfloat16",
    "fp8": "FP8",
    "fp32-to-fp64-ratio": "FP32 : FP64",
    "shared-memory-kb-per-sm": gettext_lazy("KB of shared memory per SM"),
    "threads-per-sm": gettext_lazy("threads per SM"),
    "tensor-memory-accelerator": gettext_lazy("tensor memory accelerator (TMA)"),
    "int64-atomics": gettext_lazy("64-bit atomics"),
    "ml-encoding": gettext_lazy("machine-learning encoding"),
    "compute-capability": gettext_lazy("compute capability"),
}  # fmt: skip
ANY_RELEASE = "0.0"  # in the tables: holds for all releases


# --- columns of the diagram ---


def described_columns(slugs: Iterable[str]) -> dict[str, StackColumn]:
    """Slug -> column of the described stacks; unknown slugs are left out. One query, five after a change."""
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
    others, gaps = counterpart_boxes(Counterpart.objects.select_related("component", "other", "source").order_by("pk"))
    demands = by_component(requirement_rows())
    columns = {
        stack.slug: DescribedColumn(
            key=f"stack:{stack.slug}",
            title=stack.local_name,
            subtitle="",
            url=stack.get_absolute_url(),
            boxes=(
                *(box_of(placed, calls, others[placed.component_id]) for placed in in_layers(placements[stack.pk])),
                *(gap_box(gap) for gap in gaps[stack.pk]),
            ),
            demands=demands,
        )
        for stack in stacks
    }
    return {stack.slug: described_needs(columns[stack.slug], stack.system) for stack in stacks}


def in_layers(placements: Iterable[Placement]) -> list[Placement]:
    layers = list(Layer)
    return sorted(placements, key=lambda placed: (layers.index(Layer(placed.component.layer)), placed.order))


def counterpart_boxes(
    rows: Iterable[Counterpart],
) -> tuple[dict[int, list[BoxCounterpart]], dict[int, list[Counterpart]]]:
    """(component id -> counterparts on other stacks, stack id -> components without a counterpart there)."""
    others: dict[int, list[BoxCounterpart]] = defaultdict(list)
    gaps: dict[int, list[Counterpart]] = defaultdict(list)
    for row in rows:
        if row.other is None:
            gaps[row.other_stack_id or 0].append(row)
            continue
        for component, other in ((row.component, row.other), (row.other, row.component)):
            others[component.pk].append(
                BoxCounterpart(other.slug, other.local_name, row.differs, source_link(row.source))
            )
    return others, gaps


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


def gap_box(gap: Counterpart) -> Box:
    component = gap.component
    return Box(
        component=component.slug,
        role=component.role,
        layer=Layer(component.layer),
        name=component.local_name,
        state=State.ABSENT,
        summary=gap.differs,
        source=source_link(gap.source),
    )


# --- pages ---


@dataclass(frozen=True, slots=True, kw_only=True)
class StackRow:
    """One stack in the list. `subject`: its name in addresses of comparisons; `vendor`: of its accelerators."""

    slug: str
    name: str
    vendor: str
    system: str
    summary: str
    url: str
    subject: str
    component_count: int
    layers: tuple[tuple[str, str, str], ...]  # key, name, names of the components of that layer


def stack_rows() -> list[StackRow]:
    """All public stacks with the components of each layer. Two queries, six after a change of the data."""
    stacks = list(Stack.objects.filter(is_public=True))
    columns = described_columns(stack.slug for stack in stacks)
    return [_stack_row(stack, columns[stack.slug]) for stack in stacks if stack.slug in columns]


def _stack_row(stack: Stack, column: StackColumn) -> StackRow:
    boxes = [box for box in column.boxes if box.state != State.ABSENT]
    layers = tuple(
        (layer.value, layer.label, ", ".join(box.name for box in boxes if box.layer == layer)) for layer in Layer
    )
    return StackRow(
        slug=stack.slug,
        name=stack.local_name,
        vendor=stack.vendor,
        system=stack.system,
        summary=stack.summary,
        url=stack.get_absolute_url(),
        subject=f"stack:{stack.slug}",
        component_count=len(boxes),
        layers=layers,
    )


@dataclass(frozen=True, slots=True)
class LayerSection:
    """One layer of a stack: its boxes, and its gaps."""

    key: str
    name: str
    boxes: tuple[Box, ...]
    gaps: tuple[Box, ...]


def layer_sections(column: StackColumn) -> list[LayerSection]:
    """The boxes of a column by layer, top to bottom, with gaps listed separately. No query."""
    return [
        LayerSection(
            layer.value,
            layer.label,
            tuple(box for box in column.boxes if box.layer == layer and box.state != State.ABSENT),
            tuple(box for box in column.boxes if box.layer == layer and box.state == State.ABSENT),
        )
        for layer in Layer
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingInStack:
    """A component in one stack: its callees, callers and monitoring tools there, as (name, url)."""

    slug: str
    stack: str
    url: str
    kind: str  # in words; "" for a component on its layer
    version: str
    note: str
    limits: str  # since and until, in words
    calls: tuple[tuple[str, str], ...]
    called_by: tuple[tuple[str, str], ...]
    watched_by: tuple[tuple[str, str], ...]

    @property
    def neighbours(self) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
        """Callers, callees and tools, each under its title; of a tool, which reads, only what there is."""
        is_tool = bool(self.kind)
        listed = (
            (_("Called by"), self.called_by, not is_tool),
            (_("Reads") if is_tool else _("Calls"), self.calls, not is_tool),
            (_("Monitored by"), self.watched_by, False),
        )
        return tuple((title, links) for title, links, is_expected in listed if links or is_expected)


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterpartRow:
    """A counterpart of a component on another stack. `url` "": the stack has none."""

    name: str
    url: str
    where: str
    relation: str
    differs: str
    source: SourceLink


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementRow:
    """One requirement as text: needs | NVIDIA driver | 525.60.13 or newer | linux."""

    relation: str
    subject: str
    subject_url: str
    how_much: str
    where: str
    is_sure: bool
    note: str
    source: SourceLink


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRow:
    """One release with its requirements."""

    version: str
    variant: str
    line: str
    released: str
    support_ends: str
    note: str
    source: SourceLink
    requirements: tuple[RequirementRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentPage:
    """The page of one component."""

    component: Component
    layer: str
    role: str
    standings: tuple[StandingInStack, ...]
    counterparts: tuple[CounterpartRow, ...]
    terms: tuple[StackTerm, ...]
    releases: tuple[ReleaseRow, ...]
    release_count: int
    has_dates: bool  # of any release

    @property
    def releases_table(self) -> str:
        """The name under which the checks of its releases are kept."""
        return releases_of([self.component.slug])[0]


def component_page(slug: str, *, all_releases: bool = False) -> ComponentPage | None:
    """The page of a component; None if there is none of this slug. At most eight queries."""
    component = Component.objects.select_related("source", "part_of").filter(slug=slug).first()
    if component is None:
        return None
    releases = newest_first(component.releases.select_related("source"))
    shown = releases if all_releases else releases[:NEWEST_RELEASES]
    return ComponentPage(
        component=component,
        layer=Layer(component.layer).label,
        role=role_title(component.role),
        standings=_standings(component),
        counterparts=_counterpart_rows(component),
        terms=tuple(terms_of(slug)),
        releases=_release_rows(shown),
        release_count=len(releases),
        has_dates=any(release.released or release.support_ends for release in releases),
    )


def _standings(component: Component) -> tuple[StandingInStack, ...]:
    """Four queries."""
    calls: dict[int, list[tuple[str, str]]] = defaultdict(list)
    called_by: dict[int, list[tuple[str, str]]] = defaultdict(list)
    watched_by: dict[int, list[tuple[str, str]]] = defaultdict(list)
    tools = set(Placement.objects.filter(kind=Placement.Kind.TOOL).values_list("stack_id", "component_id"))
    for call in Call.objects.filter(Q(caller=component) | Q(callee=component)).select_related("caller", "callee"):
        if call.caller_id == component.pk:
            calls[call.stack_id].append((call.callee.local_name, call.callee.get_absolute_url()))
        else:
            callers = watched_by if (call.stack_id, call.caller_id) in tools else called_by
            callers[call.stack_id].append((call.caller.local_name, call.caller.get_absolute_url()))
    placements = Placement.objects.filter(component=component, stack__is_public=True).select_related("stack")
    return tuple(
        StandingInStack(
            slug=placed.stack.slug,
            stack=placed.stack.local_name,
            url=placed.stack.get_absolute_url(),
            kind="" if placed.kind == Placement.Kind.LAYER else str(Placement.Kind(placed.kind).label),
            version=curated_words(placed.version),
            note=placed.note,
            limits=_limits_text(placed, component),
            calls=tuple(calls[placed.stack_id]),
            called_by=tuple(called_by[placed.stack_id]),
            watched_by=tuple(watched_by[placed.stack_id]),
        )
        for placed in placements.order_by("stack__order")
    )


def _limits_text(placed: Placement, component: Component) -> str:
    """`since PyTorch 2.0`; "" for a component without limits."""
    since, until = _release_texts(placed.since, component), _release_texts(placed.until, component)
    return " · ".join(
        filter(
            None,
            (
                _("since %(release)s") % {"release": since} if since else "",
                _("until %(release)s") % {"release": until} if until else "",
            ),
        )
    )


def _release_texts(limits: str, component: Component) -> str:
    whole = component.part_of
    names = {whole.slug: whole.local_name} if whole else {}
    return ", ".join(f"{_subject_name(subject, names)} {release}" for subject, release in parse_limits(limits))


def _counterpart_rows(component: Component) -> tuple[CounterpartRow, ...]:
    rows = Counterpart.objects.filter(Q(component=component) | Q(other=component)).order_by("pk")
    counterparts = []
    for row in rows.select_related("component", "other", "other_stack", "source"):
        other = row.other if row.component_id == component.pk else row.component
        where = row.other_stack.local_name if row.other_stack else ""
        counterparts.append(
            CounterpartRow(
                name=other.local_name if other else "",
                url=other.get_absolute_url() if other else "",
                where=where,
                relation=str(Counterpart.Relation(row.relation).label),
                differs=row.differs,
                source=source_link(row.source),
            )
        )
    return tuple(counterparts)


def _release_rows(releases: Sequence[Release]) -> tuple[ReleaseRow, ...]:
    """Two queries: the requirements of all these releases, and the names of their subjects."""
    requirements: dict[int, list[Requirement]] = defaultdict(list)
    subjects = set()
    for row in Requirement.objects.filter(release__in=releases).select_related("source"):
        requirements[row.release_id].append(row)
        subjects.add(row.subject)
    names = {row.slug: row.local_name for row in Component.objects.filter(slug__in=subjects).only("slug", "name")}
    return tuple(
        ReleaseRow(
            version=_("any release") if release.version == ANY_RELEASE else release.version,
            variant=release.variant,
            line=release.line,
            released=release.released,
            support_ends=release.support_ends,
            note=release.note,
            source=source_link(release.source),
            requirements=_requirement_rows(requirements[release.pk], names),
        )
        for release in releases
    )


def _requirement_rows(rows: Sequence[Requirement], names: Mapping[str, str]) -> tuple[RequirementRow, ...]:
    """One row per requirement, except yes/no features of a card, which share a row."""
    listed: dict[tuple[str, int], list[Requirement]] = defaultdict(list)
    separate = []
    for row in rows:
        if row.relation == Requirement.Relation.OFFERS and row.values in ("yes", "no") and not row.note:
            listed[row.values, row.source_id].append(row)
        else:
            separate.append(_requirement_row(row, names))
    return (*(_offers_row(alike, names) for _key, alike in sorted(listed.items(), reverse=True)), *separate)


def _offers_row(rows: Sequence[Requirement], names: Mapping[str, str]) -> RequirementRow:
    first = rows[0]
    return RequirementRow(
        relation=_("offers") if first.values == "yes" else _("does not offer"),
        subject=", ".join(_subject_name(row.subject, names) for row in rows),
        subject_url="",
        how_much="",
        where=" · ".join(filter(None, (first.part, first.platform))) if len(rows) == 1 else "",
        is_sure=all(row.confidence == Requirement.Confidence.HIGH for row in rows),
        note="",
        source=source_link(first.source),
    )


def _subject_name(subject: str, names: Mapping[str, str]) -> str:
    return names.get(subject) or str(SUBJECT_NAMES.get(subject) or subject.replace("-", " "))


def _requirement_row(row: Requirement, names: Mapping[str, str]) -> RequirementRow:
    return RequirementRow(
        relation=str(Requirement.Relation(row.relation).label),
        subject=_subject_name(row.subject, names),
        subject_url=reverse("stacks:component", args=[row.subject]) if row.subject in names else "",
        how_much=" ".join(filter(None, (f"≥ {row.low}" if row.low and not row.values else "", row.values))),
        where=" · ".join(filter(None, (row.part, row.platform))),
        is_sure=row.confidence == Requirement.Confidence.HIGH,
        note=row.note,
        source=source_link(row.source),
    )
