"""The language of an address: English has no prefix, every other language its own, `/zh-hans/accelerators/`.

Django finds addresses by name in the language that is active, so a page leads to pages of its own language. What stores
an address or HTML stores it for one language: `get_language()` is part of its key (docs/languages.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.urls import ResolverMatch, URLPattern, get_script_prefix, is_valid_path
from django.urls.resolvers import LocalePrefixPattern, RoutePattern, URLResolver
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language, override, to_locale

from stackviz.web.addresses import address_by_name
from stackviz.web.words import NATIVE_NAMES

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
    """`zh-hans/` while Chinese is active, nothing while English is. Unlike Django's, it may stand within a room."""

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
