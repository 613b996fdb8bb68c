"""How long and how heavy the chapters of `/learn/` are: `python -m tools.reading`; `make docs` writes docs/reading.md.

Counted is what one reads: paragraphs, lists, captions. Code, sources and cells of tables are left out of sentences and
grade. The grade is Flesch and Kincaid's, in years of school: 0.39 words a sentence + 11.8 syllables a word - 15.59.
Syllables are groups of vowels, without a silent e; a figure or a name in code counts as one: an estimate, good for
comparing chapters.
Source: Kincaid and others, Derivation of new readability formulas for Navy enlisted personnel, 1975.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.token import Token

if TYPE_CHECKING:
    from stackviz.learn.chapters import Chapter

ROOT = Path(__file__).resolve().parent.parent
HEADS = ("chapter", "words", "minutes", "sentences a paragraph", "most", "words a sentence", "grade", "characters (zh)")
_SPEC = re.compile(r"\{\{ [^{}]+? \}\}")
_NOTE = re.compile(r"\[\^[a-z0-9-]+\]")
_SENTENCE = re.compile(r"(?<=[.!?])[”\"')]*\s+(?=[“\"'(*A-Z0-9])")
_WORD = re.compile(r"[A-Za-z0-9][\w.,'’/-]*")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_VOWELS = re.compile(r"[aeiouy]+")
_SILENT = re.compile(r"(?<![aeiouyl])e$|(?<=[aeiouy]l)e$|(?<![aeiouysxzgcl])es$|(?<![aeiouytd])ed$")


@dataclass(frozen=True, slots=True)
class Reading:
    """`sentences`: of each paragraph; `tables`: words in cells."""

    sentences: Sequence[int]
    words: int
    syllables: int
    tables: int

    @property
    def words_a_sentence(self) -> float:
        return self.words / sum(self.sentences)

    @property
    def grade(self) -> float:
        return 0.39 * self.words_a_sentence + 11.8 * self.syllables / self.words - 15.59


def read_prose(texts: Iterable[str]) -> Reading:
    """Of Markdown without its sources, at least one paragraph of prose."""
    paragraphs: list[str] = []
    cells: list[str] = []
    for text in texts:
        for paragraph, in_table in _paragraphs(text):
            (cells if in_table else paragraphs).append(paragraph)
    words = [word for paragraph in paragraphs for word in _WORD.findall(paragraph)]
    return Reading(
        sentences=tuple(len(_SENTENCE.split(paragraph.strip())) for paragraph in paragraphs),
        words=len(words),
        syllables=sum(syllables(word) for word in words),
        tables=sum(len(_WORD.findall(cell)) for cell in cells),
    )


def syllables(word: str) -> int:
    """At least one: `bandwidth` 2, `little` 2, `cores` 1, `compiled` 2, `3.7` 1."""
    return max(1, len(_VOWELS.findall(_SILENT.sub("", word.lower().rstrip(".,'’/-")))))


def _paragraphs(text: str) -> Iterator[tuple[str, bool]]:
    """Each paragraph, item, caption or cell as plain text, and whether it is a cell."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    in_table = False
    for token in parser.parse(_NOTE.sub("", _SPEC.sub("1", text))):
        if token.type in ("table_open", "table_close"):
            in_table = token.type == "table_open"
        elif token.type == "inline":
            yield _plain(token), in_table
        elif token.type == "fence" and token.info.startswith(("figure ", "try ")):
            yield from ((_plain(inline), False) for inline in parser.parseInline(token.content))


def _plain(token: Token) -> str:
    shown = {"code_inline": "x", "softbreak": " "}
    return "".join(shown.get(child.type, child.content) for child in token.children or ())


def chapter_rows() -> Iterator[tuple[str, ...]]:
    """A row of HEADS for each chapter."""
    from stackviz.learn.chapters import read_chapters

    for english, chinese in zip(read_chapters("en"), read_chapters("zh-hans"), strict=True):
        reading = read_prose(_texts(english))
        yield (
            english.slug,
            f"{reading.words + reading.tables:,}",
            str(english.minutes),
            f"{sum(reading.sentences) / len(reading.sentences):.1f}",
            str(max(reading.sentences)),
            f"{reading.words_a_sentence:.1f}",
            f"{reading.grade:.1f}",
            f"{sum(len(_HAN.findall(text)) for text in _texts(chinese)):,}",
        )


def _texts(chapter: "Chapter") -> list[str]:
    from stackviz.learn.text_files import without_sources

    return [chapter.lead, *(without_sources(section.body) for section in chapter.sections)]


def main() -> int:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "accelweb.settings")
    django.setup()
    rows = [HEADS, *chapter_rows()]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
