"""`/picture/...png`: a picture of a page for the previews that services show beside a link.

Every visitor is a stranger here, members too: what a stranger may not see answers as what does not exist. Pictures are
stored in a folder that all processes share, by the state of what they show; drawing one counts for the client.
"""

import hashlib
import logging
from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.core.cache import cache, caches
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.urls import path, re_path
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.translation import override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from stackviz.intake.report_parts.pasted import Refused, paced, read_pasted
from stackviz.pages.diagnose.diagnosis import diagnose
from stackviz.pages.diagnose.links import find_link
from stackviz.pages.plan.page import make_plan
from stackviz.pages.plan.query import read_plan_query
from stackviz.pages.sharing.drawing import Picture, draw_png
from stackviz.pages.sharing.subjects import (
    Shared,
    diagnosis_picture,
    plan_picture,
    shared_comparison,
    shared_ranking,
    shared_sheet,
)
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.stacks.models import Edition
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.web.http.at_once import COSTLY
from stackviz.web.http.rate_limit import RateLimit, RateLimited, too_many
from stackviz.web.http.tickets import TOKEN_PATTERN, digest_of

log = logging.getLogger(__name__)
PICTURES = RateLimit("pictures", "PICTURES_PER_MINUTE", 60, "too many pictures were requested from this address")
CACHE_S = 7 * 24 * 3600
EMBEDDED_S = 600


def tag_of(state: tuple[object, ...]) -> str:
    """A name of the picture for this state and version of the site: the same bytes have the same name."""
    named = repr((state, settings.VERSION))
    return hashlib.blake2b(named.encode(), digest_size=16).hexdigest()


def stored_png(request: HttpRequest, tag: str, make: Callable[[], Picture]) -> bytes:
    """The picture as PNG. One that is stored costs a file read; drawing counts for the client. Raises RateLimited."""
    png: bytes | None = _stored(tag)
    if png is None:
        png = drawn_png(request, make)
        _store(tag, png)
    return png


def drawn_png(request: HttpRequest, make: Callable[[], Picture]) -> bytes:
    """The picture as PNG, stored nowhere. Raises RateLimited, Busy."""
    PICTURES.count(request)
    with COSTLY.slot(), override("en"):
        return draw_png(make())


def cached_picture(request: HttpRequest, shared: Shared) -> Picture:
    """The picture as data; what is not cached counts for the client. Raises RateLimited."""
    key = "embedded-" + tag_of(shared.state)
    picture: Picture | None = cache.get(key)
    if picture is None:
        PICTURES.count(request)
        with override("en"):
            picture = shared.make()
        cache.set(key, picture, EMBEDDED_S)
    return picture


def _stored(tag: str) -> bytes | None:
    try:
        png: bytes | None = caches["pictures"].get(tag)
    except OSError as error:
        log.warning("stored picture unreadable (%s); it is drawn again", error)
        return None
    return png


def _store(tag: str, png: bytes) -> None:
    try:
        caches["pictures"].set(tag, png, CACHE_S)
    except OSError as error:
        log.warning("picture cannot be stored (%s); it is drawn for each request", error)


@require_safe
def sheet_png(request: HttpRequest, slug: str) -> HttpResponse:
    return _shared(request, shared_sheet(slug))


@require_safe
def compare_png(request: HttpRequest) -> HttpResponse:
    """One to six subjects, all of which a stranger may see."""
    return _shared(request, shared_comparison(request.GET))


@require_safe
def ranking_png(request: HttpRequest, key: str) -> HttpResponse:
    return _shared(request, shared_ranking(key, request.GET))


def _shared(request: HttpRequest, shared: Shared | None) -> HttpResponse:
    return _unknown() if shared is None else _answer(request, shared.state, shared.make)


@require_safe
def plan_png(request: HttpRequest) -> HttpResponse:
    tables, now = rule_tables(), timezone.now()
    query = read_plan_query(request.GET, tables, now)
    if not query.accelerator or query.notes:
        return _unknown()
    state = ("plan", query.address, query.torch_is_open, now.date(), CatalogueEdition.current(), Edition.current())
    return _answer(request, state, lambda: plan_picture(make_plan(query, tables, now)))


@require_safe
@never_cache
def diagnosis_png(request: HttpRequest, token: str) -> HttpResponse:
    """Of a private link; gone with it, so it is stored nowhere, and drawn each time."""
    link = find_link(token)
    if link is None:
        return _unlisted(_unknown())
    state = ("diagnosis", digest_of(token), CatalogueEdition.current(), Edition.current(), timezone.now().date())

    def make() -> Picture:
        with paced(request, link.text) as deadline:
            return diagnosis_picture(diagnose(read_pasted(link.text, deadline)))

    try:
        return _unlisted(_answer(request, state, make, is_public=False))
    except Refused:
        return _unlisted(_unknown())


def _answer(
    request: HttpRequest, state: tuple[object, ...], make: Callable[[], Picture], *, is_public: bool = True
) -> HttpResponse:
    """The picture; 304 for who has it, 429 for who had too many drawn."""
    tag = tag_of(state)
    unchanged = get_conditional_response(request, etag=f'"{tag}"')
    if isinstance(unchanged, HttpResponseNotModified):
        return unchanged
    try:
        png = stored_png(request, tag, make) if is_public else drawn_png(request, make)
        response = HttpResponse(png, content_type="image/png")
    except RateLimited as limited:
        return too_many(limited)
    response.headers["ETag"] = f'"{tag}"'
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    if is_public:
        response.headers["Cache-Control"] = "public, max-age=3600"
    return response


def _unknown() -> HttpResponse:
    """The same for what does not exist and for what is private."""
    words = "There is no picture at this address: a subject is unknown.\n"
    return HttpResponse(words, status=HTTPStatus.NOT_FOUND, content_type="text/plain; charset=utf-8")


def _unlisted(response: HttpResponse) -> HttpResponse:
    response.headers["X-Robots-Tag"] = "noindex"
    return response


urlpatterns = [
    path("picture/sheet/<slug:slug>.png", sheet_png, name="sheet-picture"),
    path("picture/compare.png", compare_png, name="comparison-picture"),
    path("picture/benchmark/<slug:key>.png", ranking_png, name="ranking-picture"),
    path("picture/plan.png", plan_png, name="plan-picture"),
    re_path(rf"^picture/diagnosis/(?P<token>{TOKEN_PATTERN})\.png$", diagnosis_png, name="diagnosis-picture"),
]
