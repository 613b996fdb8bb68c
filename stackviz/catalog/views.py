"""Accelerators: the list and the sheets."""

from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from stackviz.catalog.listing import asked, columns, found_text, kind_choices, list_rows, vendor_choices
from stackviz.catalog.queries import matching_accelerators, successors
from stackviz.catalog.sheet import read_sheet, stamped_accelerator
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.paging import page_as, page_number, page_of

PER_PAGE = 60
SHEET_KEPT_S = 600  # a rendered sheet is dear and changes rarely; its key moves with its content


@require_safe
@vary_on_htmx
def accelerator_list(request: HttpRequest) -> HttpResponse:
    """Accelerators by name, vendor and kind; the address is the whole state. For htmx the table alone."""
    vendors = vendor_choices()
    what = asked(request.GET, vendors)
    found = matching_accelerators(what.q, what.vendor, what.kind)
    page = page_of(found, page_number(request), PER_PAGE)
    rows = list_rows(page.items)
    context = {
        "asked": what,
        "vendors": vendors,
        "kinds": kind_choices(),
        "columns": columns(),
        "page": page_as(page, dict(zip(page.items, rows, strict=True)).__getitem__),
        "found_text": found_text(found.count(), vendors, what),
    }
    if not wants_partial(request):
        return render(request, "catalog/list.html", context)
    address = request.path + (f"?{what.query_string}" if what.query_string else "")
    response = render(request, "catalog/_found.html", context)
    return push_url(response, address) if page.number == 1 else response


@require_safe
def sheet(request: HttpRequest, slug: str) -> HttpResponse:
    """One accelerator: everything published about it, each value with its source."""
    found = stamped_accelerator(slug)
    if found is None:
        return _elsewhere(slug)
    accelerator, stamp = found
    key = f"catalogue sheet {stamp} {get_language()}".replace(" ", ":")
    body = cache.get(key)
    if body is None:
        body = render_to_string("catalog/_sheet.html", {"sheet": read_sheet(accelerator), "accelerator": accelerator})
        cache.set(key, body, SHEET_KEPT_S)
    return render(request, "catalog/sheet.html", {"accelerator": accelerator, "body": body})


def _elsewhere(slug: str) -> HttpResponse:
    """A chip without its variant (`m3-max`) leads to its sheet, or to the list of its variants."""
    found = successors(slug)
    if not found:
        raise Http404
    if len(found) == 1:
        return HttpResponseRedirect(found[0].get_absolute_url())
    return HttpResponseRedirect(f"{reverse('catalog:list')}?q={slug}")
