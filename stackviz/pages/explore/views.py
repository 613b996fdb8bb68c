"""Views of all accelerators: ladder, scatter, heat map and timeline. The address holds the whole state of a page."""

from collections.abc import Mapping
from dataclasses import replace

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from stackviz.draw.charts.ladder import RUNGS_PER_PAGE
from stackviz.draw.colours import VENDORS
from stackviz.pages.explore.axes import PlotData, read_plot_data
from stackviz.pages.explore.composed import RELEASED
from stackviz.pages.explore.files import drawing_file, heatmap_file, ranking_file
from stackviz.pages.explore.forms import (
    efficiency_views,
    heatmap_form,
    ladder_chips,
    ladder_form,
    point_choices,
    presets,
    scatter_form,
    timeline_form,
)
from stackviz.pages.explore.heatmap import draw_heatmap, plotly_heatmap
from stackviz.pages.explore.ladder import LadderRow, Ranking, absent_vendors, measured_field, rank
from stackviz.pages.explore.scatter import draw_scatter, plotly_scatter
from stackviz.pages.explore.selection import (
    FIGURE,
    FORMATS,
    NO_SIZE,
    ExploreFilters,
    HeatmapChoice,
    LadderChoice,
    ScatterChoice,
    heatmap_choice,
    ladder_choice,
    scatter_choice,
    timeline_choice,
)
from stackviz.pages.explore.timeline import assemble_timeline, timeline_vendors
from stackviz.records.series.public_runs import MeasuredSummary, measured
from stackviz.web.http.formats import serves_formats
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.paging import Page, page_number, page_of
from stackviz.web.parts import cached_html, render_part

HEAT_ROWS_PER_PAGE = 60
POINTS_PER_PAGE = 25  # rows of the table below the plot
CACHE_S = 600  # the key changes with the catalogue's edition and with the measured results


@require_safe
@serves_formats(*FORMATS)
@vary_on_htmx
def ladder(request: HttpRequest) -> HttpResponse:
    """A ranking by one measure, as a page or a file; htmx gets only the form and the ranking."""
    catalogue = read_plot_data()
    choice = ladder_choice(request.GET, catalogue.known)
    results = measured(measured_field(choice.field))
    if choice.format:
        return ranking_file(rank(catalogue, choice, results), choice.format)
    body = _ladder_html(choice, catalogue, results, page_number(request))
    return _answer(request, "explore/ladder.html", choice, body)


def _ladder_html(
    choice: LadderChoice, catalogue: PlotData, results: Mapping[int, MeasuredSummary], number: int
) -> SafeString:
    """The form and the ranking, cached."""

    def render_body() -> str:
        ranking, known = rank(catalogue, choice, results), catalogue.known
        page = page_of(ranking.rows, number, RUNGS_PER_PAGE)
        return render_part(
            "explore/_ladder.jinja",
            choice=choice,
            ranking=ranking,
            absent=absent_vendors(catalogue, ranking, choice, known),
            form=ladder_form(choice, ranking, known),
            chips=ladder_chips(choice),
            page=page,
            later=later_vendors(ranking, page),
        )

    state = ("ladder", choice.query_string, number, catalogue.edition, sorted(results.items()))
    return cached_html(state, render_body, CACHE_S)


