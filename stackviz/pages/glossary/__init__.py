"""Terms a newcomer may not know, a few sentences each, with sources.

The texts are Markdown files beside this module, `<language>/<number>-<anchor of the chapter>.md`:

    # Title of the chapter

    ## Title of a term {#anchor}

    Plain text, no markup; lines are joined by a space.

    Source: [title](https://...)

A printed source is its title only. English is complete and names the sources. In other languages a heading also has the
fingerprint of the English text it translates, `{#anchor of=1a2b3c4d}` (`GlossaryTerm.fingerprint`); terms without a
translation are shown in English. `make translations` lists what is missing or outdated.
A "?" beside a term on any page links here: `{% help "dense" %}` -> /learn/#dense.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path

from django.utils.translation import to_locale

FOLDER = Path(__file__).resolve().parent
ENGLISH = "en"
_HEADING = re.compile(r"(?P<title>\S.*?) \{#(?P<anchor>[a-z0-9-]+)(?: of=(?P<of>[0-9a-f]{8}))?\}")
_SOURCE = re.compile(r"Source: (?:\[(?P<title>[^\[\]]+)\]\((?P<url>https://[^\s()]+)\)|(?P<print>[^\[\]]+))")


@dataclass(frozen=True, slots=True, kw_only=True)
class GlossaryTerm:
    """One entry. `anchor` never changes: links from outside point to it."""

    anchor: str
    title: str
    text: str
    source_title: str = ""
    source_url: str = ""
    translation_of: str = ""  # fingerprint of the English text; "" in English

    @property
    def fingerprint(self) -> str:
        """Changes when title or text do, not when lines are wrapped differently."""
        return sha256(f"{self.title}\n{self.text}".encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class Chapter:
    """Entries that are read together."""

    anchor: str
    title: str
    terms: Sequence[GlossaryTerm]


@cache
def read_glossary(language: str, folder: Path = FOLDER) -> Sequence[Chapter]:
    """Every chapter in this language (`zh-hans`); what is not translated is English."""
    locale = to_locale(language)
    return tuple(_in_language(chapter, _read_chapter(folder / locale / name)) for name, chapter in _english(folder))


def list_untranslated(locale: str, folder: Path = FOLDER) -> Iterator[str]:
    """What the glossary lacks in this locale (`zh_Hans`): titles and terms missing, outdated, or of no English term."""
    for name, english in _english(folder):
        if (translated := _read_chapter(folder / locale / name)) is None:
            yield f"{name}: not translated"
            continue
        terms = {term.anchor: term for term in translated.terms}
        for term in english.terms:
            if term.anchor not in terms:
                yield f"{name}: not translated: {term.title} {{#{term.anchor} of={term.fingerprint}}}"
            elif terms[term.anchor].translation_of != term.fingerprint:
                yield f"{name}: the English text changed: {term.title} {{#{term.anchor} of={term.fingerprint}}}"
        for anchor in terms.keys() - {term.anchor for term in english.terms}:
            yield f"{name}: no such term in English: #{anchor}"


def _english(folder: Path) -> Iterator[tuple[str, Chapter]]:
    for path in sorted((folder / ENGLISH).glob("*.md")):
        if chapter := _read_chapter(path):
            yield path.name, chapter


def _in_language(english: Chapter, translated: Chapter | None) -> Chapter:
    if translated is None:
        return english
    texts = {term.anchor: term for term in translated.terms}
    terms = (
        replace(term, title=texts[term.anchor].title, text=texts[term.anchor].text) if term.anchor in texts else term
        for term in english.terms
    )
    return Chapter(english.anchor, translated.title, tuple(terms))


def _read_chapter(path: Path) -> Chapter | None:
    """None where there is no such file. Raises ValueError where it is not written as described above."""
    if not path.exists():
        return None
    head, *sections = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if not (title := re.fullmatch(r"# (\S.*)\n\s*", head)):
        raise ValueError(f"{path}: begins with '# ' and the title of the chapter, and nothing before the first term")
    anchor = path.stem.partition("-")[2]
    return Chapter(anchor, title[1], tuple(_parse_term(path, section) for section in sections))


def _parse_term(path: Path, section: str) -> GlossaryTerm:
    first, _, body = section.partition("\n")
    if not (heading := _HEADING.fullmatch(first.strip())):
        raise ValueError(f"{path}: the heading '{first}' does not end in an anchor such as {{#dense}}")
    paragraphs = [" ".join(paragraph.split()) for paragraph in body.split("\n\n") if paragraph.strip()]
    source = _SOURCE.fullmatch(paragraphs[-1]) if paragraphs else None
    if len(paragraphs) != (2 if source else 1):
        raise ValueError(f"{path}: '{first}' has one paragraph of text, then at most its source")
    return GlossaryTerm(
        anchor=heading["anchor"],
        title=heading["title"],
        text=paragraphs[0],
        source_title=source["title"] or source["print"] if source else "",
        source_url=source["url"] or "" if source else "",
        translation_of=heading["of"] or "",
    )
