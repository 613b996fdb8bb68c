"""The page of a line of releases: the answer in sentences, its releases with what they need, and what needs them."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from stackviz.pages.stacks.component_page import newest_first, subject_name, with_requirements
from stackviz.pages.stacks.release_answer import line_state, release_answer
from stackviz.records.stacks.lifecycle import STATES
from stackviz.records.stacks.models import Component, Release
from stackviz.records.stacks.release_lines import (
    ReleaseLine,
    ReleaseUse,
    lines_of_product,
    release_lines,
    siblings,
    uses_of,
)
from stackviz.records.stacks.table_checks import releases_of
from stackviz.report.rules import RuleSource, Tables
from stackviz.report.rules.versions import same_line

# Relation of a requirement -> what the product that states it does with the release.
USES: Mapping[str, str | Promise] = {
    "needs": _("needs it"),
    "ships": _("ships it"),
    "offers": _("has builds for it"),
    "supports": _("supports it"),
    "built-for": _("has code for it"),
    "compiles-for": _("can be compiled for it"),
    "ends-with": _("ends with it"),
}
NEEDS_AT_LEAST = _("needs it or a newer one")


@dataclass(frozen=True, slots=True)
class UseRow:
    """What one product does with the release. `url`: of its component, "" where that is not described."""

    name: str
    url: str
    how: str | Promise
    lines: tuple[ReleaseLine, ...]
    source: RuleSource


def release_page(tables: Tables, line: ReleaseLine, today: str) -> dict[str, object]:
    """Return what the page of a line shows, as of today. Four queries."""
    versions = {release.version for release in line.releases}
    rows = Release.objects.filter(component__slug__in=line.components, version__in=versions)
    releases = [row for row in rows.select_related("component", "source") if _is_of(line, row)]
    described = {row.slug: row for row in Component.objects.only("slug", "name")}
    state, end = line_state(line, today)
    around = siblings(tables, line)
    at = around.index(line)
    return {
        "line": line,
        "answer": release_answer(tables, line, today),
        "components": [described[slug] for slug in line.components if slug in described],
        "support": (*STATES[state], end),
        "family": next((other for other in lines_of_product(tables, line.product) if _is_family(other, line)), None),
        "previous": around[at - 1] if at else None,
        "next": around[at + 1] if at + 1 < len(around) else None,
        "newest": around[-1] if around[-1] != line else None,
        "releases": with_requirements(newest_first(releases)),
        "has_dates": any(release.released or release.support_ends for release in releases),
        "releases_table": releases_of(line.components)[0],
        "uses": [_use_row(use, described) for use in uses_of(tables, line)],
    }


def _is_family(other: ReleaseLine, line: ReleaseLine) -> bool:
    """Whether the other is all of a major version, such as CUDA 12, and has the line."""
    return other != line and "." not in other.version and same_line(line.version, other.version)


def _is_of(line: ReleaseLine, row: Release) -> bool:
    wanted = {(release.component, release.version, release.variant) for release in line.releases}
    return (row.component.slug, row.version, row.variant) in wanted


def _use_row(use: ReleaseUse, described: Mapping[str, Component]) -> UseRow:
    component = described.get(use.component)
    return UseRow(
        name=component.local_name if component else subject_name(use.component, {}),
        url=component.get_absolute_url() if component else "",
        how=NEEDS_AT_LEAST if use.is_least and use.relation == "needs" else USES[use.relation],
        lines=use.lines,
        source=use.source,
    )


def products(tables: Tables) -> list[tuple[str, str, tuple[ReleaseLine, ...]]]:
    """(product, its name, its lines, the newest first) of all products, by name."""
    named = {line.product: line.name.removesuffix(line.version).strip() for line in release_lines(tables).values()}
    by_name = sorted(named.items(), key=lambda item: item[1].casefold())
    return [(product, name, lines_of_product(tables, product)[::-1]) for product, name in by_name]
