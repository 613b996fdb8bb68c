"""/claims/: what widely copied articles say, with our verdict, the right figure and its source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from stackviz.pages.accelerators.claims import Checked, Claim, ClaimVerdict, checked, matching, read_claims
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.web.http.address import AddressReader, Note
from stackviz.web.http.download import Columns, json_response, table_file
from stackviz.web.http.formats import serves_formats
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.parts import cached_html, render_part
from stackviz.web.preview import Introduction, Preview, make_preview

CACHE_S = 600
MOST_OPEN = 20  # claims of a search that are shown at once; more are folded by chapter
MOST_QUESTIONS = 20  # of the structured data: the first of the page, so that it stays small


@dataclass(frozen=True, slots=True)
class ClaimsQuery:
    """Which claims to show: those with a verdict, or with some words; "" is all of them."""

    verdict: str
    q: str
    format: str
    notes: tuple[Note, ...]

    def address(self, **other: str) -> str:
        query = QueryDict(mutable=True)
        parts = {"verdict": self.verdict, "q": self.q, **other}
        query.update({name: value for name, value in parts.items() if value})
        return reverse("accelerators:claims") + (f"?{query.urlencode()}" if query else "")


@require_safe
@serves_formats("csv", "json")
@vary_on_htmx
def claims(request: HttpRequest) -> HttpResponse:
    """All claims, or those with one verdict or some words; for htmx the list alone; `format=csv|json` as a file."""
    query = read_claims_query(request.GET)
    matches = matching(read_claims(), query.verdict, query.q)
    if query.format:
        return _file(query.format, checked(matches))
    html = _html(query, matches)
    if wants_partial(request):
        return push_url(HttpResponse(html), query.address())
    return render(
        request,
        "accelerators/claims.html",
        {"asked": query, "found": html, "preview": _preview(request, query, matches)},
    )


def _preview(request: HttpRequest, query: ClaimsQuery, matches: Sequence[Claim]) -> Preview:
    """Structured data for the page's own address only: a search is no page that others should know."""
    is_whole = not (query.verdict or query.q or query.notes)
    answer = _("Widely copied statements about accelerators and their software, checked against sourced figures.")
    introduction = Introduction(_("Claims checked"), answer)
    return make_preview(request, introduction, query.address(), data=questions_data(matches) if is_whole else ())


def questions_data(claims: Sequence[Claim]) -> Mapping[str, object]:
    """The first claims as a `FAQPage` of schema.org: the claim is the question, verdict and right figure the answer."""
    return {
        "@context": "https://schema.org",
        "@type": "FAQPage",
        "mainEntity": [
            {
                "@type": "Question",
                "name": f"{claim.subject}: {claim.text}",
                "acceptedAnswer": {"@type": "Answer", "text": f"{claim.verdict.label}: {claim.answer}"},
            }
            for claim in claims[:MOST_QUESTIONS]
        ],
    }


def read_claims_query(parameters: QueryDict) -> ClaimsQuery:
    reader = AddressReader(parameters)
    return ClaimsQuery(
        verdict=reader.choice("verdict", ClaimVerdict.values, _("verdict")),
        q=reader.text("q"),
        format=reader.text("format"),
        notes=reader.notes({"verdict", "q", "format"}),
    )


def _html(query: ClaimsQuery, matches: Sequence[Claim]) -> str:
    """The notes, then the list as HTML, cached per edition."""

    def made() -> str:
        files = {"as_csv": query.address(format="csv"), "as_json": query.address(format="json")}
        chapters: dict[str, list[Checked]] = {}
        for item in checked(matches):
            chapters.setdefault(item.claim.chapter.partition("#")[0], []).append(item)
        is_short = len(matches) <= MOST_OPEN
        context = {"asked": query, "n": len(matches), "chapters": chapters, "is_short": is_short}
        context |= {"choices": _choices(query), **files}
        return render_to_string("accelerators/_claims.html", context)

    claims_html = cached_html(("claims", query.verdict, query.q, CatalogueEdition.current()), made, CACHE_S)
    return render_part("web/_notes.jinja", notes=query.notes) + claims_html


def _choices(query: ClaimsQuery) -> list[tuple[str, str, int, str]]:
    """Return each verdict to filter by, "" for all: its value, label, number of claims and address."""
    everything = matching(read_claims(), "", query.q)
    counts = {verdict: sum(claim.verdict == verdict for claim in everything) for verdict in ClaimVerdict}
    rest = [
        (verdict.value, str(verdict.label), counts[verdict], query.address(verdict=verdict.value))
        for verdict in ClaimVerdict
    ]
    return [("", _("all"), len(everything), query.address(verdict="")), *rest]


_COLUMNS: Columns[Checked] = {
    "key": lambda item: item.claim.key,
    "subject": lambda item: item.claim.subject,
    "claim": lambda item: item.claim.text,
    "verdict": lambda item: item.claim.verdict.value,
    "answer": lambda item: item.claim.answer,
    "figures": lambda item: "; ".join(
        f"{figure.accelerator.name}: {figure.title} {figure.text}" for figure in item.figures
    ),
    "sources": lambda item: " ".join(_addresses(item)),
    "chapter": lambda item: item.claim.chapter_url,
}


def _file(ending: str, claims: Sequence[Checked]) -> HttpResponse:
    if ending == "csv":
        return table_file("claims", _COLUMNS, claims)
    return json_response("claims", {"claims": [_as_data(item) for item in claims]})


def _addresses(item: Checked) -> list[str]:
    links = [figure.source for figure in item.figures if figure.source] + list(item.claim.sources)
    return list(dict.fromkeys(link.url for link in links))


def _as_data(item: Checked) -> dict[str, object]:
    claim = item.claim
    return {
        "key": claim.key,
        "subject": claim.subject,
        "claim": claim.text,
        "verdict": claim.verdict.value,
        "answer": claim.answer,
        "figures": [
            {
                "accelerator": figure.accelerator.slug,
                "field": figure.title,
                "value": figure.text or None,
                "condition": figure.condition,
                "source": figure.source.url if figure.source else None,
            }
            for figure in item.figures
        ],
        "sources": [{"title": link.title, "url": link.url} for link in claim.sources],
        "seen_at": [{"title": link.title, "url": link.url} for link in claim.seen_at],
        "chapter": claim.chapter_url,
    }
