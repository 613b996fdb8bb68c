"""The page `/fit/`: what a model needs, which accelerators run it, how fast. The address holds the whole question."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from stackviz.pages.fit.answers import FitAnswer, answers_for
from stackviz.pages.fit.custom_model import CUSTOM
from stackviz.pages.fit.evidence import FitEvidence, calibrations, fit_evidence
from stackviz.pages.fit.files import fit_csv
from stackviz.pages.fit.forms import fit_form
from stackviz.pages.fit.query import FitQuery, read_fit_query
from stackviz.pages.fit.shown import shown_page, shown_summary
from stackviz.pages.fit.targets import fit_targets
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.paging import page_number, page_of
from stackviz.web.parts import cached_html, render_part

PER_PAGE = 25
CACHE_S = 600
_PLAIN = frozenset({"model", "precision", "task", "accelerator", "cards"})


@require_safe
@vary_on_htmx
def page(request: HttpRequest) -> HttpResponse:
    """The form and its answer; htmx gets them without the page around. Or the answer as CSV."""
    catalogue = public_catalogue()
    parameters = request.GET.copy()
    is_file = parameters.pop("format", None) == ["csv"]
    query = read_fit_query(parameters, fit_targets(catalogue))
    if is_file:
        return fit_csv(query, _answers(query, catalogue, fit_evidence(catalogue)))
    body = _body(query, catalogue, fit_evidence(catalogue), page_number(request))
    if wants_partial(request):
        address = query.parameters.urlencode()
        part = render_part("web/_notes.jinja", notes=query.notes) + body
        return push_url(HttpResponse(part), request.path + (f"?{address}" if address else ""))
    return render(request, "fit/page.html", {"notes": query.notes, "body": body, "query": query})


def _body(query: FitQuery, catalogue: PublicCatalogue, evidence: FitEvidence, number: int) -> SafeString:
    """Cached where everything in it is a choice of a list."""
    is_plain = number == 1 and query.model.slug != CUSTOM and set(query.parameters) <= _PLAIN and query.cards <= 8
    if not is_plain or len(query.accelerators) > 1:
        return SafeString(_rendered(query, catalogue, evidence, number))
    state = ("fit", query.parameters.urlencode(), evidence.edition)
    return cached_html(state, lambda: _rendered(query, catalogue, evidence, number), CACHE_S)


def _answers(query: FitQuery, catalogue: PublicCatalogue, evidence: FitEvidence) -> list[FitAnswer]:
    """Of the chosen accelerators; without any, of all that run the precision."""
    targets = fit_targets(catalogue)
    chosen = [targets[slug] for slug in query.accelerators]
    shown = chosen or [target for target in targets.values() if query.precision.runs_on(target.rated.vendor)]
    return answers_for(query, shown, calibrations(evidence, catalogue))


def _rendered(query: FitQuery, catalogue: PublicCatalogue, evidence: FitEvidence, number: int) -> str:
    targets = fit_targets(catalogue)
    chosen = [targets[slug] for slug in query.accelerators]
    answers = _answers(query, catalogue, evidence)
    known = {answer.target.slug for answer in answers}
    unknown = [target.name for target in chosen if target.slug not in known]
    summary = shown_summary(query, answers, unknown)
    return render_part(
        "fit/_fit.jinja",
        query=query,
        form=fit_form(query, catalogue),
        summary=summary,
        page=shown_page(page_of(summary.ranked, number, PER_PAGE)),
    )
