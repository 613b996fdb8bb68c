"""Curated texts in the language of the page: descriptions of components, steps of operators, claims and others.

Their English is in the data files, and in the database as curators correct it. Translations are gettext entries of
a separate domain, `locale/<locale>/LC_MESSAGES/curated.po`: the English text is the key, so that a corrected text
is English again until somebody translates it. `make translations` keeps the file in step with the data files.
"""

import gettext
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, to_locale

from stackviz.base.advice import parts_of

__all__ = [
    "DOMAIN",
    "ENGLISH",
    "curated",
    "curated_code",
    "curated_commands",
    "curated_words",
    "entries_of",
    "translate_curated",
]

ENGLISH = "en"
DOMAIN = "curated"
_CODE = re.compile(r"`([^`]+)`")
ENDS = {".": "。"}  # of Chinese, the one language there is


@lru_cache(maxsize=16)
def entries_of(domain: str, language: str) -> Mapping[str, str]:
    """Return English text -> translation of a gettext domain of ours; empty for a language without a file.

    Django knows one domain. Texts of the data files and of the rules have theirs, so that a text without a translation
    can be distinguished from one that is the same in both languages.
    """
    path = gettext.find(domain, str(settings.LOCALE_PATHS[0]), [to_locale(language)])
    if path is None:
        return {}
    with Path(path).open("rb") as file:
        entries = gettext.GNUTranslations(file)
    listed = entries._catalog  # type: ignore[attr-defined]  # noqa: SLF001 (gettext lists its entries nowhere else)
    return {english: text for english, text in listed.items() if english}


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

    `end`: the full stop of a text that has none, in the form of its language.
    """
    translated = translate_curated(text)
    if translated is None:
        return format_html('<span lang="en">{}{}</span>', text, end)
    return format_html("{}{}", translated, end if translated == text else ENDS.get(end, end))


def curated_commands(text: str) -> SafeString:
    """Return a text with its commands marked as code."""
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


def curated_code(text: str) -> SafeString:
    """Return a text with its `names of code` marked as code."""
    translated = translate_curated(text)
    html = with_code(text if translated is None else translated)
    return html if translated is not None else format_html('<span lang="en">{}</span>', html)


def with_code(text: str) -> SafeString:
    """A text of the reader's language as HTML, its `names of code` as code."""
    return format_html_join("", "{}", [(_code_at(index, part),) for index, part in enumerate(_CODE.split(text))])


def _code_at(index: int, part: str) -> str:
    """Every second part stood between backticks."""
    return format_html("<code>{}</code>", part) if index % 2 else part


@lru_cache(maxsize=8192)
def _translated(language: str, text: str) -> str | None:
    entries = entries_of(DOMAIN, language)
    if whole := entries.get(text):
        return whole
    for at in (index for index, sign in enumerate(text) if sign == " " and 0 < index < len(text) - 1):
        first, second = entries.get(text[:at]), entries.get(text[at + 1 :])
        if first and second:
            return first + second
    return None
