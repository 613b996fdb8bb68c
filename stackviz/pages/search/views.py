"""`/search/?q=`: the page of results; for htmx the suggestions below the box of the header."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from stackviz.pages.search.answers import answer_search, suggested_hits
from stackviz.web.address import AddressReader
from stackviz.web.htmx import vary_on_htmx, wants_partial

LONGEST_QUERY = 300  # characters: a line of an error message


@require_safe
@vary_on_htmx
def search_page(request: HttpRequest) -> HttpResponse:
    """Results in groups, or what can be searched where there are none."""
    reader = AddressReader(request.GET)
    query = read_query(reader)
    if wants_partial(request):
        suggestions = {"hits": suggested_hits(request.user, query), "query": query}
        return unlisted(render(request, "search/_suggestions.html", suggestions))
    context = {"answer": answer_search(request.user, query), "notes": reader.notes({"q"})}
    return unlisted(render(request, "search/page.html", context))


def read_query(reader: AddressReader) -> str:
    """The text without control characters, its white space single; a note where it is cut."""
    given = reader.parameters.get("q", "")
    text = " ".join("".join(character if character.isprintable() else " " for character in given).split())
    if len(text) > LONGEST_QUERY:
        problem = _("The text is longer than %(n)d characters") % {"n": LONGEST_QUERY}
        reader.note("q", problem, gettext_lazy("the rest was ignored"))
    return text[:LONGEST_QUERY].strip()


def unlisted(answer: HttpResponse) -> HttpResponse:
    """In no search engine: every query would be a page."""
    answer.headers["X-Robots-Tag"] = "noindex"
    return answer
