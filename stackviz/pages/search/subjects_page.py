"""`/search/subjects/?q=&a=`: what could join a comparison, each with the address that shows it there."""

from collections.abc import Iterator
from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from stackviz.pages.compare.query import (
    MOST_SUBJECTS,
    Address,
    Subject,
    SubjectKind,
    parse_subject,
    read_compare_query,
)
from stackviz.pages.search.answers import ranked_hits, shown_hit
from stackviz.pages.search.entries import SearchEntry, SearchKind
from stackviz.pages.search.offers import MOST_OFFERED, Offer, offer_of
from stackviz.pages.search.views import read_query, unlisted
from stackviz.web.address import AddressReader
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.languages import without_language

_ROOMS = {SearchKind.ACCELERATOR: "", SearchKind.STACK: "stack:", SearchKind.MACHINE: "machine:"}


@require_safe
@vary_on_htmx
def subjects_page(request: HttpRequest) -> HttpResponse:
    """Links to the comparison with one subject more, or with one in place of another; for htmx the options alone."""
    query = read_query(AddressReader(request.GET))
    compared = read_compare_query(request.GET)
    address = Address(compared.selection.subjects, compared.base, compared.only_differences, compared.at)
    instead = parse_subject(request.GET.get("instead", "")[:200])
    instead = instead if instead in address.subjects else None
    is_full = instead is None and len(address.subjects) >= MOST_SUBJECTS
    offered = [] if is_full else list(_offered(request, query, address, instead))
    context = {"offered": offered, "query": query, "is_full": is_full, "most": MOST_SUBJECTS}
    if wants_partial(request):
        return unlisted(render(request, "search/_subject_options.html", context))
    hidden = [subject.name for subject in address.subjects]
    back = f"{reverse('compare:page')}{address.query()}"
    page = {**context, "subjects": hidden, "instead": instead.name if instead else "", "back_url": back}
    return unlisted(render(request, "search/subjects.html", page))


def _offered(request: HttpRequest, query: str, address: Address, instead: Subject | None) -> Iterator[Offer]:
    """The best hits that can be compared and are not compared yet. The visitor sees no others' private machines."""
    count = 0
    for hit in ranked_hits(request.user, query):
        subject = subject_of(hit.entry)
        if subject is None or subject in address.subjects or not _has_history(subject, address):
            continue
        url = f"{reverse('compare:page')}{_with(address, subject, instead).query()}"
        yield offer_of(shown_hit(hit), url, str(hit.entry.kind.label))
        count += 1
        if count == MOST_OFFERED:
            return


def subject_of(entry: SearchEntry) -> Subject | None:
    """What the address of a comparison calls this entry; None where it cannot be compared."""
    if entry.kind not in _ROOMS:
        return None
    _room, *names = without_language(entry.url).strip("/").split("/")
    return parse_subject(_ROOMS[entry.kind] + "/".join(names))


def _has_history(subject: Subject, address: Address) -> bool:
    return address.at is None or subject.kind is SubjectKind.ACCELERATOR


def _with(address: Address, subject: Subject, instead: Subject | None) -> Address:
    """The comparison with this subject in the place of the other, or as the last."""
    if instead is None:
        return replace(address, subjects=(*address.subjects, subject))
    subjects = tuple(subject if other == instead else other for other in address.subjects)
    return replace(address, subjects=subjects, base=subject if address.base == instead else address.base)
