"""`/compare/h100-sxm5-80gb-vs-m3-max-40/`: short addresses of comparisons, from names that people type.

A name is the slug without its vendor, an alias, a family, or some words of these; one that fits several sheets is
answered with the choices.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.shortcuts import render
from django.urls import path
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from stackviz.pages.compare.query import MOST_SUBJECTS
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue
from stackviz.web.http.address import comparison_query
from stackviz.web.http.addresses import address_by_name

__all__ = ["ShortName", "resolve_names", "short_address", "short_comparison", "urlpatterns"]

BETWEEN = "-vs-"
MOST_CHARS = 300
MOST_CHOICES = 12


@dataclass(frozen=True, slots=True)
class ShortName:
    """A name of the address and the sheets it may mean; the first of several is not preferred."""

    name: str
    sheets: tuple[Accelerator, ...]


def short_address(slugs: Sequence[str]) -> str:
    """The short address of a comparison of these sheets; "" where one is unknown, or fewer than two are named."""
    catalogue = public_catalogue()
    rows = [catalogue.by_slug.get(slug) for slug in slugs]
    if len(rows) < 2 or len(rows) > MOST_SUBJECTS:
        return ""
    names = catalogue.cached("short names") or catalogue.keep("short names", _short_names(catalogue))
    known = [names[row.pk] for row in rows if row is not None]
    return address_by_name("compare:short", BETWEEN.join(known)) if len(known) == len(rows) else ""


def _short_names(catalogue: PublicCatalogue) -> dict[int, str]:
    """pk -> the slug without its vendor, where no other sheet can be meant by that; else the slug."""
    exact = _exact_names(catalogue)
    names = {}
    for row in catalogue.accelerators:
        name = row.slug.removeprefix(f"{row.vendor.slug}-")
        names[row.pk] = name if exact.get(name) == frozenset({row.pk}) and BETWEEN not in name else row.slug
    return names


def _exact_names(catalogue: PublicCatalogue) -> Mapping[str, frozenset[int]]:
    """Every whole name -> the sheets that have it: slugs first, so that an alias never takes a slug away.

    A family is a name only where no sheet has it: `geforce-rtx-4090` is the desktop card, `h100` one of three.
    """
    slugs = {row.slug: frozenset({row.pk}) for row in catalogue.accelerators}
    others: dict[str, set[int]] = {}
    for row in catalogue.accelerators:
        names = [row.slug.removeprefix(f"{row.vendor.slug}-"), slugify(row.name), slugify(row.short_name)]
        names += [slugify(alias.name) for alias in catalogue.names(row.pk)]
        for name in filter(None, names):
            others.setdefault(name, set()).add(row.pk)
    families: dict[str, set[int]] = {}
    for row in catalogue.accelerators:
        families.setdefault(row.family, set()).add(row.pk)
    return {name: frozenset(pks) for name, pks in (*families.items(), *others.items()) if name} | slugs


def resolve_names(text: str) -> tuple[ShortName, ...]:
    """Each name of the address with the sheets it may mean, best first. One query; none is raised."""
    catalogue = public_catalogue()
    exact = catalogue.cached("exact names") or catalogue.keep("exact names", _exact_names(catalogue))
    names = [name for name in text[:MOST_CHARS].casefold().split(BETWEEN) if name][: MOST_SUBJECTS + 1]
    return tuple(ShortName(name, _meant(name, exact, catalogue)) for name in dict.fromkeys(names))


def _meant(name: str, exact: Mapping[str, frozenset[int]], catalogue: PublicCatalogue) -> tuple[Accelerator, ...]:
    pks = exact.get(name) or _ending_with(name, catalogue) or _having(name.split("-"), catalogue)
    return tuple(sorted((catalogue.by_pk[pk] for pk in pks), key=lambda row: (len(row.slug), row.slug)))


def _ending_with(name: str, catalogue: PublicCatalogue) -> frozenset[int]:
    """`rtx-5090` is the GeForce RTX 5090, whatever variants of it there are; empty where several slugs end so."""
    pks = frozenset(row.pk for row in catalogue.accelerators if row.slug.endswith(f"-{name}"))
    return pks if len(pks) == 1 else frozenset()


def _having(words: Sequence[str], catalogue: PublicCatalogue) -> frozenset[int]:
    return frozenset(row.pk for row in catalogue.accelerators if _has_words(row.slug.split("-"), words))


def _has_words(slug: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the slug contains these words, each possibly cut short, in this order: `h100-sxm`."""
    parts = iter(slug)
    return all(any(part.startswith(start) for part in parts) for start in words if start)


@require_safe
def short_comparison(request: HttpRequest, names: str) -> HttpResponse:
    """To the comparison, in the order of the names; where one is unknown or fits several sheets, what can be meant."""
    resolved = resolve_names(names)
    if resolved and len(resolved) <= MOST_SUBJECTS and all(len(each.sheets) == 1 for each in resolved):
        query = comparison_query(dict.fromkeys(each.sheets[0].slug for each in resolved))
        return HttpResponsePermanentRedirect(f"{address_by_name('compare:page')}?{query}")
    is_known = all(each.sheets for each in resolved)
    context = {
        "names": [_choices(each, resolved) for each in resolved[:MOST_SUBJECTS]],
        "is_known": is_known,
        "most": MOST_SUBJECTS,
        "is_long": len(resolved) > MOST_SUBJECTS,
    }
    response = render(request, "compare/short.html", context, status=300 if is_known and resolved else 404)
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _choices(name: ShortName, all_names: Sequence[ShortName]) -> dict[str, object]:
    """The sheets a name may mean, each with the address in which it is the one."""
    links = []
    for sheet in name.sheets[:MOST_CHOICES]:
        chosen = [sheet.slug if each is name else _as_is(each) for each in all_names[:MOST_SUBJECTS]]
        links.append((sheet.name, _address(chosen)))
    more = len(name.sheets) - len(links)
    return {"name": name.name[:80], "links": links, "is_one": len(name.sheets) == 1, "more": more}


def _as_is(name: ShortName) -> str:
    return name.sheets[0].slug if len(name.sheets) == 1 else name.name


def _address(names: Sequence[str]) -> str:
    return address_by_name("compare:page") + BETWEEN.join(names)[:MOST_CHARS] + "/"


urlpatterns = [path("compare/<slug:names>/", short_comparison, name="short")]
