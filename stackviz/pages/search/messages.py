"""Entries of error messages: each leads to its page. The messages are the table of the room `symptoms`."""

import re
from collections.abc import Iterator

from django.urls import reverse

from stackviz.pages.search.entries import SearchEntry, SearchKind
from stackviz.pages.search.proper_names import CHINESE_ERRORS, chinese_names
from stackviz.report.messages import SYMPTOMS, Symptom
from stackviz.web.finding_text import finding_words

__all__ = ["message_entries", "wordings"]

_PLAIN = re.compile(r"[^\\\[\](){}?*+|^$]{8,}")  # a pattern that is a text


def message_entries() -> Iterator[SearchEntry]:
    """Titled as they are printed most often, found by their other wordings too."""
    for symptom in SYMPTOMS:
        yield SearchEntry(
            kind=SearchKind.MESSAGE,
            title=symptom.message,
            url=reverse("diagnose:cause", args=[symptom.key]),
            line=finding_words(symptom.meaning),
            names=(*wordings(symptom), *chinese_names((symptom.message,), CHINESE_ERRORS)),
            keywords=(symptom.key, *symptom.rules),
            text=" ".join(f"{cause.text} {cause.sign} {cause.remedy}" for cause in symptom.causes),
        )


def wordings(symptom: Symptom) -> tuple[str, ...]:
    """How else it is printed: the patterns that are plain text and say more than its title."""
    texts = (pattern for pattern in symptom.patterns if _PLAIN.fullmatch(pattern))
    return tuple(text for text in texts if text.lower() not in symptom.message.lower())
