"""Chapters: the book beside the glossary. One reads them in order or comes from a search.

The texts are `texts/<locale>/chapters/*.md` (`text_files.py` says how they are written): title and lead of a chapter,
then sections in Markdown without HTML, with

- `{{ nvidia-h100-sxm5-80gb:memory_bandwidth_gb_s }}`: a figure of the catalogue (`spec_figures.py`)
- `{{ nvidia-h100-sxm5-80gb:street_price }}`: its newest street price, with the day (`street_prices.py`)
- `[^key]`: a source, named once in the English file: `[^key]: [title](https://…), who, year`
- a block of code in the language `figure NAME`: a drawing (`drawings/`), its caption as the code
- a block of code in the language `try NAME x=1`: a calculation to try (`tries/`), with what to look at
"""

import re
from collections.abc import Iterator, Sequence
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

__all__ = ["CHAPTERS", "Chapter", "ChapterSource", "read_chapters"]

CHAPTERS = "chapters"
WORDS_A_MINUTE = 220  # of technical prose
_SOURCE = re.compile(
    r"\[\^(?P<key>[a-z0-9-]+)\]: \[(?P<title>[^\[\]]+)\]\((?P<url>https://[^\s()]+)\)(?:, (?P<by>.+))?"
)
_CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChapterSource:
    """`number`: as the chapter shows it; `by`: who and when, "" where the title says so."""

    key: str
    number: int
    title: str
    url: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """`number`: from 1; `slug`: its address; `sources`: by key, in the order of the file."""

    number: int
    slug: str
    title: str
    lead: str
    sections: Sequence[TextSection]
    sources: dict[str, ChapterSource]
    language: str

    @property
    def minutes(self) -> int:
        """To read it, code and sources left out; two Chinese characters count as one word."""
        texts = (self.lead, *(without_sources(section.body) for section in self.sections))
        text = _CODE.sub("", "\n\n".join(texts))
        words = len(_HAN.sub(" ", text).split()) + len(_HAN.findall(text)) / 2
        return max(1, round(words / WORDS_A_MINUTE))


@cache
def read_chapters(language: str, folder: Path = TEXTS) -> tuple[Chapter, ...]:
    """Every chapter in this language (`zh-hans`), in order; what is not translated is English. Raises TextFault."""
    sources = [_sources(file) for file in read_texts(CHAPTERS, ENGLISH, folder)]
    return tuple(
        Chapter(
            number=number,
            slug=file.anchor,
            title=file.title,
            lead=file.lead,
            sections=file.sections,
            sources=of_file,
            language=file.language,
        )
        for number, (file, of_file) in enumerate(zip(read_texts(CHAPTERS, language, folder), sources, strict=True), 1)
    )


def _sources(file: TextFile) -> dict[str, ChapterSource]:
    sources: dict[str, ChapterSource] = {}
    for path, line, text in _source_lines(file):
        matched = _SOURCE.fullmatch(text)
        if not matched:
            raise TextFault(path, line, f"a source is '[^key]: [title](https://…), who, year', not '{text}'")
        if matched["key"] in sources:
            raise TextFault(path, line, f"the source '{matched['key']}' is named twice")
        sources[matched["key"]] = ChapterSource(
            key=matched["key"],
            number=len(sources) + 1,
            title=matched["title"],
            url=matched["url"],
            by=matched["by"] or "",
        )
    return sources


def _source_lines(file: TextFile) -> Iterator[tuple[Path, int, str]]:
    for section in file.sections:
        for offset, line in enumerate(section.body.split("\n"), section.body_line):
            if SOURCE.match(line):
                yield file.path, offset, line.strip()
