"""The list of stacks, one stack, one component."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.diagrams.stack import draw_columns
from stackviz.diagrams.svg import svg_of
from stackviz.stacks.queries import component_page, described_columns, layer_sections, stack_rows
from stackviz.web.asked import asked_text
from stackviz.web.download import svg_response
from stackviz.web.htmx import vary_on_htmx, wants_partial


@require_safe
@vary_on_htmx
def stacks(request: HttpRequest) -> HttpResponse:
    """All stacks, and all of them side by side; `?only=differences` folds what is the same.

    `?vendor=` leads to the stack that accelerators of this maker run; for htmx it is that stack in short.
    """
    rows = stack_rows()
    if vendor := asked_text(request, "vendor"):
        of_vendor = [row for row in rows if row.vendor == vendor]
        if wants_partial(request):
            return render(request, "stacks/_of_vendor.html", {"rows": of_vendor})
        if len(of_vendor) == 1:
            return HttpResponseRedirect(of_vendor[0].url)
    columns = described_columns(row.slug for row in rows)
    only_differences = request.GET.get("only") == "differences"
    context = {
        "rows": rows,
        "drawing": draw_columns([columns[row.slug] for row in rows]),
        "only_differences": only_differences,
        "toggle_url": "?#layers" if only_differences else "?only=differences#layers",
        "compare_query": "&".join(f"a={row.subject}" for row in rows),
    }
    return render(request, "stacks/list.html", context)


@require_safe
def stack(request: HttpRequest, slug: str) -> HttpResponse:
    """One stack: drawn, then every component explained."""
    rows = {row.slug: row for row in stack_rows()}
    column = described_columns([slug]).get(slug)
    if slug not in rows or column is None:
        raise Http404(_("No stack is called “%(slug)s”.") % {"slug": slug})
    drawing = draw_columns([column])
    if request.GET.get("format") == "svg":
        return svg_response(f"stack-{slug}", svg_of(drawing, column.title, request.build_absolute_uri(request.path)))
    context = {
        "row": rows.pop(slug),
        "others": list(rows.values()),
        "drawing": drawing,
        "sections": layer_sections(column),
    }
    return render(request, "stacks/stack.html", context)


@require_safe
def component(request: HttpRequest, slug: str) -> HttpResponse:
    """One component: what it is, where it stands, what answers to it, its releases; `?releases=all` for all of them."""
    page = component_page(slug, all_releases=request.GET.get("releases") == "all")
    if page is None:
        raise Http404(_("No component is called “%(slug)s”.") % {"slug": slug})
    return render(request, "stacks/component.html", {"page": page})
