"""The sheets of accelerators; the list of them is in listed.py."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe

from stackviz.catalog.queries import successors
from stackviz.catalog.sheet import edited_accelerator, read_sheet
from stackviz.web.fragments import kept

KEPT_S = 600  # a rendered sheet is dear and changes rarely; its key moves with the catalogue's edition


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
