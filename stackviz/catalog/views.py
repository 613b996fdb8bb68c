"""Accelerators: the list and the sheets."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from stackviz.catalog.listing import (
    Asked,
    Choice,
    asked,
    columns,
    found_text,
    kind_choices,
    list_rows,
    vendor_choices,
)
from stackviz.catalog.models import CatalogueEdition
from stackviz.catalog.queries import matching_accelerators, successors
from stackviz.catalog.sheet import edited_accelerator, read_sheet
from stackviz.web.fragments import kept
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.paging import page_as, page_number, page_of

PER_PAGE = 60
KEPT_S = 600  # a rendered list or sheet is dear and changes rarely; its key moves with the catalogue's edition


@require_safe
@vary_on_htmx
def accelerator_list(request: HttpRequest) -> HttpResponse:
    """Accelerators by name, vendor and kind; the address is the whole state. For htmx the table alone."""
    vendors = vendor_choices()
    what = asked(request.GET, vendors)
    number = page_number(request)
    found = _list_html(what, number, vendors)
    if wants_partial(request):
        address = request.path + (f"?{what.query_string}" if what.query_string else "")
        return push_url(HttpResponse(found), address) if number == 1 else HttpResponse(found)
    return render(
        request, "catalog/list.html", {"asked": what, "vendors": vendors, "kinds": kind_choices(), "found": found}
    )


def _list_html(what: Asked, number: int, vendors: list[Choice]) -> str:
    """The rows as HTML, as rendered before if nothing changed since. What people type is not kept: it has no end."""

    def made() -> str:
        return _found(what, number, vendors)

    if what.q or what.notes:
        return made()
    return kept(("accelerators", what.query_string, number, CatalogueEdition.current()), made, KEPT_S)


def _found(what: Asked, number: int, vendors: list[Choice]) -> str:
    """The rows that answer, as HTML."""
    found = matching_accelerators(what.q, what.vendor, what.kind)
    page = page_of(found, number, PER_PAGE)
    rows = list_rows(page.items)
    context = {
        "asked": what,
        "columns": columns(),
        "page": page_as(page, dict(zip(page.items, rows, strict=True)).__getitem__),
        "found_text": found_text(found.count(), vendors, what),
    }
    return render_to_string("catalog/_found.html", context)


@require_safe
def sheet(request: HttpRequest, slug: str) -> HttpResponse:
    """One accelerator: everything published about it, each value with its source."""
    found = edited_accelerator(slug)
    if found is None:
        return _elsewhere(slug)
    accelerator, edition = found
    context = {"accelerator": accelerator}
    body = kept(
        ("sheet", accelerator.pk, edition),
        lambda: render_to_string("catalog/_sheet.html", {**context, "sheet": read_sheet(accelerator)}),
        KEPT_S,
    )
    return render(request, "catalog/sheet.html", {**context, "body": body})


def _elsewhere(slug: str) -> HttpResponse:
    """A chip without its variant (`m3-max`) leads to its sheet, or to the list of its variants."""
    found = successors(slug)
    if not found:
        raise Http404
    if len(found) == 1:
        return HttpResponseRedirect(found[0].get_absolute_url())
    return HttpResponseRedirect(f"{reverse('catalog:list')}?q={slug}")
