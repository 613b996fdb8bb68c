"""What a response says, for tests that look for words and not for markup."""

import html
import re

from django.http import HttpResponse


def words_of(response: HttpResponse) -> str:
    """The words of a page on one line: without tags, with entities as what they stand for."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())
