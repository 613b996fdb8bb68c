"""`/sitemap.xml`: every public page with the day it last changed, in files of at most 50,000 addresses."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser
from django.contrib.sitemaps import Sitemap
from django.contrib.sitemaps.views import index, sitemap
from django.db.models import Max, QuerySet
from django.urls import path, reverse

from stackviz.accelerators.sheet import last_changes
from stackviz.catalog.queries import public_catalogue
from stackviz.cited.registry import CITED_BENCHMARKS
from stackviz.labs.models import Machine
from stackviz.labs.queries import visible_machines
from stackviz.measuring import BENCHMARKS
from stackviz.stacks.models import Component
from stackviz.stacks.operators import operators
from stackviz.stacks.queries import public_stacks

__all__ = ["SECTIONS", "urlpatterns"]

MOST_ADDRESSES = 50_000  # of one file: the limit of the protocol
PAGES = (
    "pages:home", "catalog:list", "stacks:list", "stacks:operators", "results:index", "machines:list", "compare:page",
    "fit:page", "diagnose:page", "plan:page", "pages:learn", "catalog:claims", "catalog:changes", "opendata:index",
    "opendata:schema", "explore:ladder", "explore:scatter", "explore:heatmap", "explore:timeline",
    "performance:roofline", "performance:share", "performance:scaling", "machines:coverage",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MappedPage:
    """`changed_at` None: nobody recorded when the page changed."""

    url: str
    changed_at: datetime | None = None


if TYPE_CHECKING:  # Django's classes take type arguments only from its stubs
    _MapOfPages = Sitemap[MappedPage]
    _MapOfMachines = Sitemap[Machine]
else:
    _MapOfPages = _MapOfMachines = Sitemap


class _Pages(_MapOfPages):
    limit = MOST_ADDRESSES

    def location(self, item: MappedPage) -> str:
        return item.url

    def lastmod(self, item: MappedPage) -> datetime | None:
        return item.changed_at


class _FixedPages(_Pages):
    def items(self) -> Sequence[MappedPage]:
        return [MappedPage(reverse(name)) for name in PAGES]


class _Accelerators(_Pages):
    def items(self) -> Sequence[MappedPage]:
        catalogue = public_catalogue()
        changed = last_changes(catalogue)
        rows = sorted(catalogue.accelerators, key=lambda row: row.pk)
        return [MappedPage(row.get_absolute_url(), changed.get(row.pk)) for row in rows]


class _Stacks(_Pages):
    def items(self) -> Sequence[MappedPage]:
        urls = [stack.get_absolute_url() for stack in public_stacks()]
        urls += [component.get_absolute_url() for component in Component.objects.order_by("slug")]
        urls += [reverse("stacks:operator", args=[slug]) for slug in operators()]
        return [MappedPage(url) for url in urls]


class _Benchmarks(_Pages):
    def items(self) -> Sequence[MappedPage]:
        keys = sorted({*CITED_BENCHMARKS, *BENCHMARKS})
        return [MappedPage(reverse("results:benchmark", args=[key])) for key in keys]


class _Machines(_MapOfMachines):
    """Of public labs, to strangers and members alike."""

    limit = MOST_ADDRESSES

    def items(self) -> "QuerySet[Machine]":
        return visible_machines(AnonymousUser()).filter(latest_snapshot__isnull=False).order_by("pk")

    def lastmod(self, item: Machine) -> datetime | None:
        return item.latest_taken_at

    def get_latest_lastmod(self) -> datetime | None:
        """Of all of them, without reading them all, as Django would."""
        newest: datetime | None = self.items().aggregate(newest=Max("latest_taken_at"))["newest"]
        return newest


SECTIONS: dict[str, type[_MapOfPages] | type[_MapOfMachines]] = {
    "pages": _FixedPages,
    "accelerators": _Accelerators,
    "stacks": _Stacks,
    "benchmarks": _Benchmarks,
    "machines": _Machines,
}


urlpatterns = [
    path("sitemap.xml", index, {"sitemaps": SECTIONS, "sitemap_url_name": "sharing:sitemap-section"}, name="sitemap"),
    path("sitemap-<section>.xml", sitemap, {"sitemaps": SECTIONS}, name="sitemap-section"),
]
