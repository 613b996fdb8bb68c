"""`/language/<code>/?next=`: the menu's links. Remembers the language and leads to the same page in it."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path
from django.views.decorators.http import require_safe

from stackviz.web.i18n.languages import page_in, remember_language


@require_safe
def choose_language(request: HttpRequest, language: str) -> HttpResponse:
    """A page of another site that loads this address, as a picture, changes nothing."""
    if language not in dict(settings.LANGUAGES):
        raise Http404
    response = HttpResponseRedirect(page_in(language, request.GET.get("next", "")))
    response.headers["Cache-Control"] = "private, no-store"
    response.headers["X-Robots-Tag"] = "noindex"
    if request.headers.get("Sec-Fetch-Site", "same-origin") in ("same-origin", "none"):
        remember_language(response, language)
    return response


urlpatterns = [path("language/<slug:language>/", choose_language, name="language")]
