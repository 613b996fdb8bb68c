"""Takes the spaces out of pages that only lay their templates out, so that tests read elements and words."""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString

INLINE = "a|abbr|b|button|cite|code|del|em|i|img|input|ins|kbd|label|select|small|span|strong|sub|sup|time"
KEPT = re.compile(r"(<(pre|textarea|script|style)\b.*?</\2>)", re.DOTALL)
TAG = re.compile(r"<(?:[^>\"']|\"[^\"]*\"|'[^']*')+>")
BREAK = r"(?:[ \t]*\n\s*| {2,})"  # Jinja2 takes the line break after a block's tag, and leaves the indentation
SPACES = re.compile(rf"({TAG.pattern})|{BREAK}")
BESIDE_BLOCK = re.compile(rf"{BREAK}(?=</?(?!(?:{INLINE})\b)\w)|(<(?!/?(?:{INLINE})\b)[/\w][^>]*>){BREAK}")


def on_one_line(html: str) -> str:
    """The HTML with one space for each break of its layout; none inside or beside a block element."""
    parts = KEPT.split(html)
    for at in range(0, len(parts), 3):
        text = TAG.sub(lambda tag: re.sub(r"\s+(?=/?>)", "", re.sub(r"[ \t]*\n\s*", " ", tag[0])), parts[at])
        text = BESIDE_BLOCK.sub(lambda match: match[1] or "", text)
        text = re.sub(rf"(<(?:{INLINE})\b[^>]*>){BREAK}", r"\1", text)
        text = re.sub(rf"{BREAK}(?=</(?:{INLINE})>)", "", text)
        parts[at] = SPACES.sub(lambda match: match[1] or " ", text)
    del parts[2::3]
    return SafeString("".join(parts))


class PagesOnOneLine:
    """Middleware of the tests' settings."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not response.streaming and response.get("Content-Type", "").startswith("text/html"):
            response.content = on_one_line(response.content.decode()).encode()
        return response
