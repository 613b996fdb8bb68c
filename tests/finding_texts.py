"""Whether what the rules say is recognised by the entries of `findings.po`, and comes through in Chinese whole."""

import re
from functools import cache

from stackviz.base.advice import parts_of
from stackviz.report.rules import Finding
from stackviz.web.phrasebook import Phrasebook
from tests.live import ROOT
from tools.finding_texts import finding_texts
from tools.translations import finding_files, is_translated, read_catalog

MESSAGES = "error-message"  # the rule whose titles are messages, as programs print them
_ENGLISH = re.compile(r"\b[a-z]{2,}(?: [a-z]{2,}){2,}\b")


@cache
def entries() -> dict[str, str]:
    """English -> Chinese, of what is translated."""
    [path] = finding_files(ROOT)
    return {message.id: message.string for message in read_catalog(path) if message.id and is_translated(message)}


@cache
def chinese() -> Phrasebook:
    return Phrasebook(entries())


@cache
def _to_translate() -> Phrasebook:
    """The sentences that are still to be translated: `make translations` lists them, no test."""
    return Phrasebook({text: text for text in finding_texts(ROOT) if text not in entries()})


@cache
def translate(text: str) -> str | None:
    return chinese().translate(text)


def unknown_texts(finding: Finding) -> list[str]:
    """What no entry recognises of a finding, and English that a translation leaves although no machine reported it."""
    texts = [finding.explanation, finding.advice, *([] if finding.rule == MESSAGES else [finding.title])]
    return [text for text in texts if _to_translate().translate(text) is None and _is_unknown(text, finding)]


def _is_unknown(text: str, finding: Finding) -> bool:
    return bool(text) and (translate(text) is None or _is_torn(text, finding))


def _is_torn(text: str, finding: Finding) -> bool:
    reported = " ".join([*finding.evidence.values(), *entries().values()])
    prose = " | ".join(part.text for part in parts_of(translate(text) or "") if not part.is_typed)
    return any(english not in reported for english in _ENGLISH.findall(prose))
