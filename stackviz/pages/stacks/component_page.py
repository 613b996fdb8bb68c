"""The page of one component: the stacks that contain it, counterparts, terms, releases with their requirements."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz.draw.diagrams.layers import Layer
from stackviz.records.catalog.models import Source
from stackviz.records.stacks.limits import parse_limits
from stackviz.records.stacks.models import Call, Component, Counterpart, Placement, Release, Requirement, UnfilledRole
from stackviz.records.stacks.table_checks import releases_of
from stackviz.records.stacks.terms import terms_of
from stackviz.report.rules.versions import numbers
from stackviz.web.i18n.curated_text import curated_words

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


@dataclass(slots=True)
class StandingInStack:
    """A component in one stack: its callees, callers and monitoring tools there."""

    placed: Placement
    calls: list[Component] = field(default_factory=list)
    called_by: list[Component] = field(default_factory=list)
    watched_by: list[Component] = field(default_factory=list)

    @property
    def is_undrawn(self) -> bool:
        return self.placed.kind != Placement.Kind.LAYER

    @property
    def version(self) -> str:
        return curated_words(self.placed.version)

    @property
    def neighbours(self) -> list[tuple[str, Sequence[Component]]]:
        """Callers, callees and tools, each under its title. Of an undrawn component, which reads, only those it has."""
        listed = (
            (_("Called by"), self.called_by, not self.is_undrawn),
            (_("Reads") if self.is_undrawn else _("Calls"), self.calls, not self.is_undrawn),
            (_("Monitored by"), self.watched_by, False),
        )
        return [(title, components) for title, components, is_expected in listed if components or is_expected]

    @property
    def limits(self) -> list[str]:
        """`since PyTorch 2.0`; empty for a component without limits."""
        since, until = self._releases(self.placed.since), self._releases(self.placed.until)
        return [
            *([_("since %(release)s") % {"release": since}] if since else []),
            *([_("until %(release)s") % {"release": until}] if until else []),
        ]

    def _releases(self, limits: str) -> str:
        whole = self.placed.component.part_of
        names = {whole.slug: whole.local_name} if whole else {}
        return ", ".join(f"{subject_name(subject, names)} {release}" for subject, release in parse_limits(limits))


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementRow:
    """One requirement as text: needs | NVIDIA driver | 525.60.13 or newer | linux."""

    relation: str
    subject: str
    source: Source
    subject_url: str = ""
    how_much: str = ""
    where: str = ""
    is_sure: bool
    note: str = ""


def component_page(slug: str, *, all_releases: bool = False) -> dict[str, Any] | None:
    """Return what the page of a component shows; None if there is none of this slug. At most nine queries.

    `counterparts`: with the component on the other side; `unfilled`: its role on stacks where no component has it,
    and what it does there in place of others;
    `has_dates`: of any release.
    """
    component = Component.objects.select_related("source", "part_of").filter(slug=slug).first()
    if component is None:
        return None
    counterparts = Counterpart.objects.filter(Q(component=component) | Q(other=component)).order_by("pk")
    unfilled = UnfilledRole.objects.filter(Q(role=component.role) | Q(done_by=component), stack__is_public=True)
    releases = newest_first(component.releases.select_related("source"))
    return {
        "component": component,
        "layer": Layer(component.layer).label,
        "standings": _standings(component),
        "counterparts": [
            (row, row.other if row.component_id == component.pk else row.component)
            for row in counterparts.select_related("component", "other", "source")
        ],
        "unfilled": unfilled.select_related("stack", "done_by", "source").order_by("stack__order"),
        "terms": terms_of(slug),
        "releases": with_requirements(releases if all_releases else releases[:NEWEST_RELEASES]),
        "releases_table": releases_of([slug])[0],
        "release_count": len(releases),
        "has_dates": any(release.released or release.support_ends for release in releases),
    }


def newest_first(releases: Iterable[Release]) -> list[Release]:
    """Newest first: 12.10 before 12.9, Apple10 before Apple9; variants of one version in alphabetical order."""
    by_variant = sorted(releases, key=lambda release: release.variant)
    return sorted(by_variant, key=lambda release: _version_numbers(release.version), reverse=True)


def _version_numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version; of a name ("Apple10") the numbers in it."""
    return numbers(version) or tuple(int(part) for part in re.findall(r"\d{1,9}", version))


def _standings(component: Component) -> list[StandingInStack]:
    """Three queries."""
    tools = set(Placement.objects.filter(kind=Placement.Kind.TOOL).values_list("stack_id", "component_id"))
    placements = Placement.objects.filter(component=component, stack__is_public=True).select_related("stack")
    standings = {placed.stack_id: StandingInStack(placed) for placed in placements.order_by("stack__order")}
    for standing in standings.values():
        standing.placed.component = component  # with its whole
    calls = Call.objects.filter(Q(caller=component) | Q(callee=component), stack__in=standings)
    for call in calls.select_related("caller", "callee"):
        standing = standings[call.stack_id]
        if call.caller_id == component.pk:
            standing.calls.append(call.callee)
        elif (call.stack_id, call.caller_id) in tools:
            standing.watched_by.append(call.caller)
        else:
            standing.called_by.append(call.caller)
    return list(standings.values())


def with_requirements(releases: Sequence[Release]) -> list[tuple[Release, str, tuple[RequirementRow, ...]]]:
    """(release, its version in words, requirements). Two queries: all requirements, and the names of their subjects."""
    requirements: dict[int, list[Requirement]] = defaultdict(list)
    subjects = set()
    for row in Requirement.objects.filter(release__in=releases).select_related("source"):
        requirements[row.release_id].append(row)
        subjects.add(row.subject)
    names = {row.slug: row.local_name for row in Component.objects.filter(slug__in=subjects).only("slug", "name")}
    return [
        (
            release,
            _("any release") if release.version == ANY_RELEASE else release.version,
            _requirement_rows(requirements[release.pk], names),
        )
        for release in releases
    ]


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
        subject=", ".join(subject_name(row.subject, names) for row in rows),
        where=_part_and_platform(first) if len(rows) == 1 else "",
        is_sure=all(row.confidence == Requirement.Confidence.HIGH for row in rows),
        source=first.source,
    )


def _requirement_row(row: Requirement, names: Mapping[str, str]) -> RequirementRow:
    return RequirementRow(
        relation=row.get_relation_display(),
        subject=subject_name(row.subject, names),
        subject_url=reverse("stacks:component", args=[row.subject]) if row.subject in names else "",
        how_much=row.values or (f"≥ {row.low}" if row.low else ""),
        where=_part_and_platform(row),
        is_sure=row.confidence == Requirement.Confidence.HIGH,
        note=row.note,
        source=row.source,
    )


def _part_and_platform(row: Requirement) -> str:
    return " · ".join(filter(None, (row.part, row.platform)))


def subject_name(subject: str, names: Mapping[str, str]) -> str:
    return names.get(subject) or str(SUBJECT_NAMES.get(subject) or subject.replace("-", " "))
