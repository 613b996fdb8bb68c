"""`/benchmarks/<key>/`: accelerators ranked by one case of a benchmark. The address holds the whole state."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from stackviz.benchmarks.public_runs import measured_edition
from stackviz.cited.benchmark import CitedBenchmark
from stackviz.cited.cases import edition_of_cases
from stackviz.cited.registry import CITED_BENCHMARKS
from stackviz.measuring import BENCHMARKS
from stackviz.results.files import ladder_file
from stackviz.results.forms import plain_choice
from stackviz.results.measured_page import measured_page
from stackviz.results.measured_section import measured_section
from stackviz.results.ranking import ladder_of
from stackviz.results.selection import CitedChoice, read_choice
from stackviz.results.shown import shown_ranking
from stackviz.results.svg_file import RankingWords, ranking_svg
from stackviz.web.download import svg_response
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.paging import page_number, page_of
from stackviz.web.parts import cached_html, render_part
from stackviz.web.templatetags.web import joined

__all__ = ["benchmark_page", "urlpatterns"]

PER_PAGE = 100
CACHE_S = 600  # the key moves with cited results and sheets


@require_safe
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
        return ladder_file(ladder_of(benchmark, choice), choice.format, measured=choice.measured)
    body = _body(benchmark, choice, page_number(request))
    if wants_partial(request):
        part = render_part("web/_notes.jinja", notes=choice.notes) + body
        query = choice.query_string
        return push_url(HttpResponse(part), request.path + (f"?{query}" if query else ""))
    return render(request, "results/benchmark.html", {"benchmark": benchmark, "notes": choice.notes, "body": body})


def _drawing_file(request: HttpRequest, benchmark: CitedBenchmark, choice: CitedChoice) -> HttpResponse:
    """The page of the ranking that the address names, as a drawing."""
    shown, query = shown_ranking(benchmark, choice), choice.query_string
    texts = shown.words
    words = RankingWords(
        title=str(benchmark.title),
        setting=joined([texts.setting, texts.counts]),
        notes=[*filter(None, [texts.overtaken]), texts.key, *map(str, texts.notes)],
        address=request.build_absolute_uri(request.path + (f"?{query}" if query else "")),
        day=timezone.now().date(),
    )
    rows = page_of(shown.drawn.rows, page_number(request), PER_PAGE).items
    return svg_response(f"benchmark {benchmark.key}", ranking_svg(shown.drawn, rows, words))


def _body(benchmark: CitedBenchmark, choice: CitedChoice, number: int) -> SafeString:
    """The form, the ranking and what stands below; the first page of a common choice is cached."""

    def draw() -> SafeString:
        shown = shown_ranking(benchmark, choice)
        return render_part(
            "results/_benchmark.jinja",
            benchmark=benchmark,
            choice=choice,
            shown=shown,
            page=page_of(shown.drawn.rows, number, PER_PAGE),
            measured=measured_section(benchmark.key, choice.measured, shown.params_key),
        )

    if number > 1 or not plain_choice(choice):
        return draw()
    edition = edition_of_cases(), *(measured_edition() if benchmark.key in BENCHMARKS else ())
    return cached_html(("benchmark", benchmark.key, choice.query_string, *edition), draw, CACHE_S)


urlpatterns = [path("benchmarks/<slug:key>/", benchmark_page, name="benchmark")]
