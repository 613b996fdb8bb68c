"""Whether a request wants a part of the page (htmx) or the whole page."""

from django.http import HttpRequest
from django.views.decorators.vary import vary_on_headers
from django_htmx.middleware import HtmxDetails


def wants_partial(request: HttpRequest) -> bool:
    """True when htmx asks for a part to swap in.

    Not for a boosted link, and not when the browser's back button restores a page that htmx no longer holds:
    both need the whole page.
    """
    details: HtmxDetails = request.htmx  # type: ignore[attr-defined]  # set by the middleware, on every request
    return bool(details) and not details.boosted and not details.history_restore_request


# For views that answer both ways: a cache between us and the browser must keep the two apart.
vary_on_htmx = vary_on_headers("HX-Request", "HX-Boosted", "HX-History-Restore-Request")
