"""Texts of findings, their advice and the causes of error messages in the language of the page.

Rules compose them in English, and they are stored, uploaded and exported so. A page translates what it shows: the
entries of `locale/<locale>/LC_MESSAGES/findings.po` are sentences, some with places (`phrasebook.py`). What has no
entry is shown in English and marked. `make translations` keeps the file in step with the rules
(`tools/finding_texts.py`).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from stackviz.base.advice import Block, blocks_of
from stackviz.web.domain_entries import ENGLISH, entries_of
from stackviz.web.message_pages import EXPLAINS_MESSAGES
from stackviz.web.phrasebook import Phrasebook
from stackviz.web.request_memo import remember

__all__ = ["DOMAIN", "AdviceText", "advice_of", "finding_text", "finding_title", "finding_words", "translate_finding"]

DOMAIN = "findings"
MOST_STEPS_A_REQUEST = 40_000  # a second or two; a diagnosis of ours takes a few hundred, its longest text 2,600


class TitledFinding(Protocol):
    @property
    def rule(self) -> str: ...
    @property
    def title(self) -> str: ...


@dataclass(frozen=True, slots=True)
class AdviceText:
    """Paragraphs and commands as they are drawn. `lang`: what the page has to mark it as, "" for its own language."""

    blocks: tuple[Block, ...]
    lang: str


def translate_finding(text: str) -> str | None:
    """The text in the language of the page; None where nobody has translated it. English is itself."""
    language = get_language() or ENGLISH
    if not text or language == ENGLISH:
        return text
    try:
        return _translated(language, text)
    except _EffortSpent:
        return None


def finding_words(text: str) -> str:
    """The same where nothing can be marked, as in a drawing or a title: English where nobody has translated it."""
    translated = translate_finding(text)
    return text if translated is None else translated


def finding_text(text: str) -> SafeString:
    """The same as HTML for a page: what is not translated is marked as English, for screen readers and fonts."""
    translated = translate_finding(text)
    if translated is None:
        return format_html('<span lang="en">{}</span>', text)
    return format_html("{}", translated)


def finding_title(finding: TitledFinding) -> SafeString:
    """Its title; an error message stands as what a program printed, in every language."""
    if finding.rule == EXPLAINS_MESSAGES:
        return format_html('<samp lang="en">{}</samp>', finding.title)
    return finding_text(finding.title)


def advice_of(text: str) -> AdviceText:
    """An advice, with its commands as they are."""
    translated = translate_finding(text)
    if translated is None:
        return AdviceText(tuple(blocks_of(text)), ENGLISH)
    return AdviceText(tuple(blocks_of(translated)) if translated else (), "")


@dataclass(slots=True)
class _Effort:
    """What translating took within one request: a report may state thousands of texts of its own."""

    steps: int = 0


class _EffortSpent(Exception):
    """The request has used up its steps. An exception, so that nobody remembers it as the translation of a text."""


@lru_cache(maxsize=4096)
def _translated(language: str, text: str) -> str | None:
    effort = remember("translated findings", _Effort)
    if effort.steps >= MOST_STEPS_A_REQUEST:
        raise _EffortSpent
    translated, steps = _phrasebook(language).translate_counted(text)
    effort.steps += steps
    return translated


@lru_cache(maxsize=8)
def _phrasebook(language: str) -> Phrasebook:
    """The entries of a language as patterns."""
    return Phrasebook(entries_of(DOMAIN, language))
