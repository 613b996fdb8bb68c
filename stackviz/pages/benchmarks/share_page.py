"""`/roofline/share-of-peak/`: how much of a published peak accelerators reach, ranked. The address holds all state."""

from collections.abc import Mapping, Sequence

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe
from django.views.generic import RedirectView

from stackviz.base.units import format_number
from stackviz.draw.charts.dots import RailDot, rail_figure
from stackviz.draw.charts.scale import Scale
from stackviz.pages.benchmarks.chart_page import CACHE_S, ChartForm, ChartPage, OneOf, answer_chart, options
from stackviz.pages.benchmarks.files import share_file
from stackviz.pages.benchmarks.selection import BANDWIDTH, DTYPES, FIGURE, FORMATS, ShareChoice, share_choice
from stackviz.pages.benchmarks.share import (
    ShareRow,
    of_words,
    ranked_shares,
    share_benchmarks,
    share_notes,
    share_sentences,
)
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.series.public_runs import measured_edition
from stackviz.web.http.formats import serves_formats
from stackviz.web.http.htmx import vary_on_htmx
from stackviz.web.paging import page_number, page_of
from stackviz.web.parts import cached_html, render_part

__all__ = ["share_page", "urlpatterns"]

PER_PAGE = 25


@require_safe
@serves_formats(*FORMATS, parts=[FIGURE])
@vary_on_htmx
def share_page(request: HttpRequest) -> HttpResponse:
    """The ranking as a page, a file or a Plotly figure; htmx gets only the form and the ranking."""
    catalogue = public_catalogue()
    choice = share_choice(request.GET, share_benchmarks)
    if choice.format == FIGURE:
        rows = page_of(ranked_shares(catalogue, choice), page_number(request), PER_PAGE).items
        return JsonResponse(_figure(rows, choice))
    if choice.format:
        return share_file(ranked_shares(catalogue, choice), choice, choice.format)
    page = ChartPage(
        title=_("Share of peak"),
        lead=_("How much of a published peak is reached"),
        query=choice.query_string,
        body=_body(catalogue, choice, page_number(request)),
        notes=choice.notes,
    )
    return answer_chart(request, page)


def _body(catalogue: PublicCatalogue, choice: ShareChoice, number: int) -> SafeString:
    """The form and the ranking; the first page is cached: there are few choices."""

    def draw() -> str:
        rows = ranked_shares(catalogue, choice)
        return render_part(
            "benchmarks/_share.jinja",
            form=_form(choice),
            choice=choice,
            title=_("Share of the %(peak)s") % {"peak": of_words(choice.of)},
            count=ngettext("%(n)d accelerator", "%(n)d accelerators", len(rows)) % {"n": len(rows)},
            page=page_of(rows, number, PER_PAGE),
            ticks=tuple((f"{tick:g}", format_number(tick)) for tick in Scale("linear", 0.0, 100.0).ticks(20)),
            notes=tuple(share_notes(rows, choice.of)),
            sentences=tuple(share_sentences(rows)),
        )

    if number > 1:
        return SafeString(draw())
    return cached_html(("share", choice.query_string, edition_of_cases(), measured_edition()), draw, CACHE_S)


def _form(choice: ShareChoice) -> ChartForm:
    peaks = {BANDWIDTH: of_words(BANDWIDTH)} | {dtype: of_words(dtype) for dtype in DTYPES}
    return ChartForm(
        address=reverse("benchmarks:share"),
        lists=(
            OneOf("of", _("Share of the"), options(peaks, [choice.of])),
            OneOf("benchmark", _("Benchmark"), options(_benchmark_words(choice.of), [choice.benchmark])),
        ),
    )


def _benchmark_words(of: str) -> Mapping[str, str]:
    return {"": _("the best of all")} | {key: str(CITED_BENCHMARKS[key].title) for key in share_benchmarks(of)}


def _figure(rows: Sequence[ShareRow], choice: ShareChoice) -> dict[str, object]:
    dots = [
        RailDot(
            row=number,
            value=point.percent,
            hue=row.hue,
            is_filled=point.is_filled,
            note=f"{point.share_text} · {point.rate_text} · {point.setting}",
            url=point.url,
        )
        for number, row in enumerate(rows)
        for point in row.points
    ]
    axis = _("share of the %(peak)s, %%") % {"peak": of_words(choice.of)}
    return rail_figure(axis, [row.accelerator.name for row in rows], dots, _("No result is known."), bound=100)


urlpatterns = [
    path("roofline/share-of-peak/", share_page, name="share"),
    path(
        "share-of-peak/",
        RedirectView.as_view(pattern_name="benchmarks:share", permanent=True, query_string=True),
        name="share-before",
    ),
]
