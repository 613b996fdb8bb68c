"""Fill a web process between its requests: the first view of a kind of page costs a process 0.3 to 1.5 s.

A thread renders one page of each kind in each language right after the start, and again when the catalogue, the
stacks or cited results have changed and nobody goes on changing them. It calls views, not the site: nothing is
logged, counted or limited.
"""

import gc
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.handlers.wsgi import WSGIRequest
from django.db import Error as DatabaseFailure
from django.db import connections
from django.http import Http404
from django.urls import resolve
from django.utils import translation
from django_htmx.middleware import HtmxDetails

from stackviz.intake.report_parts.pasted import MOST_SECONDS
from stackviz.pages.diagnose.steps import diagnose_steps
from stackviz.pages.diagnose.views import example_texts, show_stepped
from stackviz.records.catalog.models import CatalogueEdition
from stackviz.records.cited.models import CitedEdition
from stackviz.records.labs.queries import visible_machines
from stackviz.records.stacks.models import Edition
from stackviz.report.importers.deadline import Deadline
from stackviz.web.http.request_memo import remembering
from stackviz.web.i18n.languages import address_in
from stackviz.web.parts import rendering_anew

log = logging.getLogger(__name__)

LOOK_EVERY_S = 60  # whether an edition has moved: one query. Each save of an editor moves one
PAUSE_S = 0.02  # between two pages, for requests that wait for the interpreter
H100, M3_MAX = "nvidia-h100-sxm5-80gb", "apple-m3-max-40"
PAGES = (
    "/", "/accelerators/", "/accelerators/?q=h100", f"/accelerators/{H100}/", f"/compare/?a={H100}&a={M3_MAX}",
    "/fit/", f"/fit/?accelerator={H100}", "/search/?q=h100", "/benchmarks/", "/benchmarks/llama-bench/", "/ladder/",
    "/explore/", "/heatmap/", "/timeline/", "/roofline/", "/scaling/", "/stacks/", "/stacks/nvidia-cuda/",
    "/components/cudnn/", "/machines/", "/plan/", "/diagnose/", "/causes/", "/learn/", "/claims/", "/changes/",
    "/freshness/", "/data/", "/api/v1/values/", "/api/v1/cited/", "/api/v1/machines/",  # the API in English alone
)  # fmt: skip
EXAMPLE = "old-driver"
Editions = tuple[str, str, str]  # of the catalogue, the stacks and cited results


def keep_warm() -> None:
    """Start the thread."""
    threading.Thread(target=_look_forever, name="warm", daemon=True).start()


def _look_forever() -> None:
    warmed: Editions | None = None
    seen: Editions | None = None
    while True:
        try:
            warmed, seen = warm_if_still(warmed, seen)
        finally:
            connections.close_all()  # of this thread: between two looks it needs none
        time.sleep(LOOK_EVERY_S)


def warm_if_still(warmed: Editions | None, seen: Editions | None) -> tuple[Editions | None, Editions | None]:
    """Prepare the pages at first, and again when editions moved and then stood still from one look to the next.

    Takes and returns the editions that pages were prepared for, None if they could not be, and those last seen.
    """
    try:
        with remembering():
            now = (CatalogueEdition.current(), Edition.current(), CitedEdition.current())
        if now != warmed and (warmed is None or now == seen):
            warm()
            warmed = now  # what was loaded meanwhile is seen the next time
    except DatabaseFailure:
        log.warning("pages are not prepared: the database does not answer; next attempt in %d s", LOOK_EVERY_S)
        return None, None
    return warmed, now


def warm() -> None:
    """Render every page once in each language. Raises DatabaseFailure; an error of a page is logged."""
    started = time.monotonic()
    with translation.override("en"):
        newest = visible_machines(AnonymousUser()).order_by("-latest_taken_at").first()
        addresses = [*PAGES, *([newest.get_absolute_url()] if newest else [])]
    for language, _name in settings.LANGUAGES:
        for address in addresses:
            localised = address_in(language, address)
            with _alone(language, localised):
                _render(localised)
            time.sleep(PAUSE_S)
        with _alone(language, "a diagnosis"):
            stepped = diagnose_steps([], example_texts()[EXAMPLE], Deadline(MOST_SECONDS))
            show_stepped(_request(address_in(language, "/diagnose/")), stepped)
    gc.unfreeze()  # what was of an earlier edition
    gc.collect()
    gc.freeze()  # what is there now lives as long as its edition: the collector need not visit it
    log.info("pages are prepared: %.1f s", time.monotonic() - started)


@contextmanager
def _alone(language: str, what: str) -> Iterator[None]:
    """As a request in this language, which takes nothing from the cache that other processes fill, too.

    An error is logged: whoever reads `what` sees it, too, and the rest is still prepared. Raises DatabaseFailure.
    """
    try:
        with translation.override(language), remembering(), rendering_anew():
            yield
    except DatabaseFailure:
        raise
    except Exception:
        log.exception("%s was not prepared", what)


def _request(address: str) -> WSGIRequest:
    """Of somebody without an account, as the middleware hands it to a view."""
    path, _, query = address.partition("?")
    environ = {
        "REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": query, "SERVER_NAME": _host(), "SERVER_PORT": "80",
        "REMOTE_ADDR": "127.0.0.1", "wsgi.input": BytesIO(), "wsgi.url_scheme": "http",
    }  # fmt: skip
    request = WSGIRequest(environ)
    request.user = AnonymousUser()
    request.htmx = HtmxDetails(request)  # type: ignore[attr-defined]
    return request


def _render(address: str) -> None:
    request = _request(address)
    with suppress(Http404):  # a site without the catalogue has no such sheet
        view, arguments, named = resolve(request.path)
        view(request, *arguments, **named)


def _host() -> str:
    """A name that the site answers to."""
    return next((host for host in settings.ALLOWED_HOSTS if host[0] not in ".*["), "localhost")
