"""Findings, their advice and the causes of error messages in the language of the page.

Rules say English sentences that know their keys (`stackviz/base/sentence.py`). A page looks the key up in
`locale/<locale>/LC_MESSAGES/findings.po` and puts the values in, each translated in turn. A text without a key, as an
agent or an older version stored it, is looked up as it is; what has no translation is shown in English and marked.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from stackviz.base.advice import Block, blocks_of, parts_of
from stackviz.base.sentence import Sentence, cut_at_places
from stackviz.report.format.agent_texts import AGENT_TEXTS
from stackviz.report.messages.of_findings import EXPLAINS_MESSAGES
from stackviz.web.i18n.curated_text import ENGLISH, entries_of

__all__ = [
    "DOMAIN",
    "AdviceText",
    "advice_of",
    "finding_text",
    "finding_title",
    "finding_words",
    "translate_finding",
    "translated_by",
]

DOMAIN = "findings"
MOST_CHARS_OF_AGENTS = 400
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_WIDE_SIGNS = "。？！：；，、（）"  # as wide as a character
_WIDE = {".": "。", "?": "？", ":": "：", ";": "；", ",": "，"}  # of Chinese, the one language there is
_LETTER = re.compile(r"[A-Za-z]")


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
    """Return the text in the language of the page, None where nobody has translated it. English is itself."""
    language = get_language() or ENGLISH
    return text if not text or language == ENGLISH else translated_by(entries_of(DOMAIN, language), text)


def finding_words(text: str) -> str:
    """Return the same for a place where nothing can be marked, as a drawing: English where it is not translated."""
    translated = translate_finding(text)
    return text if translated is None else translated


def finding_text(text: str) -> SafeString:
    """Return the same as HTML: what is not translated is marked as English, for screen readers and fonts."""
    translated = translate_finding(text)
    if translated is None:
        return format_html('<span lang="en">{}</span>', text)
    return format_html("{}", translated)


def finding_title(finding: TitledFinding) -> SafeString:
    """Return its title as HTML; an error message is shown as a program printed it, in every language."""
    if finding.rule == EXPLAINS_MESSAGES:
        return format_html('<samp lang="en">{}</samp>', finding.title)
    return finding_text(finding.title)


def advice_of(text: str) -> AdviceText:
    """Return an advice with its commands as they are."""
    translated = translate_finding(text)
    if translated is None:
        return AdviceText(tuple(blocks_of(text)), ENGLISH)
    return AdviceText(tuple(blocks_of(translated)) if translated else (), "")


def translated_by(entries: Mapping[str, str], text: str) -> str | None:
    """Return the text by the entries of a language, None where they lack it."""
    if not isinstance(text, Sentence):
        return entries.get(text) or (text if _is_typed(text) else _translate_agent(text, entries))
    if not any(_LETTER.search(words) for words in cut_at_places(text.key)[::2]):
        return _joined_parts(text, entries)
    translation = entries.get(text.key.strip())
    if translation is None:
        return text if _is_typed(text) else None
    filled = ""
    for index, part in enumerate(cut_at_places(translation)):
        filled = _with_space(filled, _value(text.values[part], entries) if index % 2 else part)
    return filled


def _translate_agent(text: str, entries: Mapping[str, str]) -> str | None:
    for template in AGENT_TEXTS if len(text) <= MOST_CHARS_OF_AGENTS else ():
        before, name, after = (*cut_at_places(template), "", "")[:3]
        value = text.removeprefix(before).removesuffix(after)
        if name and value and text == before + value + after:
            return translated_by(entries, Sentence(template, {name: value}))
    return None


def _is_typed(text: str) -> bool:
    """Whether it is a command or a name in one word, the same in every language."""
    return " " not in text or all(part.is_typed for part in parts_of(text.rstrip(".;")))


def _value(value: str, entries: Mapping[str, str]) -> str:
    """Return the value of a place: a sentence translated where it can be, any other text as it was reported."""
    translated = translated_by(entries, value) if isinstance(value, Sentence) else None
    return value if translated is None else translated.strip()


def _joined_parts(text: Sentence, entries: Mapping[str, str]) -> str | None:
    """Return consecutive sentences, with the signs of Chinese; None if one is not translated."""
    joined, parts = "", cut_at_places(text.key)
    for index, part in enumerate(parts):
        if not index % 2:
            joined = _with_sign(joined, part, is_last=index == len(parts) - 1)
            continue
        value = text.values[part]
        translated = translated_by(entries, value) if isinstance(value, Sentence) else value
        if translated is None:
            return None
        joined = _with_space(joined, translated)
    return joined


def _with_sign(text: str, sign: str, *, is_last: bool) -> str:
    """Put the sign between two sentences: wide after Chinese, with a full stop where there is none."""
    mark = sign.strip()
    if mark in _WIDE:
        return text + _WIDE[mark]
    if mark or not text or not sign:
        return text + sign
    if _CHINESE.match(text[-1]):
        return text if is_last else f"{text}。"
    return text if text[-1] in _WIDE_SIGNS else text + sign


def _with_space(text: str, more: str) -> str:
    """Put together: a space between Chinese and Latin, none next to a sign that is as wide as a character."""
    if not text.strip() or not more.strip():
        return text + more
    before, after = text.rstrip(" ")[-1], more.lstrip(" ")[0]
    if _is_wide(before) and _is_wide(after):
        return text.rstrip(" ") + more.lstrip(" ")
    is_tight = text[-1] != " " and more[0] != " "
    is_change = (_CHINESE.match(before) and _is_latin(after)) or (_is_latin(before) and _CHINESE.match(after))
    return f"{text} {more}" if is_tight and is_change else text + more


def _is_wide(sign: str) -> bool:
    return sign in _WIDE_SIGNS or bool(_CHINESE.match(sign))


def _is_latin(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()
