"""`/benchmarks/?accelerator=&accelerator=`: what others measured on two to six; a comparison of sheets fetches it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from stackviz.pages.benchmarks.side_by_side import MOST_ACCELERATORS, side_by_side
from stackviz.records.catalog.models import Accelerator
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.cited.cases import edition_of_cases
from stackviz.web.address import AddressReader
from stackviz.web.htmx import wants_partial
from stackviz.web.parts import cached_html, render_part

CACHE_S = 600  # the key moves with cited results and sheets
PARAMETER = "accelerator"


def side_by_side_page(request: HttpRequest) -> HttpResponse:
    """Two to six accelerators; for htmx the tables alone."""
    reader = AddressReader(request.GET)
    by_slug = public_catalogue().by_slug
    slugs = reader.choices(PARAMETER, by_slug, _("accelerator"))
    if len(slugs) > MOST_ACCELERATORS:
        reader.note(PARAMETER, _("At most %(n)d accelerators are compared") % {"n": MOST_ACCELERATORS})
    accelerators = [by_slug[slug] for slug in slugs[:MOST_ACCELERATORS]]
    body = _body(accelerators) if len(accelerators) > 1 else ""
    if wants_partial(request) and body:
        return HttpResponse(body)
    query = "&".join(f"a={item.slug}" for item in accelerators)
    context = {"notes": reader.notes({PARAMETER}), "accelerators": accelerators, "body": body, "query": query}
    return render(request, "benchmarks/side_by_side.html", context)


def _body(accelerators: list[Accelerator]) -> SafeString:
    def draw() -> SafeString:
        return render_part("benchmarks/_side_by_side.jinja", compared=side_by_side(accelerators))

    slugs = tuple(item.slug for item in accelerators)
    return cached_html(("benchmarks side by side", slugs, edition_of_cases()), draw, CACHE_S)
