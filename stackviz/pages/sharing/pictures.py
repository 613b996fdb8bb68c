"""`/picture/...png`: a picture of a page, 1200 by 630, for the previews that services show beside a link.

Every visitor is a stranger here, members too: what a stranger may not see answers as what does not exist.
"""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.urls import path, re_path
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from stackviz.intake.report_parts.pace import paced
from stackviz.intake.report_parts.pasted import Refused, read_pasted
from stackviz.pages.diagnose.diagnosis import diagnose
from stackviz.pages.diagnose.links import find_link
from stackviz.pages.plan.page import make_plan
from stackviz.pages.plan.query import read_plan_query
from stackviz.pages.sharing.cards import Picture
from stackviz.pages.sharing.pictures_of import diagnosis_picture, plan_picture
from stackviz.pages.sharing.store import drawn_png, stored_png, tag_of
from stackviz.pages.sharing.subjects import Shared, shared_comparison, shared_ranking, shared_sheet
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.stacks.models import Edition
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.web.rate_limit import RateLimited, too_many
from stackviz.web.tickets import TOKEN_PATTERN, digest_of

__all__ = ["compare_png", "diagnosis_png", "plan_png", "ranking_png", "sheet_png", "urlpatterns"]


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
