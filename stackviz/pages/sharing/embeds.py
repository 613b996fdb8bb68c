"""`/embed/...`: a page without script for the frames of other sites, and `/oembed`, which says how to frame a page."""

from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from urllib.parse import urlsplit

from django.core.exceptions import TooManyFieldsSent
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.template.loader import render_to_string
from django.urls import Resolver404, path, resolve
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from stackviz.pages.sharing.drawing import slide_svg
from stackviz.pages.sharing.hosts import allow_frames, embedding_is_allowed, is_refused_host
from stackviz.pages.sharing.pictures import cached_picture
from stackviz.pages.sharing.subjects import (
    Shared,
    public_subjects,
    shared_comparison,
    shared_ranking,
    shared_sheet,
    shared_subjects,
    stacks_picture,
)
from stackviz.web.http.address import whole_number
from stackviz.web.http.cors import close_to_other_sites
from stackviz.web.http.formats import serves_formats
from stackviz.web.http.rate_limit import RateLimited, ask_to_wait, too_many
from stackviz.web.i18n.languages import without_language
from stackviz.web.preview import FRAME_HEIGHT, FRAME_WIDTH, frame_line

LEAST_WIDTH, LEAST_HEIGHT = 240, 160
CACHE_S = 600


@require_safe
def embed_sheet(request: HttpRequest, slug: str) -> HttpResponse:
    return _embedded(request, shared_sheet(slug))


@require_safe
def embed_comparison(request: HttpRequest) -> HttpResponse:
    return _embedded(request, shared_comparison(request.GET))


@require_safe
def embed_ranking(request: HttpRequest, key: str) -> HttpResponse:
    return _embedded(request, shared_ranking(key, request.GET))


@require_safe
def embed_stacks(request: HttpRequest) -> HttpResponse:
    """The stacks of up to six subjects."""
    if is_refused_host(request):
        return _refused()
    chosen = public_subjects(request.GET)
    if not chosen:
        return _unknown(request)
    shared = shared_subjects(chosen)
    return _embedded(request, replace(shared, state=("stacks", *shared.state), make=lambda: stacks_picture(chosen)))


def _embedded(request: HttpRequest, shared: Shared | None) -> HttpResponse:
    if is_refused_host(request):
        return _refused()
    if shared is None:
        return _unknown(request)
    page = request.build_absolute_uri(shared.address)
    try:
        picture = cached_picture(request, shared)
    except RateLimited as limited:
        return too_many(limited)
    drawing = SafeString(slide_svg(picture).partition("\n")[2]) if picture.has_stacks else ""
    response = _frame_page({"picture": picture, "drawing": drawing, "page": page})
    response.headers["Cache-Control"] = "public, max-age=600"
    return response


def _frame_page(context: Mapping[str, object], status: int = HTTPStatus.OK) -> HttpResponse:
    """Render without the request: neither its session nor its user is looked at."""
    return allow_frames(HttpResponse(render_to_string("sharing/embed.html", dict(context)), status=status))


def _unknown(request: HttpRequest) -> HttpResponse:
    """The same for what does not exist and for what is private."""
    return _frame_page({"page": request.build_absolute_uri("/")}, HTTPStatus.NOT_FOUND)


def _refused() -> HttpResponse:
    words = "This site does not allow to be embedded there. Its operator lists the hosts that may in EMBED_HOSTS.\n"
    return HttpResponse(words, status=HTTPStatus.FORBIDDEN, content_type="text/plain; charset=utf-8")


# --- oEmbed (oembed.com) ---


@require_safe
@serves_formats("json", parts=["xml"])  # which has a status of its own in the standard
def oembed(request: HttpRequest) -> HttpResponse:
    """How a page of this site is shown in another: as a frame where its hosts may, else as a link with a picture."""
    form = request.GET.get("format", "json")
    if form != "json":
        return _problem("only format=json is served", "format", HTTPStatus.NOT_IMPLEMENTED)
    width, height = (_size(request, name) for name in ("maxwidth", "maxheight"))
    if width is None or height is None:
        field = "maxwidth" if width is None else "maxheight"
        return _problem(f"{field} is no whole number of pixels", field, HTTPStatus.BAD_REQUEST)
    shared = shared_at(request, request.GET.get("url", ""))
    if shared is None:
        words = "no spec sheet, comparison or benchmark of this site has this address"
        return _problem(words, "url", HTTPStatus.NOT_FOUND)
    try:
        described = _described(request, shared, min(width, FRAME_WIDTH), min(height, FRAME_HEIGHT))
    except RateLimited as limited:
        return ask_to_wait(_problem(str(limited), None, HTTPStatus.TOO_MANY_REQUESTS), limited)
    return _closed_if_of_machines(JsonResponse(described), shared)


def _closed_if_of_machines(response: HttpResponse, shared: Shared) -> HttpResponse:
    """What a lab's machines measured is read by no other site's script: the lab's site may stand behind a wall."""
    if shared.has_machines:
        close_to_other_sites(response)
    return response


def shared_at(request: HttpRequest, url: str) -> Shared | None:
    """What stands at an absolute address of this site; None for other sites and for pages that cannot be embedded."""
    try:
        parts = urlsplit(url[:2000])
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or parts.netloc.lower() != request.get_host().lower():
        return None
    try:
        match = resolve(without_language(parts.path))
        parameters = QueryDict(parts.query)
    except (Resolver404, ValueError, TooManyFieldsSent):
        return None
    if match.view_name == "accelerators:sheet":
        return shared_sheet(match.kwargs["slug"])
    if match.view_name == "compare:page":
        return shared_comparison(parameters)
    return shared_ranking(match.kwargs["key"], parameters) if match.view_name == "benchmarks:benchmark" else None


def _size(request: HttpRequest, name: str) -> int | None:
    """Pixels; the default's where none are given, None for what is no number."""
    given = request.GET.get(name, "")
    if not given:
        return FRAME_WIDTH if name == "maxwidth" else FRAME_HEIGHT
    return whole_number(given, max_digits=6)


def _described(request: HttpRequest, shared: Shared, width: int, height: int) -> Mapping[str, object]:
    picture = cached_picture(request, shared)
    query = f"?{shared.query}" if shared.query else ""
    described: dict[str, object] = {
        "version": "1.0",
        "type": "link",
        "title": f"{picture.title}: {picture.lead}",
        "provider_name": "accelweb",
        "provider_url": request.build_absolute_uri("/"),
        "cache_age": CACHE_S,
        "thumbnail_url": request.build_absolute_uri(f"/picture/{shared.picture}{query}"),
        "thumbnail_width": 1200,
        "thumbnail_height": 630,
    }
    if embedding_is_allowed() and width >= LEAST_WIDTH and height >= LEAST_HEIGHT:
        source = request.build_absolute_uri(f"/embed{shared.path}{query}")
        frame = frame_line(source, picture.title, width, height)
        described |= {"type": "rich", "html": frame, "width": width, "height": height}
    return described


def _problem(error: str, field: str | None, status: HTTPStatus) -> HttpResponse:
    return JsonResponse({"error": error, "field": field}, status=status)


urlpatterns = [
    path("embed/accelerators/<slug:slug>/", embed_sheet, name="embed-sheet"),
    path("embed/compare/", embed_comparison, name="embed-comparison"),
    path("embed/compare/stacks/", embed_stacks, name="embed-stacks"),
    path("embed/benchmarks/<slug:key>/", embed_ranking, name="embed-ranking"),
    path("oembed", oembed, name="oembed"),
]
