"""Curated texts in the language of the page: descriptions of components, steps of operators, claims and others.

Their English stands in the data files, and in the database as curators correct it. Translations are gettext entries of
a domain of their own, `locale/<locale>/LC_MESSAGES/curated.po`: the English text is the key, so that a corrected text
is English again until somebody translates it. `make translations` keeps the file in step with the data files.
"""

import gettext
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, to_locale

from stackviz.advice import parts_of

__all__ = ["DOMAIN", "curated", "curated_commands", "curated_words", "translate_curated"]

DOMAIN = "curated"
ENGLISH = "en"
ENDS = {".": "。"}  # of Chinese, the one language there is


def translate_curated(text: str) -> str | None:
    """The text in the language of the page; None where nobody has translated it. English is itself.

    A text may be two that were translated one by one, as the two sentences of a component are on its box.
    """
    language = get_language() or ENGLISH
    if not text or language == ENGLISH:
        return text
    return _translated(language, text)


def curated_words(text: str) -> str:
    """The same where nothing can be marked, as in a drawing or a title: English where nobody has translated it."""
    translated = translate_curated(text)
    return text if translated is None else translated


def curated(text: str, end: str = "") -> SafeString:
    """The same as HTML for a page: what is not translated is marked as English, for screen readers and fonts.

    `end`: the full stop of a text that stands without one, in the form of its language.
    """
    translated = translate_curated(text)
    if translated is None:
        return format_html('<span lang="en">{}{}</span>', text, end)
    return format_html("{}{}", translated, end if translated == text else ENDS.get(end, end))


def curated_commands(text: str) -> SafeString:
    """A text with commands in it, which stand as code."""
    translated = translate_curated(text)
    html = format_html_join(
        "",
        "{}",
        [
            (format_html("<code>{}</code>", part.text) if part.is_typed else part.text,)
            for part in parts_of(text if translated is None else translated)
        ],
    )
    return html if translated is not None else format_html('<span lang="en">{}</span>', html)


@lru_cache(maxsize=8192)
def _translated(language: str, text: str) -> str | None:
    entries = _entries(language)
    whole = entries.gettext(text)
    if whole:
        return whole
    for at in (index for index, sign in enumerate(text) if sign == " " and 0 < index < len(text) - 1):
        first, second = entries.gettext(text[:at]), entries.gettext(text[at + 1 :])
        if first and second:
            return first + second
    return None


class _NoEntry(gettext.NullTranslations):
    """What is not translated is "", not itself."""

    def gettext(self, message: str) -> str:  # noqa: ARG002 (the signature of gettext)
        return ""


@lru_cache(maxsize=8)
def _entries(language: str) -> gettext.NullTranslations:
    """The translations of a language; for one without a file, none."""
    path = gettext.find(DOMAIN, str(settings.LOCALE_PATHS[0]), [to_locale(language)])
    if path is None:
        return _NoEntry()
    with Path(path).open("rb") as file:
        entries = gettext.GNUTranslations(file)
    entries.add_fallback(_NoEntry())
    return entries
