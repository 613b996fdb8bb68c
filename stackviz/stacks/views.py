"""The list of stacks, one stack, one component."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.diagrams.stack import draw_columns
from stackviz.stacks.queries import component_page, described_columns, layer_sections, stack_rows


@require_safe
def stacks(request: HttpRequest) -> HttpResponse:
    """All stacks, and all of them side by side; `?only=differences` folds what is the same."""
    rows = stack_rows()
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
    context = {
        "row": rows.pop(slug),
        "others": list(rows.values()),
        "drawing": draw_columns([column]),
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
