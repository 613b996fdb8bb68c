"""Searching: the page of results, suggestions below the box of the header, offers for other pages' forms."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from stackviz.pages.compare.query import (
    MOST_SUBJECTS,
    Address,
    Subject,
    SubjectKind,
    parse_subject,
    read_compare_query,
)
from stackviz.pages.fit.query import MOST_ACCELERATORS, PARAMETERS
from stackviz.pages.search.answers import answer_search, question_subject, ranked_hits
from stackviz.pages.search.index import SearchEntry, SearchHit, SearchKind
from stackviz.pages.search.prepared import search_index
from stackviz.pages.search.query import meant_accelerator
from stackviz.pages.search.words_of_machines import machine_hits
from stackviz.web.http.address import AddressReader, clean_text
from stackviz.web.http.htmx import vary_on_htmx, wants_partial
from stackviz.web.i18n.languages import without_language

MOST_SUGGESTED = 8
LONGEST_QUERY = 300  # characters: a line of an error message


@require_safe
@vary_on_htmx
def search_page(request: HttpRequest) -> HttpResponse:
    """Results in groups, or what can be searched where there are none."""
    reader = AddressReader(request.GET)
    query = read_query(reader)
    if wants_partial(request):
        suggestions = {"hits": ranked_hits(request.user, query)[:MOST_SUGGESTED], "query": query}
        return unlisted(render(request, "search/_suggestions.html", suggestions))
    context = {"answer": answer_search(request.user, query), "notes": reader.notes({"q"})}
    return unlisted(render(request, "search/page.html", context))


def read_query(reader: AddressReader, name: str = "q") -> str:
    """The text without control characters, its white space single; a note where it is cut."""
    given = reader.parameters.get(name, "")
    text = " ".join("".join(character if character.isprintable() else " " for character in given).split())
    if len(text) > LONGEST_QUERY:
        problem = _("The text is longer than %(n)d characters") % {"n": LONGEST_QUERY}
        reader.note(name, problem, gettext_lazy("the rest was ignored"))
    return text[:LONGEST_QUERY].strip()


def unlisted(answer: HttpResponse) -> HttpResponse:
    """In no search engine: every query would be a page."""
    answer.headers["X-Robots-Tag"] = "noindex"
    return answer


# --- offers to put into another page ---

MOST_OFFERED = 8
Offer: TypeAlias = tuple[SearchHit, str, str]  # what was found, the page with it, and its kind where there are several


# --- /search/accelerators/: accelerators for a form that lists only those most asked for ---


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingForm:
    """A form that accelerators are searched for. `parameters` of its address stay; it takes `most` accelerators."""

    page: str
    title: str | Promise
    parameters: frozenset[str]
    most: int

    def query(self, given: QueryDict) -> QueryDict:
        """What the form's address keeps of a search's."""
        carried = QueryDict(mutable=True)
        for name in sorted(self.parameters & given.keys()):
            carried.setlist(name, [text for value in given.getlist(name)[-self.most :] if (text := clean_text(value))])
        return carried

    def url(self, carried: QueryDict, slug: str) -> str:
        """The form's address with this accelerator: as its only one, or as the last of those it takes."""
        others = [other for other in carried.getlist("accelerator") if other != slug] if self.most > 1 else []
        query = carried.copy()
        query.setlist("accelerator", [*others[-(self.most - 1) :], slug] if others else [slug])
        return f"{reverse(self.page)}?{query.urlencode()}"


# A plan keeps the framework alone: which systems and releases there are depends on the accelerator.
FORMS = {
    "plan": AskingForm(
        page="plan:page", title=gettext_lazy("Plan a stack"), parameters=frozenset({"framework"}), most=1
    ),
    "fit": AskingForm(
        page="fit:page", title=gettext_lazy("Does it fit?"), parameters=PARAMETERS - {"page"}, most=MOST_ACCELERATORS
    ),
}


@require_safe
@vary_on_htmx
def accelerators_page(request: HttpRequest) -> HttpResponse:
    """Links to the form with the accelerator chosen, those of plans unless another form is named; for htmx options."""
    query = read_query(AddressReader(request.GET))
    name = request.GET.get("for", "")
    name = name if name in FORMS else "plan"
    form = FORMS[name]
    carried = form.query(request.GET)
    context = {"offered": list(_accelerators_offered(form, carried, query)), "query": query}
    if wants_partial(request):
        return unlisted(render(request, "search/_offer_options.html", context))
    back = f"{reverse(form.page)}?{carried.urlencode()}" if carried else reverse(form.page)
    hidden = [(key, value) for key, values in carried.lists() for value in values]
    page = {**context, "for": name, "title": form.title, "carried": hidden, "back_url": back}
    return unlisted(render(request, "search/accelerators.html", page))


def _accelerators_offered(form: AskingForm, carried: QueryDict, query: str) -> Iterator[Offer]:
    hits = search_index().search(question_subject(query)) if query else []
    matching = [hit for hit in hits if hit.entry.kind == SearchKind.ACCELERATOR]
    ending = "-" + "-".join(query.casefold().split())
    by_slug = {without_language(hit.entry.url).strip("/").rpartition("/")[2]: hit for hit in matching}
    # "3060" means the RTX 3060 before its variants: sorting is stable, so the others keep their order
    for slug in sorted(by_slug, key=lambda slug: not slug.endswith(ending))[:MOST_OFFERED]:
        yield by_slug[slug], form.url(carried, slug), ""


