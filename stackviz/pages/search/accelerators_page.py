"""`/search/accelerators/?q=&for=plan`: accelerators for a form that lists only those most asked for."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from stackviz.pages.fit.query import MOST_ACCELERATORS, PARAMETERS
from stackviz.pages.search.answers import question_subject, shown_hit
from stackviz.pages.search.entries import SearchKind
from stackviz.pages.search.offers import MOST_OFFERED, Offer, offer_of
from stackviz.pages.search.prepared import search_index
from stackviz.pages.search.views import read_query, unlisted
from stackviz.web.address import AddressReader, clean_text
from stackviz.web.htmx import vary_on_htmx, wants_partial
from stackviz.web.languages import without_language


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
    "plan": AskingForm(page="plan:page", title=_("Plan a stack"), parameters=frozenset({"framework"}), most=1),
    "fit": AskingForm(
        page="fit:page", title=_("Does it fit?"), parameters=PARAMETERS - {"page"}, most=MOST_ACCELERATORS
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
    context = {"offered": list(_offered(form, carried, query)), "query": query}
    if wants_partial(request):
        return unlisted(render(request, "search/_offer_options.html", context))
    back = f"{reverse(form.page)}?{carried.urlencode()}" if carried else reverse(form.page)
    hidden = [(key, value) for key, values in carried.lists() for value in values]
    page = {**context, "for": name, "title": form.title, "carried": hidden, "back_url": back}
    return unlisted(render(request, "search/accelerators.html", page))


def _offered(form: AskingForm, carried: QueryDict, query: str) -> Iterator[Offer]:
    hits = search_index().search(question_subject(query)) if query else []
    matching = [hit for hit in hits if hit.entry.kind == SearchKind.ACCELERATOR]
    for hit in matching[:MOST_OFFERED]:
        slug = without_language(hit.entry.url).strip("/").rpartition("/")[2]
        yield offer_of(shown_hit(hit), form.url(carried, slug))
