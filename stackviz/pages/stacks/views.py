"""Views of the stacks, one stack, one component, the operators and one operator."""

import html
from collections.abc import Mapping
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from stackviz.draw.diagrams.boxes import StackColumn
from stackviz.draw.diagrams.memory import draw_memory
from stackviz.draw.diagrams.stack import draw_columns
from stackviz.draw.diagrams.standing import draw_standing
from stackviz.draw.diagrams.svg import svg_of
from stackviz.pages.stacks.component_page import component_page
from stackviz.pages.stacks.operator_page import detours_of, modes_of, operator_rows, operators_with, timings_of
from stackviz.pages.stacks.release_page import products, release_page
from stackviz.pages.stacks.stack_page import StackRow, stack_rows, support_of, undrawn_components
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.stacks.memory import memory_model_of
from stackviz.records.stacks.models import Edition, Stack
from stackviz.records.stacks.operators import operator_coverage, operators
from stackviz.records.stacks.queries import described_columns, public_stacks, stacks_of_accelerator
from stackviz.records.stacks.release_lines import DRIVER, ReleaseLine, find_line, nearest_lines
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.records.stacks.terms import StackTerm, all_terms
from stackviz.web.http.address import text_parameter
from stackviz.web.http.download import svg_response
from stackviz.web.http.formats import serves_formats
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.parts import cached_html, cached_parts
from stackviz.web.preview import Introduction, make_preview

SIDE_BY_SIDE = ("nvidia-cuda", "apple-metal", "cpu")  # drawn by the list; others can be compared
MOST_DRAWN = 3
CACHE_S = 600  # the key moves with components and sources


@require_safe
@vary_on_htmx
def stacks(request: HttpRequest) -> HttpResponse:
    """All stacks, and three of them side by side; `?only=differences` collapses equal rows.

    `?vendor=` redirects to the first stack of the vendor's accelerators, with `accelerator=` to that of the one; htmx
    gets a summary of it.
    """
    if vendor := text_parameter(request, "vendor"):
        of_vendor = stacks_of_accelerator(public_stacks(), vendor, text_parameter(request, "accelerator"))
        if wants_partial(request):
            context = {"rows": stack_rows(of_vendor[:1]), "others": of_vendor[1:]}
            return render(request, "stacks/_of_vendor.html", context)
        if of_vendor:
            return HttpResponseRedirect(of_vendor[0].get_absolute_url())
    only_differences = request.GET.get("only") == "differences"
    with_terms = request.GET.get("words") == "all"
    body = cached_html(
        ("stacks", only_differences, with_terms, *_editions()),
        lambda: render_to_string(
            "stacks/_list.html", _side_by_side(only_differences=only_differences, with_terms=with_terms)
        ),
        CACHE_S,
    )
    return render(request, "stacks/list.html", {"body": body})


def _side_by_side(*, only_differences: bool, with_terms: bool) -> dict[str, object]:
    rows = stack_rows()
    drawn = [row for row in rows if row.stack.slug in SIDE_BY_SIDE] or rows[:MOST_DRAWN]
    return {
        "rows": rows,
        "drawing": draw_columns([row.column for row in drawn]),
        "only_differences": only_differences,
        "toggle_url": "?#layers" if only_differences else "?only=differences#layers",
        "compare_query": "&".join(f"a={row.stack.subject}" for row in drawn),
        "terms": _terms({row.stack.slug: row.stack.local_name for row in rows}) if with_terms else [],
    }


def _editions() -> tuple[str, str]:
    """What the pages of stacks are made of: components and their sources."""
    return Edition.current(), CatalogueEdition.current()


def _terms(names: Mapping[str, str]) -> list[tuple[str, str, StackTerm]]:
    """(stack name, other stack name, term) of all terms between public stacks."""
    return [
        (names[term.stack], names[term.other_stack], term)
        for term in all_terms()
        if {term.stack, term.other_stack} <= names.keys()
    ]


@require_safe
@serves_formats("svg")
def stack(request: HttpRequest, slug: str) -> HttpResponse:
    """One stack: the diagram, then all components."""
    if request.GET.get("format") == "svg":
        _stack, column = _described(slug)
        drawing = draw_columns([column])
        return svg_response(f"stack-{slug}", svg_of(drawing, column.title, request.build_absolute_uri(request.path)))
    title, body = cached_parts(("stack", slug, *_editions()), lambda: _drawn_stack(slug), CACHE_S)
    answer = _("%(stack)s, layer by layer: components, versions they need, support.") % {"stack": html.unescape(title)}
    introduction = Introduction(html.unescape(title), answer)
    preview = make_preview(request, introduction, request.path, picture=f"compare.png?a=stack:{slug}")
    return render(request, "stacks/stack.html", {"title": title, "body": body, "preview": preview})


def _described(slug: str) -> tuple[Stack, StackColumn]:
    """A public stack, and its column. Raises Http404."""
    stack = next((stack for stack in public_stacks() if stack.slug == slug), None)
    column = described_columns([slug]).get(slug)
    if stack is None or column is None:
        raise Http404(_("There is no stack “%(slug)s”.") % {"slug": slug})
    return stack, column


