"""The language of an address: English has no prefix, every other language its own, `/zh-hans/accelerators/`.

Django finds addresses by name in the language that is active, so a page links to pages in its language. What stores
an address or HTML stores it for one language: `get_language()` is part of its key (docs/languages.md).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.urls import ResolverMatch, URLPattern, get_script_prefix, is_valid_path
from django.urls.resolvers import LocalePrefixPattern, RoutePattern, URLResolver
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language, get_language_from_request, override, to_locale

from stackviz.web.http.addresses import address_by_name
from stackviz.web.i18n.words import NATIVE_NAMES

__all__ = [
    "Alternate",
    "LanguagePrefix",
    "address_in",
    "alternates_of",
    "hreflang_of",
    "in_each_language",
    "is_page",
    "language_choices",
    "language_of",
    "local_address",
    "page_in",
    "prefixes",
    "remember_language",
    "without_language",
]

_MARK = "<language>/"  # in the route of every address that exists in each language


@lru_cache(maxsize=1)
def prefixes() -> Mapping[str, str]:
    """Language -> the prefix of its addresses, of all but English."""
    return {code: f"{code}/" for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE}


def language_of(path_info: str) -> str:
    """The language of a path below the script prefix; English for a prefix that is no language of this site."""
    first = path_info[1:].partition("/")[0]
    return first if first in prefixes() else settings.LANGUAGE_CODE


# --- declaring ---


class LanguagePrefix(LocalePrefixPattern):
    """`zh-hans/` while Chinese is active, nothing while English is. Unlike Django's, it may be used within a room."""

    @property
    def language_prefix(self) -> str:
        return prefixes().get(get_language() or "", "")

    def __str__(self) -> str:
        return _MARK


def in_each_language(
    patterns: Sequence[URLPattern], app_name: str | None = None, without: tuple[str, ...] = ()
) -> URLResolver:
    """The addresses of a room, each in every language but for those whose route begins with one of `without`."""
    alone = [pattern for pattern in patterns if str(pattern.pattern).removeprefix("^").startswith(without)]
    pages = [pattern for pattern in patterns if pattern not in alone]
    if not alone:  # a resolver less to pass through
        return URLResolver(LanguagePrefix(), pages, app_name=app_name, namespace=app_name)
    both: list[URLPattern | URLResolver] = [*alone, URLResolver(LanguagePrefix(), pages)]
    return URLResolver(RoutePattern("", is_endpoint=False), both, app_name=app_name, namespace=app_name)


def is_page(match: ResolverMatch | None) -> bool:
    """Whether what was found at an address exists in each language."""
    return match is not None and _MARK in match.route


# --- the same page in another language ---


def without_language(path: str) -> str:
    """The English address of what is at this path, which may have a query: `/zh-hans/fit/` -> `/fit/`."""
    return address_in(settings.LANGUAGE_CODE, path)


def address_in(language: str, path: str) -> str:
    """The address in this language of what is at a path of any; a query and an anchor stay."""
    script = get_script_prefix()
    rest = path.removeprefix(script)
    for prefix in prefixes().values():
        if rest.startswith(prefix):
            rest = rest.removeprefix(prefix)
            break
    return f"{script}{prefixes().get(language, '')}{rest}"


def local_address(path: str) -> str:
    """The address in the language of the page, of a path that is written as in English; of a file itself."""
    return _local_address(get_script_prefix(), get_language() or settings.LANGUAGE_CODE, path)


@lru_cache(maxsize=1024)
def _local_address(_script: str, language: str, path: str) -> str:
    address = address_in(language, path)
    with override(language):
        return address if is_valid_path(urlsplit(address).path) else path


def page_in(language: str, path: str) -> str:
    """The same of a path that came from outside; the front page for what leads to another site."""
    path = address_in(language, path) if _is_local(path) else ""
    return path if _is_local(path) else address_in(language, get_script_prefix())


def _is_local(path: str) -> bool:
    """Also of what is left without a prefix: `/zh-hans//example.org` would lead to another site in English."""
    return path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)


