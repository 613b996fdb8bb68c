"""Home, health check and error pages."""

import logging
import sys

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from stackviz.pages.home.decode_picture import decode_picture_html
from stackviz.pages.home.home import front_page
from stackviz.pages.home.speeds import speeds_html
from stackviz.records.cited.models import CitedEdition
from stackviz.records.hosts.models import HostEdition
from stackviz.records.labs.queries import Visitor
from stackviz.records.series.public_runs import cached_for_strangers
from stackviz.web.http.addresses import address_by_name
from stackviz.web.i18n.languages import prefixes, without_language
from stackviz.web.preview import Introduction, Preview, make_preview

log = logging.getLogger(__name__)

RETRY_AFTER_S = 5  # long enough for a database to restart

# Not useful to search engines: forms, API responses, single uploads.
ROBOTS = """User-agent: *
Allow: /api/v1/
Disallow: /admin/
Disallow: /api/
Disallow: /embed/
Disallow: /language/
{receipts}
Sitemap: {sitemap}
"""


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The front page."""
    parts = cached_for_strangers(request.user, ("home", CitedEdition.current(), HostEdition.current()), _home_parts)
    named = dict(zip(("speeds", "stacks", "examples", "more"), parts, strict=True))
    return render(request, "home/home.html", {**named, "preview": _home_preview(request)})


def _home_parts(visitor: Visitor) -> tuple[str, ...]:
    front = front_page(visitor)
    return (
        speeds_html(),
        render_to_string("home/_stacks.html", {"stacks": front["stacks"]}),
        render_to_string("home/_examples.html", {"examples": front["examples"]}),
        render_to_string("home/_more.html", {"front": front, "decode": decode_picture_html()}),
    )


def _home_preview(request: HttpRequest) -> Preview:
    """With a `WebSite` of schema.org, which says where to search it."""
    answer = _(
        "Compare NVIDIA GPUs, Apple silicon and others: spec sheets with sources, software stacks layer by layer, and "
        "what lab machines measure."
    )
    introduction = Introduction(_("Accelerator stacks, from silicon to PyTorch"), answer)
    search = {
        "@type": "SearchAction",
        "target": {
            "@type": "EntryPoint",
            "urlTemplate": request.build_absolute_uri(address_by_name("search:page")) + "?q={query}",
        },
        "query-input": "required name=query",
    }
    home_address = address_by_name("home:home")
    url = request.build_absolute_uri(home_address)
    data = {"@context": "https://schema.org", "@type": "WebSite", "name": "accelweb", "url": url}
    return make_preview(request, introduction, home_address, data=data | {"potentialAction": search})


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
    receipts = "\n".join(f"Disallow: /{prefix}receipts/" for prefix in ("", *prefixes().values()))
    return HttpResponse(ROBOTS.format(receipts=receipts, sitemap=sitemap), content_type="text/plain")


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
    """Uses neither the database nor the session, since either may have failed. 503 where it was the database."""
    if isinstance(sys.exc_info()[1], (OperationalError, InterfaceError)):
        return _database_away(request)
    if _is_for_a_program(request):
        return JsonResponse({"error": "something went wrong on our side; try again later", "field": None}, status=500)
    return HttpResponse(render_to_string("500.html"), status=500)


def _database_away(request: HttpRequest) -> HttpResponse:
    headers = {"Retry-After": str(RETRY_AFTER_S)}
    if _is_for_a_program(request):
        body = {"error": "the database is unavailable; send the same request again", "field": None}
        return JsonResponse(body, status=503, headers=headers)
    return HttpResponse(render_to_string("503.html"), status=503, headers=headers)


def _refusal(request: HttpRequest, status: int, text: str) -> HttpResponse:
    if _is_for_a_program(request):
        return JsonResponse({"error": text, "field": None}, status=status)
    return render(request, f"{status}.html", {"text": text}, status=status)


def _is_for_a_program(request: HttpRequest) -> bool:
    return without_language(request.path_info).startswith("/api/")
