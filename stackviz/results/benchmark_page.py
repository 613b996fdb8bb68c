"""`/benchmarks/<key>/`: accelerators ranked by one case of a benchmark. The address holds the whole state."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from stackviz.benchmarks.public_runs import measured_edition
from stackviz.cited.benchmark import CitedBenchmark
from stackviz.cited.cases import CitedCase, edition_of_cases
from stackviz.cited.models import CitedResult
from stackviz.cited.queries import best_first_order, having, without_sheet
from stackviz.cited.ranking import better_than, readable_symbol
from stackviz.cited.registry import CITED_BENCHMARKS
from stackviz.cited.words import devices_text, listed, result_address, setting_text
from stackviz.measuring import BENCHMARKS
from stackviz.results.drawing import DrawnLadder, best_of_vendors, draw_ladder
from stackviz.results.files import ladder_file
from stackviz.results.forms import devices_note, facet_form, other_cases, plain_choice
from stackviz.results.measured_page import measured_page
from stackviz.results.measured_section import measured_section
from stackviz.results.ranking import CitedLadder, ladder_of
from stackviz.results.selection import CitedChoice, read_choice
from stackviz.results.svg_file import RankingWords, ranking_svg
from stackviz.units import format_in
from stackviz.web.address import Note
from stackviz.web.download import svg_response
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.paging import page_number, page_of
from stackviz.web.parts import cached_html, render_part
from stackviz.web.templatetags.web import joined

__all__ = ["benchmark_page", "urlpatterns"]

PER_PAGE = 100
MOST_LEFT_OUT = 50  # results without a place in the ranking that are listed
CACHE_S = 600  # the key moves with cited results and sheets


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A result of this setting that is not ranked, and why."""

    name: str
    devices: str
    value: str
    why: str
    source: str
    source_url: str
    url: str


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
    ladder = ladder_of(benchmark, choice)
    drawn = draw_ladder(ladder)
    shown, query = _words(ladder, drawn, choice), choice.query_string
    words = RankingWords(
        title=str(benchmark.title),
        setting=joined([shown.setting, shown.counts]),
        notes=[*filter(None, [shown.overtaken]), shown.key, *map(str, shown.notes)],
        address=request.build_absolute_uri(request.path + (f"?{query}" if query else "")),
        day=timezone.now().date(),
    )
    rows = page_of(drawn.rows, page_number(request), PER_PAGE).items
    return svg_response(f"benchmark {benchmark.key}", ranking_svg(drawn, rows, words))


def _body(benchmark: CitedBenchmark, choice: CitedChoice, number: int) -> SafeString:
    """The form, the ranking and what stands below; the first page of a common choice is cached."""

    def draw() -> SafeString:
        ladder = ladder_of(benchmark, choice)
        drawn = draw_ladder(ladder)
        return render_part(
            "results/_benchmark.jinja",
            benchmark=benchmark,
            choice=choice,
            ladder=ladder,
            drawn=drawn,
            page=page_of(drawn.rows, number, PER_PAGE),
            words=_words(ladder, drawn, choice),
            form=facet_form(choice, ladder),
            best=best_of_vendors(ladder, drawn),
            cases=other_cases(choice, ladder),
            left_out=left_out(ladder.case),
            measured=measured_section(benchmark.key, choice.measured, ladder.case.params_key if ladder.case else ""),
        )

    if number > 1 or not plain_choice(choice):
        return draw()
    edition = edition_of_cases(), *(measured_edition() if benchmark.key in BENCHMARKS else ())
    return cached_html(("benchmark", benchmark.key, choice.query_string, *edition), draw, CACHE_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderWords:
    """`setting`: the case in words; `compared`: parameters that agree; `key`: how to read the drawing.

    `overtaken`: what is better than the first and not ranked, "" for nothing.
    """

    setting: str
    counts: str
    compared: str
    key: str
    notes: tuple[str | Note, ...]
    overtaken: str


def _words(ladder: CitedLadder, drawn: DrawnLadder, choice: CitedChoice) -> LadderWords:
    accelerators, results = len(ladder.rows), ladder.results
    counts = [
        ngettext("%(n)d accelerator", "%(n)d accelerators", accelerators) % {"n": accelerators},
        ngettext("%(n)d result", "%(n)d results", results) % {"n": results},
    ]
    notes: list[str | Note] = [*ladder.notes, *filter(None, [devices_note(ladder)])]
    if ladder.case and ladder.case.results > ladder.results_read:
        words = _("This setting has %(all)d results; %(n)d are read, the best of each accelerator first.")
        notes.append(words % {"all": ladder.case.results, "n": ladder.results_read})
    return LadderWords(
        setting=setting_text(ladder.benchmark, ladder.case.params) if ladder.case else "",
        counts=", ".join(counts),
        compared=listed(ladder.benchmark.compared),
        key=_key(ladder, drawn),
        notes=tuple(notes),
        overtaken=overtaken_text(ladder, choice),
    )


def overtaken_text(ladder: CitedLadder, choice: CitedChoice) -> str:
    """Which results without a certain sheet are better than the first. One query."""
    if ladder.case is None or not ladder.rows:
        return ""
    others = having(ladder.benchmark, choice.chosen, without_sheet([ladder.case.params_key]))
    better = better_than(ladder.rows[0], ladder.benchmark, others)
    if not better:
        return ""
    words = ngettext(
        "%(n)d result without a certain sheet is better: %(best)s (%(name)s)",
        "%(n)d results without a certain sheet are better, the best %(best)s (%(name)s)",
        len(better),
    )
    best = format_in(better[0].amount_per_device, readable_symbol(ladder.rows, ladder.case.si)).label
    return words % {"n": len(better), "best": best, "name": better[0].reported_name}


def _key(ladder: CitedLadder, drawn: DrawnLadder) -> str:
    sentences = [
        _("Higher is better.") if ladder.benchmark.higher_is_better else _("Lower is better."),
        _("The ring is the best result of an accelerator; paler rings are its other results."),
        _("The tick is the most that published values allow.") if drawn.has_bounds else "",
    ]
    return " ".join(filter(None, sentences))


def left_out(case: CitedCase | None) -> Sequence[LeftOut]:
    """Results of a case that are not public, the best MOST_LEFT_OUT and one more. One query."""
    if case is None:
        return ()
    unranked = CitedResult.objects.filter(benchmark=case.benchmark, params_key=case.params_key)
    unranked = unranked.exclude(state=CitedResult.State.PUBLIC).select_related("source")
    ordered = unranked.order_by(best_first_order(CITED_BENCHMARKS[case.benchmark]), "pk")
    return [
        LeftOut(
            name=row.reported_name,
            devices=devices_text(row.count) if row.count > 1 else "",
            value=f"{row.value} {row.unit}",
            why=row.reason or str(row.get_state_display()),
            source=row.source.title,
            source_url=row.source.url,
            url=result_address(row),
        )
        for row in ordered[: MOST_LEFT_OUT + 1]
    ]


urlpatterns = [path("benchmarks/<slug:key>/", benchmark_page, name="benchmark")]
