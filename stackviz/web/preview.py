"""What a page says of itself where somebody links to it: title, answer, picture. The room `sharing` draws the picture.

    preview = make_preview(request, Introduction(title, answer), path, picture="sheet/nvidia-t4.png")

`base.html` writes it into the head of a page that has `preview` in its context.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from stackviz.web.i18n.languages import Alternate, alternates_of, without_language

__all__ = [
    "FRAME_HEIGHT",
    "FRAME_WIDTH",
    "Introduction",
    "Preview",
    "Sharing",
    "frame_line",
    "json_ld",
    "make_preview",
    "markdown_address",
    "markdown_link",
    "markdown_text",
    "sharing_of",
    "sharing_of_address",
]

PICTURES = "/picture/"
OEMBED = "/oembed"
LOCALES = {"en": "en_GB", "zh-hans": "zh_CN"}
_NO_ADDRESS = {ord(sign): f"%{ord(sign):02X}" for sign in "()<>\\` "}
FRAME_WIDTH, FRAME_HEIGHT = 640, 400  # pixels of an embed
MOST_TITLE, MOST_DESCRIPTION = 200, 400  # characters; services cut more than that
_UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


@dataclass(frozen=True, slots=True)
class Introduction:
    """A page in one line, and what it answers in a sentence or two. Plain text in the reader's language."""

    title: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """Addresses are absolute. `picture` "": the page has none; `slide`: the same as SVG of 16:9. `oembed` "": it cannot
    be embedded by its address.

    `embed`: its page for frames; `short`: a shorter address that leads here, `badge`: its badge, "" for none.

    `alternates`: the page in each language; `data`: structured data as JSON, safe within a `<script>`; "" for none.
    """

    title: str
    description: str
    url: str
    locale: str
    picture: str = ""
    slide: str = ""
    oembed: str = ""
    embed: str = ""
    short: str = ""
    badge: str = ""
    data: str = ""
    alternates: tuple[Alternate, ...] = ()

    @property
    def other_locales(self) -> list[str]:
        """What `og:locale` says in the other languages of a page that has any."""
        return [locale for locale in LOCALES.values() if self.alternates and locale != self.locale]


def make_preview(
    request: HttpRequest,
    introduction: Introduction,
    path: str,
    *,
    picture: str = "",
    can_embed: bool = False,
    short: str = "",
    badge: str = "",
    data: Mapping[str, object] | Sequence[object] = (),
) -> Preview:
    """`path`: of the page, with the query that makes it this page; `picture`: below PICTURES; `badge`: its path."""
    url = request.build_absolute_uri(path)
    return Preview(
        title=_shortened(introduction.title, MOST_TITLE),
        description=_shortened(introduction.answer, MOST_DESCRIPTION),
        url=url,
        locale=LOCALES.get(get_language() or "en", LOCALES["en"]),
        picture=request.build_absolute_uri(PICTURES + picture) if picture else "",
        slide=request.build_absolute_uri(PICTURES + picture.replace(".png", ".svg", 1)) if picture else "",
        oembed=request.build_absolute_uri(f"{OEMBED}?{urlencode({'url': url, 'format': 'json'})}") if can_embed else "",
        embed=request.build_absolute_uri(f"/embed{without_language(path)}") if can_embed else "",
        short=request.build_absolute_uri(short) if short else "",
        badge=request.build_absolute_uri(badge) if badge else "",
        data=json_ld(data) if data else "",
        alternates=alternates_of(request, path),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """What a reader copies. `frame`: a line of HTML for other sites, "" where none may embed the page; `frame_hosts`:
    the only sites where it works, empty for all; `badge`: a line of Markdown for a README, "" where it has none.

    `is_of_address`: the page's parts change with its address, so the address of the moment is copied instead of `link`.
    """

    link: str
    markdown: str
    picture: str
    slide: str
    frame: str
    badge: str
    frame_hosts: tuple[str, ...]
    is_of_address: bool


def sharing_of(preview: Preview) -> Sharing:
    """The preview's address, short where it can be, and its picture."""
    link = preview.short or preview.url
    text = markdown_link(preview.title, link)
    picture = f"![{markdown_text(preview.title)}]({markdown_address(preview.picture)})"
    markdown = f"[{picture}]({markdown_address(link)})" if preview.picture else text
    return Sharing(
        link=link,
        markdown=markdown,
        picture=preview.picture,
        slide=preview.slide,
        frame=frame_line(preview.embed, preview.title) if preview.embed and settings.EMBED_HOSTS != ["self"] else "",
        badge=f"[![{markdown_text(preview.title)}]({markdown_address(preview.badge)})]({markdown_address(link)})"
        if preview.badge
        else "",
        frame_hosts=tuple(host for host in settings.EMBED_HOSTS if host not in ("*", "self")),
        is_of_address=False,
    )


def frame_line(source: str, title: str, width: int = FRAME_WIDTH, height: int = FRAME_HEIGHT) -> str:
    """The line of HTML that shows the page `source` within another; sizes in pixels."""
    size = f'width="{width}" height="{height}"'
    return f'<iframe src="{escape(source)}" {size} title="{escape(title)}"></iframe>'


def sharing_of_address(request: HttpRequest, title: str) -> Sharing:
    """Of a page that has no preview: the unchanged address, and its title."""
    link = markdown_address(request.build_absolute_uri())
    return Sharing(
        link=link,
        markdown=markdown_link(title, link),
        picture="",
        slide="",
        frame="",
        badge="",
        frame_hosts=(),
        is_of_address=True,
    )


def markdown_text(text: str) -> str:
    """The text with what Markdown reads as its own signs escaped."""
    return re.sub(r"([\\\[\]*_`<>])", r"\\\1", text)


def markdown_address(address: str) -> str:
    """Return the address escaped for the round brackets of a link: no sign in it ends them."""
    return address.translate(_NO_ADDRESS)


def markdown_link(title: str, address: str) -> str:
    return f"[{markdown_text(title)}]({markdown_address(address)})"


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
