"""Whether what the rules say comes through in Chinese: every sentence has its entry, and no part of one lost its key."""

import re
from functools import cache

from stackviz.base.advice import parts_of
from stackviz.report.rules import Finding
from stackviz.web.i18n.finding_text import translated_by
from tests.live import ROOT
from tools.translations import finding_files, finding_texts, is_translated, read_catalog

MESSAGES = "error-message"  # the rule whose titles are messages, as programs print them
_ENGLISH = re.compile(r"\b[a-z]{2,}(?: [a-z]{2,}){2,}\b")


@cache
def entries() -> dict[str, str]:
    """English -> Chinese; what is still to be translated is its own: `make translations` lists it, no test."""
    [path] = finding_files(ROOT)
    translated = {message.id: message.string for message in read_catalog(path) if message.id and is_translated(message)}
    return {text: text for text in finding_texts(ROOT)} | translated


def untranslated(finding: Finding) -> list[str]:
    """Texts without an entry, and English that a translation leaves although no machine reported it."""
    texts = [finding.explanation, finding.advice, *([] if finding.rule == MESSAGES else [finding.title])]
    return [text for text in filter(None, texts) if _is_torn(text, finding)]


def _is_torn(text: str, finding: Finding) -> bool:
    chinese = translated_by(entries(), text)
    reported = " ".join([*finding.evidence.values(), *entries().values()])
    prose = " | ".join(part.text for part in parts_of(chinese or "") if not part.is_typed)
    return chinese is None or any(english not in reported for english in _ENGLISH.findall(prose))