# --- /search/subjects/: what could join a comparison ---

_PREFIXES = {
    SearchKind.ACCELERATOR: "",
    SearchKind.STACK: "stack:",
    SearchKind.HOST: "host:",
    SearchKind.MACHINE: "machine:",
}


@require_safe
@vary_on_htmx
def subjects_page(request: HttpRequest) -> HttpResponse:
    """Links to the comparison with one subject more, or with one in place of another; for htmx the options alone."""
    reader = AddressReader(request.GET)
    query, second = read_query(reader), read_query(reader, "q2")
    compared = read_compare_query(request.GET)
    address = Address(compared.selection.subjects, compared.base, compared.only_differences, compared.at)
    if slot := request.GET.get("slot", ""):
        return unlisted(_slot_options(request, query, second, slot))
    if second:
        address, query = _with_meant(request, address, (query, second))
        if not query:
            return HttpResponseRedirect(f"{reverse('compare:page')}{address.query()}")
    instead = parse_subject(request.GET.get("instead", "")[:200])
    instead = instead if instead in address.subjects else None
    is_full = instead is None and len(address.subjects) >= MOST_SUBJECTS
    offered = [] if is_full else list(_subjects_offered(request, query, address, instead))
    context = {"offered": offered, "query": query, "is_full": is_full, "most": MOST_SUBJECTS}
    if wants_partial(request):
        return unlisted(render(request, "search/_subject_options.html", context))
    hidden = [subject.name for subject in address.subjects]
    back = f"{reverse('compare:page')}{address.query()}"
    page = {**context, "subjects": hidden, "instead": instead.name if instead else "", "back_url": back}
    return unlisted(render(request, "search/subjects.html", page))


def _slot_options(request: HttpRequest, first: str, second: str, slot: str) -> HttpResponse:
    """The options of one of two boxes, each with what the text of the other one means."""
    query, other = (second, first) if slot == "2" else (first, second)
    address, _unknown = _with_meant(request, Address(()), (other,) if other else ())
    offered = list(_subjects_offered(request, query, address, None, is_first=slot == "1"))
    context = {"offered": offered, "query": query, "prefix": "second-" if slot == "2" else "first-"}
    return render(request, "search/_offer_options.html", context)


def _with_meant(request: HttpRequest, address: Address, texts: Sequence[str]) -> tuple[Address, str]:
    """(the comparison with the best hit of each text, the first text that nothing fits with all its words)."""
    for text in texts:
        entries = [*machine_hits(request.user, text), *search_index().search(text)]
        hits = sorted((hit for hit in entries if not hit.missing), key=lambda hit: -hit.score)
        subject = _meant_subject(hits, text)
        if subject is None:
            return address, text
        if subject not in address.subjects:
            address = _with_subject(address, subject, None)
    return address, ""


def _meant_subject(hits: list[SearchHit], text: str) -> Subject | None:
    """The one of this title, or the best; of accelerators that fit alike, the one asked for most."""
    entries = [hit.entry for hit in hits if subject_of(hit.entry)]
    named = next((entry for entry in entries if entry.title.casefold() == text.casefold()), None)
    entry = named or next(iter(entries), None)
    if entry is not None and entry.kind is SearchKind.ACCELERATOR and not named:
        entry = meant_accelerator(hits)
    return subject_of(entry) if entry else None


def _subjects_offered(
    request: HttpRequest, query: str, address: Address, instead: Subject | None, *, is_first: bool = False
) -> Iterator[Offer]:
    """The best hits that can be compared and are not compared yet, each as the last subject, or as the first.

    The visitor sees no others' private machines.
    """
    count = 0
    for hit in ranked_hits(request.user, query):
        subject = subject_of(hit.entry)
        if subject is None or subject in address.subjects or not _has_history(subject, address):
            continue
        offered = _with_subject(address, subject, instead)
        if is_first:
            offered = replace(offered, subjects=(subject, *address.subjects))
        yield hit, f"{reverse('compare:page')}{offered.query()}", str(hit.entry.kind.label)
        count += 1
        if count == MOST_OFFERED:
            return


def subject_of(entry: SearchEntry) -> Subject | None:
    """What the address of a comparison calls this entry; None where it cannot be compared."""
    if entry.kind not in _PREFIXES:
        return None
    _room, *names = without_language(entry.url).strip("/").split("/")
    return parse_subject(_PREFIXES[entry.kind] + "/".join(names))


def _has_history(subject: Subject, address: Address) -> bool:
    return address.at is None or subject.kind is SubjectKind.ACCELERATOR


def _with_subject(address: Address, subject: Subject, instead: Subject | None) -> Address:
    """The comparison with this subject in the place of the other, or as the last."""
    if instead is None:
        return replace(address, subjects=(*address.subjects, subject))
    subjects = tuple(subject if other == instead else other for other in address.subjects)
    return replace(address, subjects=subjects, base=subject if address.base == instead else address.base)
