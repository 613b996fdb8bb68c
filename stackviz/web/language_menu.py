"""The menu of languages: the same page in each, by a link that remembers the choice."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language

from stackviz.web.languages import address_in, hreflang_of
from stackviz.web.reverse import address_by_name
from stackviz.web.words import NATIVE_NAMES

__all__ = ["LanguageChoice", "language_choices"]


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
