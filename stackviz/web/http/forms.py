"""Forms and bodies are sent in UTF-8, as this site's pages are: another charset is refused before they are read.

Python knows charsets that take hours for a megabyte (punycode) and some that are no text (hex, zlib); whoever sends a
form names one freely.
"""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _

from stackviz.web.http.errors import Refusal

FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
_UTF8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})


def charset_of(request: HttpRequest) -> str:
    """The charset that a request names; "" for UTF-8, or for none."""
    named = str((request.content_params or {}).get("charset", "")).strip()
    return "" if named.lower() in _UTF8 else named


def refuse_charset(request: HttpRequest, advice: str) -> None:
    """Raises Refusal for a body in another charset than UTF-8; `advice` says what to send."""
    if charset := charset_of(request):
        text = f"the charset {charset[:40]!r} is not read here: {advice}"
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, text, "Content-Type")


class FormsInUtf8:
    """Middleware, before whatever reads a form, the protection of forms against other sites included."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        is_page = not request.path_info.startswith("/api/")  # the API refuses in its own words
        if is_page and request.content_type in FORMS and charset_of(request):
            problem = _("The charset of this form is not supported. Send it in UTF-8.")
            return HttpResponse(f"{problem}\n", "text/plain; charset=utf-8", HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        return self.get_response(request)
