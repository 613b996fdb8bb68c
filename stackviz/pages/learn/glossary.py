"""Terms a newcomer may not know, a few sentences each, with sources.

The texts are `texts/<locale>/glossary/*.md` (how: `stackviz/pages/learn/text_files.py`): a section a
term, with one paragraph of plain text and, in English, its source:

    Source: [title](https://...)

A printed source is its title only. A "?" beside a term links here: `{% help "dense" %}` -> /glossary/#dense.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stackviz.pages.learn.text_files import (
    ENGLISH,
    SOURCE,
    TEXTS,
    TextFault,
    TextFile,
    TextSection,
    read_texts,
    without_sources,
)

__all__ = ["ENGLISH", "GLOSSARY", "GlossaryTerm", "TermGroup", "read_glossary"]

GLOSSARY = "glossary"
_SOURCE = re.compile(r"Source: (?:\[(?P<title>[^\[\]]+)\]\((?P<url>https://[^\s()]+)\)|(?P<print>[^\[\]]+))")


@dataclass(frozen=True, slots=True, kw_only=True)
class GlossaryTerm:
    """One entry. `anchor` never changes: links from outside point to it."""

    anchor: str
    title: str
    text: str
    source_title: str = ""
    source_url: str = ""


@dataclass(frozen=True, slots=True)
class TermGroup:
    """Entries that are read together."""

    anchor: str
    title: str
    terms: Sequence[GlossaryTerm]


@cache
def read_glossary(language: str, folder: Path = TEXTS) -> Sequence[TermGroup]:
    """Every group in this language (`zh-hans`); what is not translated is English. Raises TextFault."""
    sources = {
        (file.anchor, section.anchor): _source(section)
        for file in read_texts(GLOSSARY, ENGLISH, folder)
        for section in file.sections
    }
    return tuple(
        TermGroup(
            file.anchor,
            file.title,
            tuple(_term(section, *sources[file.anchor, section.anchor]) for section in file.sections),
        )
        for file in _well_formed(read_texts(GLOSSARY, language, folder))
    )


def _well_formed(files: Sequence[TextFile]) -> Sequence[TextFile]:
    for file in files:
        if file.lead:
            raise TextFault(file.path, 3, "a group of terms has nothing before its first term")
    return files


def _term(section: TextSection, source_title: str, source_url: str) -> GlossaryTerm:
    text = without_sources(section.body)
    if not text or "\n\n" in text:
        raise TextFault(section.path, section.line, f"'{section.title}' has one paragraph of text and a source")
    return GlossaryTerm(
        anchor=section.anchor,
        title=section.title,
        text=" ".join(text.split()),
        source_title=source_title,
        source_url=source_url,
    )


def _source(section: TextSection) -> tuple[str, str]:
    """Title and address of a term's source; empty where it has none."""
    lines = [line for line in section.body.split("\n") if SOURCE.match(line)]
    if not lines:
        return "", ""
    source = _SOURCE.fullmatch(lines[0])
    if len(lines) > 1 or source is None:
        raise TextFault(section.path, section.line, f"'{section.title}' has one source: 'Source: [title](https://…)'")
    return source["title"] or source["print"], source["url"] or ""
