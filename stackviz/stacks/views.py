"""Views of the list of stacks, one stack and one component."""

from collections.abc import Mapping

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.diagrams.memory import draw_memory
from stackviz.diagrams.stack import draw_columns
from stackviz.diagrams.standing import draw_standing
from stackviz.diagrams.svg import svg_of
from stackviz.stacks.accelerators import stacks_of_accelerator
from stackviz.stacks.lifecycle import support_of
from stackviz.stacks.memory import memory_model_of
from stackviz.stacks.operators_page import operators_with
from stackviz.stacks.queries import component_page, described_columns, layer_sections, stack_rows
from stackviz.stacks.terms import StackTerm, all_terms
from stackviz.stacks.undrawn_components import undrawn_components
from stackviz.web.address import text_parameter
from stackviz.web.download import svg_response
from stackviz.web.htmx import vary_on_htmx, wants_partial

SIDE_BY_SIDE = ("nvidia-cuda", "apple-metal", "cpu")  # drawn by the list; others can be compared
MOST_DRAWN = 3


@require_safe
@vary_on_htmx
def stacks(request: HttpRequest) -> HttpResponse:
    """All stacks, and three of them side by side; `?only=differences` collapses equal rows.

    `?vendor=` redirects to the first stack of the vendor's accelerators, with `accelerator=` to that of the one; htmx
    gets a summary of it.
    """
    rows = stack_rows()
    if vendor := text_parameter(request, "vendor"):
        of_vendor = stacks_of_accelerator(rows, vendor, text_parameter(request, "accelerator"))
        if wants_partial(request):
            return render(request, "stacks/_of_vendor.html", {"rows": of_vendor[:1], "others": of_vendor[1:]})
        if of_vendor:
            return HttpResponseRedirect(of_vendor[0].url)
    drawn = [row for row in rows if row.slug in SIDE_BY_SIDE] or rows[:MOST_DRAWN]
    columns = described_columns(row.slug for row in drawn)
    only_differences = request.GET.get("only") == "differences"
    context = {
        "rows": rows,
        "drawing": draw_columns([columns[row.slug] for row in drawn]),
        "only_differences": only_differences,
        "toggle_url": "?#layers" if only_differences else "?only=differences#layers",
        "compare_query": "&".join(f"a={row.subject}" for row in drawn),
        "terms": _terms({row.slug: row.name for row in rows}) if request.GET.get("words") == "all" else [],
    }
    return render(request, "stacks/list.html", context)


def _terms(names: Mapping[str, str]) -> list[tuple[str, str, StackTerm]]:
    """(stack name, other stack name, term) of all terms between public stacks."""
    return [
        (names[term.stack], names[term.other_stack], term)
        for term in all_terms()
        if {term.stack, term.other_stack} <= names.keys()
    ]


@require_safe
def stack(request: HttpRequest, slug: str) -> HttpResponse:
    """One stack: the diagram, then all components."""
    rows = {row.slug: row for row in stack_rows()}
    column = described_columns([slug]).get(slug)
    if slug not in rows or column is None:
        raise Http404(_("There is no stack “%(slug)s”.") % {"slug": slug})
    drawing = draw_columns([column])
    if request.GET.get("format") == "svg":
        return svg_response(f"stack-{slug}", svg_of(drawing, column.title, request.build_absolute_uri(request.path)))
    beyond = undrawn_components(slug)
    context = {
        "row": rows.pop(slug),
        "others": list(rows.values()),
        "drawing": drawing,
        "sections": layer_sections(column),
        "tools": beyond.tools,
        "beside": beyond.beside,
        "memory": draw_memory(memory) if (memory := memory_model_of(slug)) else None,
    }
    return render(request, "stacks/stack.html", context)


@require_safe
@vary_on_htmx
def support(request: HttpRequest, slug: str) -> HttpResponse:
    """Support dates of the components of a stack, as of today; htmx gets only the table."""
    rows = {row.slug: row for row in stack_rows()}
    column = described_columns([slug]).get(slug)
    if slug not in rows or column is None:
        raise Http404(_("There is no stack “%(slug)s”.") % {"slug": slug})
    today = timezone.now().date().isoformat()
    context = {"row": rows[slug], "support": support_of(column, rows[slug].system, today)}
    return render(request, "stacks/_support.html" if wants_partial(request) else "stacks/support.html", context)


@require_safe
def component(request: HttpRequest, slug: str) -> HttpResponse:
    """One component: description, stacks, counterparts, releases; `?releases=all` for all releases.

    `?stack=` chooses the stack it is drawn in.
    """
    page = component_page(slug, all_releases=request.GET.get("releases") == "all")
    if page is None:
        raise Http404(_("There is no component “%(slug)s”.") % {"slug": slug})
    drawn = next((each for each in page.standings if each.slug == text_parameter(request, "stack")), None)
    drawn = drawn or next(iter(page.standings), None)
    column = described_columns([drawn.slug]).get(drawn.slug) if drawn else None
    picture = None
    if drawn is not None and column is not None:
        callers, callees = ({url for _name, url in links} for links in (drawn.called_by, drawn.calls))
        picture = draw_standing(column, slug, callers, callees)
    context = {"page": page, "used_by": operators_with(slug), "drawn": drawn, "picture": picture}
    return render(request, "stacks/component.html", context)
