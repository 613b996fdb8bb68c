"""Home, glossary, health, and what is shown when something went wrong. No models of its own."""

import logging

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from stackviz.pages.glossary import ENGLISH, read_glossary
from stackviz.pages.home import front_page

log = logging.getLogger(__name__)

# Addresses a search engine gains nothing from: forms, answers for programs, single uploads.
ROBOTS = "User-agent: *\nDisallow: /admin/\nDisallow: /api/\nDisallow: /receipts/\nDisallow: /i18n/\n"


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What this is, what is in it, and a first comparison to look at."""
    return render(request, "pages/home.html", {"front": front_page(request.user)})


@require_safe
def learn(request: HttpRequest) -> HttpResponse:
    return render(request, "pages/learn.html", {"chapters": read_glossary(get_language() or ENGLISH)})


@never_cache
@require_safe
def health(request: HttpRequest) -> JsonResponse:  # noqa: ARG001 (a view)
    """For load balancers and containers: 200 while this process can read the database, else 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        log.exception("the health check could not read the database")
        return JsonResponse({"status": "failing", "database": "unreachable"}, status=503)
    return JsonResponse({"status": "ok", "database": "ok", "version": str(getattr(settings, "VERSION", ""))})


@require_safe
def robots(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (a view)
    return HttpResponse(ROBOTS, content_type="text/plain")


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (a view)
    """Browsers ask for it on answers without HTML; pages name the SVG themselves."""
    return HttpResponsePermanentRedirect(static("favicon.svg"))


# --- errors: what is wrong, where, what to do -------------------------------------------------------------------


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 (Django's signature)
    return _refusal(request, 400, _("This request could not be understood."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return _refusal(request, 403, _("This needs a permission that you do not have."))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return _refusal(request, 404, _("There is nothing at this address."))


def server_error(request: HttpRequest) -> HttpResponse:
    """Touches neither the database nor the session: either may be what broke."""
    if _is_for_a_program(request):
        return JsonResponse({"error": "something went wrong on our side; try again later", "field": None}, status=500)
    return HttpResponse(render_to_string("500.html"), status=500)


def _refusal(request: HttpRequest, status: int, text: str) -> HttpResponse:
    if _is_for_a_program(request):
        return JsonResponse({"error": text, "field": None}, status=status)
    return render(request, f"{status}.html", {"text": text}, status=status)


def _is_for_a_program(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")