def _drawn_stack(slug: str) -> tuple[str, str]:
    """(title, body) as HTML. Raises Http404."""
    stack, column = _described(slug)
    memory = memory_model_of(slug)
    context = {
        "stack": stack,
        "others": [other for other in public_stacks() if other != stack],
        "drawing": draw_columns([column]),
        "sections": StackRow(stack, column).sections,
        "undrawn": undrawn_components(slug),
        "memory": draw_memory(memory) if memory else None,
    }
    return escape(stack.local_name), render_to_string("stacks/_stack.html", context)


@require_safe
@vary_on_htmx
def support(request: HttpRequest, slug: str) -> HttpResponse:
    """Support dates of the components of a stack, as of today; htmx gets only the table."""
    stack, column = _described(slug)
    today = timezone.now().date().isoformat()
    context = {"stack": stack, "support": support_of(column, stack.system, today)}
    return render(request, "stacks/_support.html" if wants_partial(request) else "stacks/support.html", context)


@require_safe
def component(request: HttpRequest, slug: str) -> HttpResponse:
    """One component: description, stacks, counterparts, releases; `?releases=all` for all releases.

    `?stack=` chooses the stack it is drawn in.
    """
    wanted, with_releases = text_parameter(request, "stack"), request.GET.get("releases") == "all"
    state = ("component", slug, wanted, with_releases, timezone.now().date(), *_editions())
    title, body = cached_parts(state, lambda: _drawn_component(slug, wanted, with_releases=with_releases), CACHE_S)
    return render(request, "stacks/component.html", {"title": title, "body": body})


def _drawn_component(slug: str, wanted: str, *, with_releases: bool) -> tuple[str, str]:
    """(title, body) as HTML; `wanted`: the stack that it is drawn in. Raises Http404."""
    page = component_page(slug, all_releases=with_releases)
    if page is None:
        raise Http404(_("There is no component “%(slug)s”.") % {"slug": slug})
    drawn = next((standing for standing in page["standings"] if standing.placed.stack.slug == wanted), None)
    drawn = drawn or next(iter(page["standings"]), None)
    picture = None
    if drawn is not None and (column := described_columns([drawn.placed.stack.slug]).get(drawn.placed.stack.slug)):
        callers, callees = (
            {component.get_absolute_url() for component in components} for components in (drawn.called_by, drawn.calls)
        )
        picture = draw_standing(column, slug, callers, callees)
    context = page | {"used_by": operators_with(slug), "drawn": drawn, "picture": picture}
    return escape(page["component"].local_name), render_to_string("stacks/_component.html", context)


@require_safe
def release_list(request: HttpRequest) -> HttpResponse:
    """All lines of releases, by product."""
    return render(request, "stacks/releases.html", {"products": products(rule_tables())})


@require_safe
def release(request: HttpRequest, slug: str) -> HttpResponse:
    """One line of releases (`cuda-12.8`). An address with one of its releases leads to it; 404 names the nearest."""
    tables = rule_tables()
    line = find_line(tables, slug)
    if line is None:
        context = {"slug": slug, "nearest": nearest_lines(tables, slug)}
        return render(request, "stacks/no_release.html", context, status=HTTPStatus.NOT_FOUND)
    if request.path != line.url:
        return HttpResponsePermanentRedirect(line.url)
    today = timezone.now().date().isoformat()
    title, body, answer = cached_parts(
        ("release", line.slug, today, *_editions()), lambda: _drawn_release(line, today), CACHE_S
    )
    return render(request, "stacks/release.html", {"title": title, "body": body, "answer": answer})


def _drawn_release(line: ReleaseLine, today: str) -> tuple[str, str, str]:
    """(title, body, answer) as HTML."""
    page = release_page(rule_tables(), line, today)
    return escape(line.name), render_to_string("stacks/_release.html", page), escape(page["answer"])


@require_safe
def driver(request: HttpRequest, version: str) -> HttpResponse:
    """A branch of the NVIDIA driver, by its number; that of a driver (580.65.06) leads to its branch."""
    return release(request, f"{DRIVER}-{version}")


@require_safe
def operator_list(request: HttpRequest) -> HttpResponse:
    """All operators, and how many have a kernel by release of torch."""
    return render(request, "stacks/operators.html", {"rows": operator_rows(), "coverage": operator_coverage()})


@require_safe
def operator(request: HttpRequest, slug: str) -> HttpResponse:
    """One operator on CUDA and on MPS side by side, eager and compiled."""
    if slug not in operators():
        raise Http404(_("There is no operator “%(slug)s”.") % {"slug": slug})
    context = {
        "operator": operators()[slug],
        "operators": operators().values(),
        "modes": modes_of(slug),
        "detours": detours_of(slug),
        "timings": timings_of(slug),
    }
    return render(request, "stacks/operator.html", context)
