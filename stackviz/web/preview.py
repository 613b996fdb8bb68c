"""What a page says of itself where somebody links to it: title, answer, picture. The room `sharing` draws the picture.

    preview = make_preview(request, Introduction(title, answer), path, picture="sheet/nvidia-t4.png")

`base.html` writes it into the head of a page that has `preview` in its context.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import get_language

__all__ = ["Introduction", "Preview", "json_ld", "make_preview"]

PICTURES = "/picture/"
OEMBED = "/oembed"
LOCALES = {"en": "en_GB", "zh-hans": "zh_CN"}
MOST_TITLE, MOST_DESCRIPTION = 200, 400  # characters; services cut more than that
_UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


@dataclass(frozen=True, slots=True)
class Introduction:
    """A page in one line, and what it answers in a sentence or two. Plain text in the reader's language."""

    title: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """Addresses are absolute. `picture` "": the page has none. `oembed` "": it cannot be embedded by its address.

    `data`: structured data as JSON that is safe within a `<script>`; "" for none.
    """

    title: str
    description: str
    url: str
    locale: str
    picture: str = ""
    oembed: str = ""
    data: str = ""


def make_preview(
    request: HttpRequest,
    introduction: Introduction,
    path: str,
    *,
    picture: str = "",
    can_embed: bool = False,
    data: Mapping[str, object] | Sequence[object] = (),
) -> Preview:
    """`path`: of the page, with the query that makes it this page; `picture`: below PICTURES."""
    url = request.build_absolute_uri(path)
    return Preview(
        title=_shortened(introduction.title, MOST_TITLE),
        description=_shortened(introduction.answer, MOST_DESCRIPTION),
        url=url,
        locale=LOCALES.get(get_language() or "en", LOCALES["en"]),
        picture=request.build_absolute_uri(PICTURES + picture) if picture else "",
        oembed=request.build_absolute_uri(f"{OEMBED}?{urlencode({'url': url, 'format': 'json'})}") if can_embed else "",
        data=json_ld(data) if data else "",
    )


def json_ld(data: Mapping[str, object] | Sequence[object]) -> SafeString:
    """The data as JSON for `<script type="application/ld+json">`: no text in it can end the element."""
    text = json.dumps(data, cls=DjangoJSONEncoder, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return SafeString(text.translate(_UNSAFE))


def _shortened(text: str, most: int) -> str:
    """At most so many characters, cut between words."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    return (cut.rpartition(" ")[0] or cut).rstrip(" ,;:·") + "…"
