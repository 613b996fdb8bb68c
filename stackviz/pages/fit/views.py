"""The page `/fit/`: what a model needs, which accelerators run it, how fast. The address holds the whole question."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from stackviz.draw.colours import Hue, hues_of
from stackviz.pages.fit.answers import FitCalibrations, chosen_answers
from stackviz.pages.fit.evidence import FitEvidence, calibrations, fit_evidence
from stackviz.pages.fit.files import fit_csv
from stackviz.pages.fit.forms import fit_form
from stackviz.pages.fit.query import CUSTOM, MOST_ACCELERATORS, FitChoice, FitQuery, read_fit_query, unpublished_size
from stackviz.pages.fit.shown import shown_page, size_rate, size_verdict
from stackviz.pages.fit.summary import fit_answers, fit_summary
from stackviz.pages.fit.targets import FitTarget, fit_targets
from stackviz.records.catalog.queries import PublicCatalogue, public_catalogue
from stackviz.web.http.address import AddressReader
from stackviz.web.http.formats import serves_formats
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.paging import page_number, page_of
from stackviz.web.parts import cached_html, cached_parts, render_part
from stackviz.web.preview import Introduction, Preview, make_preview, sharing_of

PER_PAGE = 25
CACHE_S = 600
_PLAIN = frozenset({"model", "precision", "task", "accelerator", "cards"})


@require_safe
@serves_formats("csv")
@vary_on_htmx
def page(request: HttpRequest) -> HttpResponse:
    """The form and its answer; htmx gets them without the page around. Or the answer as CSV."""
    catalogue = public_catalogue()
    parameters = request.GET.copy()
    is_file = bool(parameters.pop("format", [""])[-1])
    query = read_fit_query(parameters, fit_targets(catalogue))
    if is_file:
        return fit_csv(query, fit_answers(query, catalogue, fit_evidence(catalogue)))
    body, answer = _body(query, catalogue, fit_evidence(catalogue), page_number(request))
    preview = _preview(request, query, html.unescape(answer))
    body += render_part("web/_sharing.jinja", sharing=sharing_of(preview))
    if wants_partial(request):
        address = query.parameters.urlencode(safe=":")
        part = render_part("web/_notes.jinja", notes=query.notes) + body
        return push_url(HttpResponse(part), request.path + (f"?{address}" if address else ""))
    return render(request, "fit/page.html", {"notes": query.notes, "body": body, "query": query, "preview": preview})


def _preview(request: HttpRequest, query: FitQuery, answer: str) -> Preview:
    """The question as title. What could not be read has no picture."""
    title = _("%(model)s in %(precision)s: does it fit?")
    introduction = Introduction(title % {"model": query.model.name, "precision": query.precision.name}, answer)
    address = query.parameters.urlencode(safe=":")
    question = f"?{address}" if address else ""
    return make_preview(
        request, introduction, request.path + question, picture="" if query.notes else f"fit.png{question}"
    )


def _body(query: FitQuery, catalogue: PublicCatalogue, evidence: FitEvidence, number: int) -> tuple[SafeString, ...]:
    """(the form with its answer, the answer in a sentence) as HTML, cached where all of it is a choice of a list."""

    def draw() -> tuple[str, str]:
        return _rendered(query, catalogue, evidence, number)

    is_plain = number == 1 and query.model.slug != CUSTOM and set(query.parameters) <= _PLAIN and query.cards <= 8
    if not is_plain or len(query.accelerators) > 1:
        return tuple(map(SafeString, draw()))
    return cached_parts(("fit", query.parameters.urlencode(), evidence.edition), draw, CACHE_S)


def _rendered(query: FitQuery, catalogue: PublicCatalogue, evidence: FitEvidence, number: int) -> tuple[str, str]:
    summary = fit_summary(query, catalogue, evidence)
    body = render_part(
        "fit/_fit.jinja",
        query=query,
        form=fit_form(query, catalogue),
        summary=summary,
        page=shown_page(page_of(summary.ranked, number, PER_PAGE)),
    )
    return body, escape(summary.sentence)


# --- /fit/compared/?a=apple-m4-max-40&a=nvidia-h100-sxm5-80gb:80:8, which comparisons fetch as a table ---

PARAMETER = "a"
MODELS = ("llama-3.1-8b", "qwen-3-32b", "llama-3.1-70b")
PRECISION = "q4_k_m"
_SUBJECT = re.compile(r"(?P<slug>[A-Za-z0-9_-]{1,120})(?::(?P<memory>\d{1,5})(?::(?P<cards>\d{1,3}))?)?")


@dataclass(frozen=True, slots=True)
class ComparedTarget:
    """An accelerator with the memory it has, in GB, 0 for all sizes of its sheet, and how many work together."""

    target: FitTarget
    memory_gb: int
    cards: int

    @property
    def title(self) -> str:
        sized = f"{self.target.name}, {self.memory_gb} GB" if self.memory_gb else self.target.name
        return f"{self.cards} × {sized}" if self.cards > 1 else sized

    @property
    def choice(self) -> FitChoice:
        """What the sheet has: all its sizes where what a machine reports is none of them."""
        return FitChoice(self.target.slug, self.memory_gb if self.memory_gb in self.target.sizes else 0)


@dataclass(frozen=True, slots=True)
class ComparedCell:
    """Whether a model fits: `verdict` in words, `rate` in tokens/s, "" where none can be told; `url`: of the answer."""

    fits: bool | None
    verdict: str
    rate: str
    url: str


@dataclass(frozen=True, slots=True)
class ComparedLine:
    title: str
    css: str
    cells: tuple[ComparedCell, ...]


@require_safe
@vary_on_htmx
def compared_page(request: HttpRequest) -> HttpResponse:
    """A line for each accelerator; for htmx the table alone."""
    catalogue = public_catalogue()
    reader = AddressReader(request.GET)
    targets = _targets(reader, fit_targets(catalogue))
    body = _compared_body(targets, catalogue) if targets else ""
    if wants_partial(request) and body:
        return HttpResponse(body)
    return render(request, "fit/compared.html", {"notes": reader.notes({PARAMETER}), "body": body})


def _targets(reader: AddressReader, known: Mapping[str, FitTarget]) -> tuple[ComparedTarget, ...]:
    """Those the address names, in its order; the rest has a note."""
    targets: list[ComparedTarget] = []
    for value in reader.values(PARAMETER):
        match = _SUBJECT.fullmatch(value)
        target = known.get(match["slug"]) if match else None
        if match is None or target is None:
            reader.unknown_value(PARAMETER, _("accelerator"), value)
        elif len(targets) == MOST_ACCELERATORS:
            reader.note(PARAMETER, _("At most %(n)d accelerators are compared") % {"n": MOST_ACCELERATORS})
        else:
            targets.append(ComparedTarget(target, int(match["memory"] or 0), max(1, int(match["cards"] or 1))))
    for each in targets:
        if each.memory_gb and not each.choice.memory_gb:
            problem = unpublished_size(each.target, str(each.memory_gb))
            reader.note(PARAMETER, problem, gettext_lazy("all its sizes are shown"))
    return tuple(targets)


def _compared_body(targets: tuple[ComparedTarget, ...], catalogue: PublicCatalogue) -> SafeString:
    evidence = fit_evidence(catalogue)
    named = tuple((each.target.slug, each.memory_gb, each.cards) for each in targets)

    def draw() -> str:
        fitted = calibrations(evidence, catalogue)
        hues = hues_of(each.target.rated.vendor for each in targets)
        lines = tuple(_line(hue, each, fitted) for hue, each in zip(hues, targets, strict=True))
        models = tuple(_query_of_model(MODELS[column], targets[0]).model.name for column in range(len(MODELS)))
        return render_part("fit/_compared.jinja", models=models, lines=lines)

    return cached_html(("fit compared", named, evidence.edition), draw, CACHE_S)


def _line(hue: Hue, compared: ComparedTarget, fitted: FitCalibrations) -> ComparedLine:
    cells = tuple(_cell(model, compared, fitted) for model in MODELS)
    return ComparedLine(compared.title, hue.css, cells)


def _query_of_model(model: str, compared: ComparedTarget) -> FitQuery:
    known = {compared.target.slug: compared.target}
    return read_fit_query(QueryDict(_address_of_model(model, compared)), known)


def _address_of_model(model: str, compared: ComparedTarget) -> str:
    chosen = {"model": model, "precision": PRECISION, "accelerator": str(compared.choice)}
    if compared.cards > 1:
        chosen["cards"] = str(compared.cards)
    return urlencode(chosen, safe=":")


def _cell(model: str, compared: ComparedTarget, fitted: FitCalibrations) -> ComparedCell:
    query = _query_of_model(model, compared)
    answers = chosen_answers(query, {compared.target.slug: compared.target}, fitted)
    url = f"{reverse('fit:page')}?{_address_of_model(model, compared)}"
    if not answers:
        return ComparedCell(None, _("memory not published"), "", url)
    fits = any(answer.fits for answer in answers)
    return ComparedCell(fits, size_verdict(answers), size_rate(answers), url)