def later_vendors(ranking: Ranking, page: Page[LadderRow]) -> list[tuple[LadderRow, int]]:
    """Return the best of each vendor that has a colour and is on no earlier page, with its page, best first."""
    by_vendor: dict[str, tuple[LadderRow, int]] = {}
    for at, row in enumerate(ranking.rows):
        if row.rank is not None and row.subject.vendor in VENDORS:
            by_vendor.setdefault(row.subject.vendor, (row, at // page.per_page + 1))
    return [(best, number) for best, number in by_vendor.values() if number > page.number]


@require_safe
@serves_formats(*FORMATS, parts=[FIGURE])
@vary_on_htmx
def scatter(request: HttpRequest) -> HttpResponse:
    """A plot of two measures, as a page, a file or a Plotly figure; htmx gets only the form and the plot."""
    catalogue = read_plot_data()
    choice = scatter_choice(request.GET, catalogue.known)
    if choice.format == FIGURE:
        return JsonResponse(plotly_scatter(catalogue, choice))
    if choice.format:
        return drawing_file(draw_scatter(catalogue, choice), choice.format)
    body = _scatter_html(choice, catalogue, page_number(request))
    return _answer(request, "explore/scatter.html", choice, body)


def _scatter_html(choice: ScatterChoice, catalogue: PlotData, number: int) -> SafeString:
    """The form, the plot and its table, cached."""

    def render_body() -> str:
        drawing = draw_scatter(catalogue, choice)
        return render_part(
            "explore/_scatter.jinja",
            choice=choice,
            swapped=replace(choice, x=choice.y, y=choice.x, xscale=choice.yscale, yscale=choice.xscale),
            drawing=drawing,
            presets=presets(choice, catalogue.known),
            points=point_choices(choice, catalogue.known),
            form=scatter_form(choice, drawing, catalogue.known),
            page=page_of(drawing.points, number, POINTS_PER_PAGE),
        )

    return cached_html(("scatter", choice.query_string, number, catalogue.edition), render_body, CACHE_S)


@require_safe
@serves_formats(*FORMATS, parts=[FIGURE])
@vary_on_htmx
def heatmap(request: HttpRequest) -> HttpResponse:
    """Accelerators by cited benchmarks, as a page or a file; htmx gets only the form and the table."""
    catalogue = read_plot_data()
    choice = heatmap_choice(request.GET, catalogue.known)
    if choice.format == FIGURE:
        drawn = draw_heatmap(catalogue, choice)
        return JsonResponse(plotly_heatmap(drawn, page_of(drawn.rows, page_number(request), HEAT_ROWS_PER_PAGE).items))
    if choice.format:
        return heatmap_file(draw_heatmap(catalogue, choice), choice.format)
    body = _heatmap_html(choice, catalogue, page_number(request))
    return _answer(request, "explore/heatmap.html", choice, body)


def _heatmap_html(choice: HeatmapChoice, catalogue: PlotData, number: int) -> SafeString:
    """The form and the table, cached."""

    def render_body() -> str:
        drawn = draw_heatmap(catalogue, choice)
        return render_part(
            "explore/_heatmap.jinja",
            choice=choice,
            heatmap=drawn,
            form=heatmap_form(choice, catalogue.known),
            page=page_of(drawn.rows, number, HEAT_ROWS_PER_PAGE),
        )

    return cached_html(("heat map", choice.query_string, number, catalogue.edition), render_body, CACHE_S)


@require_safe
@vary_on_htmx
def timeline(request: HttpRequest) -> HttpResponse:
    """Architectures by vendor and year, each with what it introduced and the figures of its largest product."""
    catalogue = read_plot_data()
    names = catalogue.known.vendors
    lanes = {slug: names.get(slug, slug) for slug in timeline_vendors()}
    choice = timeline_choice(request.GET, lanes)

    def render_body() -> str:
        key = ("timeline", choice.vendor, choice.rate, get_language())
        drawn_lanes, years = catalogue.public.once((*key, "page"), lambda: assemble_timeline(catalogue, choice.vendor))
        over_years = ScatterChoice(x=RELEASED, y=choice.rate, size=NO_SIZE, vendor=choice.vendor)
        return render_part(
            "explore/_timeline.jinja",
            form=timeline_form(choice, lanes, catalogue.known.measures),
            lanes=drawn_lanes,
            years=years,
            efficiency=efficiency_views(choice, catalogue.known),
            drawing=catalogue.public.once((*key, "drawing"), lambda: draw_scatter(catalogue, over_years)),
            over_years=over_years.query,
        )

    body = cached_html(("timeline", choice.vendor, choice.rate, catalogue.edition), render_body, CACHE_S)
    return _answer(request, "explore/timeline.html", choice, body)


def _answer(request: HttpRequest, template: str, choice: ExploreFilters, body: SafeString) -> HttpResponse:
    """Return the page, or for htmx the part that it swaps."""
    if wants_partial(request):
        query = choice.query_string
        part = render_part("web/_notes.jinja", notes=choice.notes) + body
        return push_url(HttpResponse(part), request.path + (f"?{query}" if query else ""))
    return render(request, template, {"notes": choice.notes, "body": body})