@dataclass(frozen=True, slots=True)
class Alternate:
    """A page in one language, `x-default` for readers of none that the site has. `url` is absolute."""

    hreflang: str
    url: str


def alternates_of(request: HttpRequest, path: str) -> tuple[Alternate, ...]:
    """The page at this path in every language, itself included, English as `x-default` too."""
    urls = {code: request.build_absolute_uri(address_in(code, path)) for code, _name in settings.LANGUAGES}
    known = (Alternate(hreflang_of(code), url) for code, url in urls.items())
    return (*known, Alternate("x-default", urls[settings.LANGUAGE_CODE]))


@lru_cache(maxsize=8)
def hreflang_of(language: str) -> str:
    """`zh-hans` -> `zh-Hans`, as the registry of language tags writes it."""
    return to_locale(language).replace("_", "-")


# --- the menu of languages ---


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageChoice:
    """A language by its own name. `page`: the address of this page in it; `url` leads there and remembers it."""

    code: str
    name: str
    hreflang: str
    page: str
    url: str
    is_current: bool


def language_choices(request: HttpRequest) -> list[LanguageChoice]:
    """Of a page that answered a form there is only what its address shows without one."""
    here = request.path if request.method == "POST" else request.get_full_path()
    query = urlencode({"next": here})
    return [
        LanguageChoice(
            code=code,
            name=NATIVE_NAMES.get(code, code),
            hreflang=hreflang_of(code),
            page=address_in(code, here),
            url=f"{address_by_name('home:language', code)}?{query}",
            is_current=code == get_language(),
        )
        for code, _name in settings.LANGUAGES
    ]


# --- the address decides the language of a page; a visitor's own language decides the address, at first ---

ADMIN = "/admin/"  # has one address for all languages, and follows the visitor's
REMEMBERED_S = int(timedelta(days=365).total_seconds())


class LanguageByAddress:
    """Middleware. Activates the language of the address, and sends a visitor who prefers another one there."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        is_of_admin = request.path_info.startswith(ADMIN)
        language = get_language_from_request(request) if is_of_admin else language_of(request.path_info)
        request.LANGUAGE_CODE = language  # as Django's own middleware does
        with override(language):  # and not for ever: the next request of this thread may be an agent's
            response = self.get_response(request)
        if is_of_admin or _may_lead_elsewhere(request):
            patch_vary_headers(response, ("Accept-Language", "Cookie"))
        response.headers.setdefault("Content-Language", language)
        return response

    def process_view(
        self,
        request: HttpRequest,
        _view: Callable[..., HttpResponseBase],
        _arguments: Sequence[Any],
        _named: Mapping[str, Any],
    ) -> HttpResponse | None:
        """A redirect to the visitor's language, from an English page to be read; None to show the page."""
        if not (_may_lead_elsewhere(request) and _is_to_be_read(request)):
            return None
        language = get_language_from_request(request).lower()  # the cookie's as it is spelled, else the browser's
        if language not in prefixes():
            return None
        response = HttpResponseRedirect(address_in(language, request.get_full_path()))
        response.headers["Cache-Control"] = "private, no-store"
        if request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME) not in dict(settings.LANGUAGES):
            remember_language(response, language)
        return response


def _may_lead_elsewhere(request: HttpRequest) -> bool:
    """Whether this is the English address of what other languages have too."""
    return request.LANGUAGE_CODE == settings.LANGUAGE_CODE and is_page(request.resolver_match)


def _is_to_be_read(request: HttpRequest) -> bool:
    """Whether a browser opens a page: not a part of one, a file or what a program fetches."""
    headers = request.headers
    is_opened = request.method in ("GET", "HEAD") and "text/html" in headers.get("Accept", "")
    return is_opened and "HX-Request" not in headers and "format" not in request.GET


def remember_language(response: HttpResponse, language: str) -> None:
    """Let the visitor's browser send this choice from now on."""
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=REMEMBERED_S,
        path=settings.LANGUAGE_COOKIE_PATH,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )
