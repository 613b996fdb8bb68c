"""The entries of a gettext domain of our own, `locale/<locale>/LC_MESSAGES/<domain>.mo`, as a mapping.

Django knows one domain. Texts of the data files and of the rules have theirs, so that a text without a translation can
be told from one that is the same in both languages.
"""

import gettext
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.utils.translation import to_locale

__all__ = ["ENGLISH", "entries_of"]

ENGLISH = "en"


@lru_cache(maxsize=16)
def entries_of(domain: str, language: str) -> Mapping[str, str]:
    """English text -> translation, read once for each language; empty for a language without a file."""
    path = gettext.find(domain, str(settings.LOCALE_PATHS[0]), [to_locale(language)])
    if path is None:
        return {}
    with Path(path).open("rb") as file:
        entries = gettext.GNUTranslations(file)
    listed = entries._catalog  # type: ignore[attr-defined]  # noqa: SLF001 (gettext lists its entries nowhere else)
    return {english: text for english, text in listed.items() if english}
