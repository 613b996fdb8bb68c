"""`/picture/...png`: a picture of a page for the previews that services show beside a link; `.svg`: it as a slide.

Every visitor is a stranger here, members too: what a stranger may not see answers as what does not exist. Pictures are
stored in a folder that all processes share, by the state of what they show; drawing one counts for the client.
"""

import hashlib
import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus

from django.conf import settings
from django.core.cache import cache, caches
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.urls import URLPattern, path, re_path
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.translation import override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from stackviz.draw.diagrams.slide import CARD
from stackviz.intake.report_parts.pasted import Refused, paced, read_pasted
from stackviz.pages.diagnose.diagnosis import diagnose
from stackviz.pages.diagnose.links import find_link
from stackviz.pages.fit.evidence import fit_evidence
from stackviz.pages.fit.query import read_fit_query
from stackviz.pages.fit.targets import fit_targets
from stackviz.pages.plan.page import make_plan
from stackviz.pages.plan.query import read_plan_query
from stackviz.pages.sharing.canvas import png_of
from stackviz.pages.sharing.drawing import Picture, sketch_of, slide_svg
from stackviz.pages.sharing.subjects import (
    Shared,
    picture_of_diagnosis,
    picture_of_fit,
    picture_of_plan,
    shared_comparison,
    shared_ranking,
    shared_sheet,
)
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.catalog.queries import public_catalogue
from stackviz.records.stacks.models import Edition
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.web.http.addresses import address_by_name
from stackviz.web.http.at_once import COSTLY
from stackviz.web.http.rate_limit import RateLimit, RateLimited, too_many
from stackviz.web.http.tickets import TOKEN_PATTERN, digest_of

log = logging.getLogger(__name__)
PICTURES = RateLimit("pictures", "PICTURES_PER_MINUTE", 60, "too many pictures were requested from this address")
CACHE_S = 7 * 24 * 3600
EMBEDDED_S = 600
PNG, SVG = "png", "svg"
CONTENT_TYPES = {PNG: "image/png", SVG: "image/svg+xml; charset=utf-8"}
_drawing = threading.Lock()  # one at a time in a process: a flood of requests leaves the other threads to pages


def tag_of(state: tuple[object, ...]) -> str:
    """A name of the picture for this state and version of the site: the same bytes have the same name."""
    named = repr((state, settings.VERSION))
    return hashlib.blake2b(named.encode(), digest_size=16).hexdigest()


def _stored_file(request: HttpRequest, tag: str, form: str, make: Callable[[], Picture]) -> bytes:
    """The picture as a file. A stored one costs a file read; drawing counts for the client. Raises RateLimited."""
    content: bytes | None = _stored(tag)
    if content is None:
        content = _drawn_file(request, form, make)
        _store(tag, content)
    return content


def _drawn_file(request: HttpRequest, form: str, make: Callable[[], Picture]) -> bytes:
    """The picture as a file, stored nowhere. Raises RateLimited, Busy."""
    PICTURES.count(request)
    with COSTLY.slot(), override("en"):
        picture = make()
        if form == SVG:
            return slide_svg(picture).encode()
        with _drawing:
            return png_of(sketch_of(picture, CARD))


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
def sheet_picture_file(request: HttpRequest, slug: str, form: str) -> HttpResponse:
    return _shared(request, shared_sheet(slug), form)


@require_safe
def comparison_picture_file(request: HttpRequest, form: str) -> HttpResponse:
    """One to six subjects, all of which a stranger may see."""
    return _shared(request, shared_comparison(request.GET), form)


@require_safe
def ranking_picture_file(request: HttpRequest, key: str, form: str) -> HttpResponse:
    return _shared(request, shared_ranking(key, request.GET), form)


def _shared(request: HttpRequest, shared: Shared | None, form: str) -> HttpResponse:
    if shared is None:
        return _unknown()
    return _answer(request, shared.state, form, _captioned(request, shared.address, shared.make))


