"""`/benchmarks/<key>/`: accelerators ranked by one case of a benchmark. The address holds the whole state."""

import html
from dataclasses import replace

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from stackviz.pages.benchmarks.files import FILE_FORMATS, ladder_file, measured_file
from stackviz.pages.benchmarks.measured_ranking import measured_ranking
from stackviz.pages.benchmarks.ranking import ladder_of
from stackviz.pages.benchmarks.ranking_svg import RankingWords, ranking_svg
from stackviz.pages.benchmarks.ranking_words import (
    dataset,
    introduce_ranking,
    plain_choice,
    ranking_data,
    shown_ranking,
)
from stackviz.pages.benchmarks.selection import DRAWING_FORMATS, CitedChoice, read_choice
from stackviz.records.cited.benchmark import CitedBenchmark
from stackviz.records.cited.cases import edition_of_cases
from stackviz.records.cited.registry import CITED_BENCHMARKS
from stackviz.records.cited.words import benchmark_address
from stackviz.records.series.measured_settings import measured_settings
from stackviz.records.series.measurement import benchmark_titles
from stackviz.records.series.public_runs import measured_edition
from stackviz.report.measuring import BENCHMARKS, RUNNABLE
from stackviz.web.http.address import AddressReader
from stackviz.web.http.download import svg_response
from stackviz.web.http.formats import refuse_format, serves_formats
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.i18n.words import joined
from stackviz.web.paging import page_number, page_of
from stackviz.web.parts import cached_html, cached_parts, render_part
from stackviz.web.preview import Introduction, Preview, make_preview

__all__ = ["benchmark_page", "urlpatterns"]

PER_PAGE = 30
CACHE_S = 600  # the key moves with cited results and sheets


@require_safe
@serves_formats(*DRAWING_FORMATS)
@vary_on_htmx
def benchmark_page(request: HttpRequest, key: str) -> HttpResponse:
    """A benchmark as a page or a file; htmx gets only the form and the ranking."""
    benchmark = CITED_BENCHMARKS.get(key)
    if benchmark is None:
        return measured_page(request, key)
    choice = read_choice(request.GET, benchmark)
    if choice.format == "svg":
        return _drawing_file(request, benchmark, choice)
    if choice.format:
        return ladder_file(ladder_of(benchmark, choice), choice)
    body, has_rows, *introduction = _body(benchmark, choice, page_number(request))
    if wants_partial(request):
        part = render_part("web/_notes.jinja", notes=choice.notes) + body
        query = choice.query_string
        return push_url(HttpResponse(part), request.path + (f"?{query}" if query else ""))
    introduced = Introduction(*map(html.unescape, introduction))
    preview = _preview(request, benchmark, choice, introduced, has_data=bool(has_rows))
    context = {"benchmark": benchmark, "notes": choice.notes, "body": body, "preview": preview}
    return render(request, "benchmarks/benchmark.html", context)


def _preview(
    request: HttpRequest, benchmark: CitedBenchmark, choice: CitedChoice, introduction: Introduction, *, has_data: bool
) -> Preview:
    """The first of the ranking that the address names; structured data for the benchmark's own address only."""
    query = f"?{choice.query_string}" if choice.query_string else ""
    whole = replace(choice, vendor="", kind="").query_string
    url = request.build_absolute_uri(request.path)
    return make_preview(
        request,
        introduction,
        request.path + query,
        picture=f"benchmark/{benchmark.key}.png" + (f"?{whole}" if whole else ""),
        can_embed=True,
        data=ranking_data(benchmark, introduction, url) if has_data and not query else (),
    )


def _drawing_file(request: HttpRequest, benchmark: CitedBenchmark, choice: CitedChoice) -> HttpResponse:
    """The page of the ranking that the address names, as a drawing."""
    shown, query = shown_ranking(benchmark, choice), choice.query_string
    texts = shown.words
    words = RankingWords(
        title=str(benchmark.title),
        setting=joined([texts.setting, texts.counts]),
        notes=[*filter(None, [texts.no_first, texts.overtaken]), texts.key, *map(str, texts.notes)],
        address=request.build_absolute_uri(request.path + (f"?{query}" if query else "")),
        day=timezone.now().date(),
    )
    rows = page_of(shown.rows, page_number(request), PER_PAGE).items
    return svg_response(f"benchmark {benchmark.key}", ranking_svg(shown.drawn, rows, words))


def _body(benchmark: CitedBenchmark, choice: CitedChoice, number: int) -> tuple[SafeString, ...]:
    """(form, ranking and everything below; "1" if it has rows; title; answer) as HTML; a common choice's first
    page is cached.
    """

    def draw() -> tuple[SafeString, ...]:
        shown = shown_ranking(benchmark, choice)
        introduction = introduce_ranking(benchmark, shown.drawn, shown.words)
        body = render_part(
            "benchmarks/_benchmark.jinja",
            benchmark=benchmark,
            choice=choice,
            shown=shown,
            page=page_of(shown.rows, number, PER_PAGE),
            measured=measured_ranking(benchmark.key, choice.measured, shown.params_key),
        )
        has_rows = SafeString("1" if shown.drawn.rows else "")
        return body, has_rows, escape(introduction.title), escape(introduction.answer)

    if number > 1 or not plain_choice(choice):
        return draw()
    edition = edition_of_cases(), *(measured_edition() if benchmark.key in BENCHMARKS else ())
    return cached_parts(("benchmark", benchmark.key, choice.query_string, *edition), draw, CACHE_S)


urlpatterns = [path("benchmarks/<slug:key>/", benchmark_page, name="benchmark")]


def measured_page(request: HttpRequest, key: str) -> HttpResponse:
    """The page or a file of it. Raises Http404 for a benchmark that nobody defined."""
    if key not in BENCHMARKS:
        raise Http404
    reader = AddressReader(request.GET)
    keys = {setting.key for setting in measured_settings(key)}
    wanted, ending = reader.choice("measured", keys, _("measured setting")), reader.text("format")
    if ending and ending not in FILE_FORMATS:
        return refuse_format(ending, FILE_FORMATS)
    if ending:
        return measured_file(key, wanted, ending)

    def draw() -> str:
        return render_part(
            "benchmarks/_measured_page.jinja",
            ranking=measured_ranking(key, wanted),
            address=benchmark_address(key),
            is_run_by_agent=key in RUNNABLE,
        )

    body = cached_html(("measured", key, wanted, *measured_edition()), draw, CACHE_S)
    known = BENCHMARKS[key]
    title, measures = benchmark_titles()[key, known.version], _(known.measures) if known.measures else ""
    context = {
        "title": title,
        "measures": measures,
        "preview": _measured_preview(request, key, Introduction(title, measures), is_whole=not request.GET),
        "notes": reader.notes({"measured", "format"}),
        "body": body,
    }
    return render(request, "benchmarks/measured.html", context)


def _measured_preview(request: HttpRequest, key: str, introduction: Introduction, *, is_whole: bool) -> Preview:
    """With a `Dataset` for the benchmark's own address, once a machine has measured it."""
    settings = measured_settings(key) if is_whole else ()
    url = request.build_absolute_uri(request.path)
    units = tuple(dict.fromkeys(setting.unit for setting in settings))
    data = dataset(introduction.title, introduction.answer, url, units) if settings else ()
    return make_preview(request, introduction, request.path, data=data)
