"""`/sitemap.xml`: every public page in each language, with the day it last changed; a file has at most 50,000."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.sitemaps import Sitemap
from django.contrib.sitemaps.views import index, sitemap
from django.db.models import Max, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, reverse
from django.views.decorators.http import require_safe

from stackviz.pages.accelerators.sheet import last_changes
from stackviz.pages.learn.chapters import read_chapters
from stackviz.pages.learn.text_files import ENGLISH
from stackviz.pages.learn.trying import all_tries
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.hosts.models import Host, HostEdition
from stackviz.records.labs.models import Machine
from stackviz.records.labs.queries import visible_machines
from stackviz.records.series.public_runs import measured_edition
from stackviz.records.stacks.models import Component, Edition
from stackviz.records.stacks.operators import operators
from stackviz.records.stacks.queries import public_stacks
from stackviz.records.stacks.release_lines import release_lines
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.measuring import BENCHMARKS
from stackviz.report.messages import SYMPTOMS
from stackviz.web.http.address import whole_number
from stackviz.web.i18n.languages import address_in, hreflang_of
from stackviz.web.parts import cached_html

CACHE_S = 600  # the key moves with what is listed
MOST_ADDRESSES = 50_000  # of one file: the limit of the protocol
PAGES = (
    "home:home", "accelerators:list", "stacks:list", "stacks:operators", "stacks:releases", "benchmarks:index",
    "machines:list", "compare:page", "fit:page", "diagnose:page", "diagnose:causes", "plan:page", "learn:index",
    "learn:glossary", "accelerators:claims", "accelerators:changes",
    "data:index", "data:schema", "explore:ladder", "explore:scatter", "explore:heatmap", "explore:timeline",
    "benchmarks:roofline", "benchmarks:share", "benchmarks:scaling",
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


class _InEachLanguage(Sitemap):  # type: ignore[type-arg]
    """Django's own way makes a list of every item in every language: all machines would be read for each file."""

    limit = MOST_ADDRESSES // len(settings.LANGUAGES)  # pages of one file

    def get_urls(self, page: int | str = 1, site: Any = None, protocol: str | None = None) -> list[dict[str, Any]]:  # noqa: ANN401
        """Of each page an entry for each language, which names the others."""
        host = f"{self.get_protocol(protocol)}://{self.get_domain(site)}"
        pages = super().get_urls(page, site, protocol)
        return [entry for english in pages for entry in _entries(english, host)]


def _entries(english: Mapping[str, Any], host: str) -> Iterator[dict[str, Any]]:
    path = english["location"].removeprefix(host)
    urls = {code: host + address_in(code, path) for code, _name in settings.LANGUAGES}
    alternates = [{"lang_code": hreflang_of(code), "location": url} for code, url in urls.items()]
    alternates.append({"lang_code": "x-default", "location": english["location"]})
    for url in urls.values():
        yield {**english, "location": url, "alternates": alternates}


class _Pages(_InEachLanguage, _MapOfPages):
    def location(self, item: MappedPage) -> str:
        return item.url

    def lastmod(self, item: MappedPage) -> datetime | None:
        return item.changed_at


class _FixedPages(_Pages):
    def items(self) -> Sequence[MappedPage]:
        chapters = (reverse("learn:chapter", args=[chapter.slug]) for chapter in read_chapters(ENGLISH))
        tries = (reverse("learn:try", args=[key]) for key in all_tries())
        pages = map(reverse, PAGES)
        return [*map(MappedPage, (*pages, *chapters, *tries))]


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
        urls += [line.url for line in release_lines(rule_tables()).values()]
        return [MappedPage(url) for url in urls]


class _Benchmarks(_Pages):
    def items(self) -> Sequence[MappedPage]:
        keys = sorted({*CITED_BENCHMARKS, *BENCHMARKS})
        return [MappedPage(reverse("benchmarks:benchmark", args=[key])) for key in keys]


class _Messages(_Pages):
    def items(self) -> Sequence[MappedPage]:
        return [MappedPage(reverse("diagnose:cause", args=[symptom.key])) for symptom in SYMPTOMS]


class _Hosts(_Pages):
    def items(self) -> Sequence[MappedPage]:
        rows = Host.objects.filter(state=Host.State.PUBLIC).order_by("pk")
        return [MappedPage(row.get_absolute_url(), row.changed_at) for row in rows]


class _Machines(_InEachLanguage, _MapOfMachines):
    """Of public labs, to strangers and members alike."""

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
    "messages": _Messages,
    "hosts": _Hosts,
    "machines": _Machines,
}


@require_safe
def sitemap_section(request: HttpRequest, section: str) -> HttpResponse:
    """One file, rendered once for each state of what it lists; `?p=` chooses a part of a long one."""
    number = whole_number(request.GET.get("p", "1"), max_digits=4)
    if section not in SECTIONS or number is None:
        raise Http404

    def draw() -> str:
        return sitemap(request, SECTIONS, section).render().content.decode()  # type: ignore[arg-type, no-any-return]

    state = (
        "sitemap",
        section,
        number,
        request.scheme,
        request.get_host(),
        *measured_edition(),
        Edition.current(),
        HostEdition.current(),
    )
    return HttpResponse(
        cached_html(state, draw, CACHE_S), content_type="application/xml", headers={"X-Robots-Tag": "noindex"}
    )


urlpatterns = [
    path("sitemap.xml", index, {"sitemaps": SECTIONS, "sitemap_url_name": "sharing:sitemap-section"}, name="sitemap"),
    path("sitemap-<section>.xml", sitemap_section, name="sitemap-section"),
]
