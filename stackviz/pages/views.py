"""Home, glossary, health check and error pages."""

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

from stackviz.catalog.queries import public_catalogue
from stackviz.pages.decode_picture import decode_picture_html
from stackviz.pages.glossary import ENGLISH, read_glossary
from stackviz.pages.home import front_page
from stackviz.pages.well_known import fit_question, well_known_html

log = logging.getLogger(__name__)

# Not useful to search engines: forms, API responses, single uploads.
ROBOTS = """User-agent: *
Allow: /api/v1/docs/
Disallow: /admin/
Disallow: /api/
Disallow: /embed/
Disallow: /i18n/
Disallow: /receipts/
Sitemap: {sitemap}
"""


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The front page."""
    context = {
        "front": front_page(request.user),
        "decode": decode_picture_html(),
        "well_known": well_known_html(),
        "fit": fit_question(public_catalogue()),
    }
    return render(request, "pages/home.html", context)


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
        log.exception("health check failed: database unreachable")
        return JsonResponse({"status": "failing", "database": "unreachable"}, status=503)
    return JsonResponse({"status": "ok", "database": "ok", "version": str(getattr(settings, "VERSION", ""))})


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    sitemap = request.build_absolute_uri("/sitemap.xml")
    return HttpResponse(ROBOTS.format(sitemap=sitemap), content_type="text/plain")


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (a view)
    """Redirect to the SVG, for browsers that request /favicon.ico; pages link the SVG."""
    return HttpResponsePermanentRedirect(static("favicon.svg"))


# --- errors ---


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 (Django's signature)
    return _refusal(request, 400, _("This request could not be understood."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return _refusal(request, 403, _("You do not have permission for this."))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    return _refusal(request, 404, _("This page does not exist."))


def server_error(request: HttpRequest) -> HttpResponse:
    """Uses neither the database nor the session, since either may have failed."""
    if _is_for_a_program(request):
        return JsonResponse({"error": "something went wrong on our side; try again later", "field": None}, status=500)
    return HttpResponse(render_to_string("500.html"), status=500)


def _refusal(request: HttpRequest, status: int, text: str) -> HttpResponse:
    if _is_for_a_program(request):
        return JsonResponse({"error": text, "field": None}, status=status)
    return render(request, f"{status}.html", {"text": text}, status=status)


def _is_for_a_program(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")