def _captioned(request: HttpRequest, address: str, make: Callable[[], Picture]) -> Callable[[], Picture]:
    """The picture with the address that leads to its page, and the day it was drawn."""
    shown = request.get_host() + address
    return lambda: replace(make(), address=shown, day=f"{timezone.now():%Y-%m-%d}")


@require_safe
def plan_picture_file(request: HttpRequest, form: str) -> HttpResponse:
    tables, now = rule_tables(), timezone.now()
    query = read_plan_query(request.GET, tables, now)
    if not query.accelerator or query.notes:
        return _unknown()
    state = ("plan", query.address, query.torch_is_open, now.date(), CatalogueEdition.current(), Edition.current())
    make = _captioned(request, query.address, lambda: picture_of_plan(make_plan(query, tables, now)))
    return _answer(request, state, form, make)


@require_safe
def fit_picture_file(request: HttpRequest, form: str) -> HttpResponse:
    catalogue = public_catalogue()
    query = read_fit_query(request.GET, fit_targets(catalogue))
    if query.notes:
        return _unknown()
    question = query.parameters.urlencode(safe=":")
    path = address_by_name("fit:page") + (f"?{question}" if question else "")
    state = ("fit", question, fit_evidence(catalogue).edition)
    return _answer(request, state, form, _captioned(request, path, lambda: picture_of_fit(query)))


@require_safe
@never_cache
def diagnosis_picture_file(request: HttpRequest, token: str, form: str) -> HttpResponse:
    """Of a private link, which it does not show; gone with it, so it is stored nowhere, and drawn each time."""
    link = find_link(token)
    if link is None:
        return _unlisted(_unknown())
    state = ("diagnosis", digest_of(token), CatalogueEdition.current(), Edition.current(), timezone.now().date())

    def make() -> Picture:
        with paced(request, link.text) as deadline:
            return picture_of_diagnosis(diagnose(read_pasted(link.text, deadline)))

    try:
        return _unlisted(_answer(request, state, form, _captioned(request, "", make), is_public=False))
    except Refused:
        return _unlisted(_unknown())


def _answer(
    request: HttpRequest,
    state: tuple[object, ...],
    form: str,
    make: Callable[[], Picture],
    *,
    is_public: bool = True,
) -> HttpResponse:
    """The picture; 304 for who has it, 429 for who had too many drawn."""
    tag = tag_of((*state, form, request.get_host()))
    unchanged = get_conditional_response(request, etag=f'"{tag}"')
    if isinstance(unchanged, HttpResponseNotModified):
        return unchanged
    try:
        content = _stored_file(request, tag, form, make) if is_public else _drawn_file(request, form, make)
    except RateLimited as limited:
        return too_many(limited)
    response = HttpResponse(content, content_type=CONTENT_TYPES[form])
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


def _in_both_forms(route: str, view: Callable[..., HttpResponse], name: str) -> list[URLPattern]:
    """`/picture/<route>.png` for previews, `/picture/<route>.svg` for slides."""
    return [path(f"picture/{route}.{form}", view, {"form": form}, name=f"{name}-{form}") for form in CONTENT_TYPES]


_OF_DIAGNOSIS = rf"^picture/diagnosis/(?P<token>{TOKEN_PATTERN})\.(?P<form>png|svg)$"

urlpatterns = [
    *_in_both_forms("sheet/<slug:slug>", sheet_picture_file, "sheet-picture"),
    *_in_both_forms("compare", comparison_picture_file, "comparison-picture"),
    *_in_both_forms("benchmark/<slug:key>", ranking_picture_file, "ranking-picture"),
    *_in_both_forms("fit", fit_picture_file, "fit-picture"),
    *_in_both_forms("plan", plan_picture_file, "plan-picture"),
    re_path(
        rf"^picture/diagnosis/(?P<token>{TOKEN_PATTERN})\.(?P<form>png|svg)$",
        diagnosis_picture_file,
        name="diagnosis-picture",
    ),
]
