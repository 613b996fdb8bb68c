"""Reviewed texts of this room: Markdown files by language, `texts/<locale>/<kind>/<number>-<anchor>.md`.

    # Title of the file

    ## Title of a section {#anchor}

    Text.

English is complete and names the sources, in lines that begin with `Source: ` or `[^key]: `. In other languages a
heading also has the fingerprint of the English text it translates, `{#anchor of=1a2b3c4d}`; a section without a
translation is shown in English. `make translations` lists what is missing or outdated.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from django.utils.translation import to_locale

TEXTS = Path(__file__).resolve().parent / "texts"
ENGLISH = "en"
SOURCE = re.compile(r"(?:Source|\[\^[a-z0-9-]+\]): ")
_HEADING = re.compile(r"(?P<title>\S.*?) \{#(?P<anchor>[a-z0-9-]+)(?: of=(?P<of>[0-9a-f]{8}))?\}")


class TextFault(ValueError):
    """A file is not written as its reader describes; the text names file and line."""

    def __init__(self, path: Path, line: int, problem: str) -> None:
        super().__init__(f"{path}:{line}: {problem}")
        self.path, self.line, self.problem = path, line, problem


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSection:
    """One section. `anchor` never changes: links from outside point to it.

    `line`: of its heading in the file, `body_line`: of the first line of `body`; `language`: which it is written in;
    `translation_of`: fingerprint of the English text, "" in English.
    """

    anchor: str
    title: str
    body: str
    path: Path
    line: int
    body_line: int
    language: str
    translation_of: str = ""

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.title, self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """`anchor`: the name of the file without its number; `lead`: the text before the first section."""

    anchor: str
    title: str
    lead: str
    path: Path
    language: str
    translation_of: str
    sections: Sequence[TextSection]

    @property
    def fingerprint(self) -> str:
        """Of title and lead: each section has its own."""
        return fingerprint(self.title, self.lead)


def fingerprint(title: str, text: str) -> str:
    """Changes when title or text do, not with line breaks or sources. Eight hexadecimal digits."""
    return sha256(f"{title}\n{' '.join(without_sources(text).split())}".encode()).hexdigest()[:8]


def without_sources(text: str) -> str:
    """The text that is to be translated."""
    return "\n".join(line for line in text.split("\n") if not SOURCE.match(line)).strip()


def read_texts(kind: str, language: str, folder: Path = TEXTS) -> tuple[TextFile, ...]:
    """Every file of a kind in this language (`zh-hans`), in order; what is not translated is English.

    Raises TextFault where one is malformed.
    """
    locale = to_locale(language)
    return tuple(_in_language(english, _translated(english, locale)) for english in _english(kind, folder))


def list_untranslated(kind: str, locale: str, folder: Path = TEXTS) -> Iterator[str]:
    """What a kind of text lacks in this locale (`zh_Hans`): files and sections missing, outdated or orphaned."""
    for english in _english(kind, folder):
        name = english.path.name
        translated = _translated(english, locale)
        if translated is None:
            yield f"{name}: not translated"
            continue
        if english.lead and translated.translation_of != english.fingerprint:
            yield f"{name}: the English text changed: {english.title} {{#{english.anchor} of={english.fingerprint}}}"
        sections = {section.anchor: section for section in translated.sections}
        for section in english.sections:
            wanted = f"{section.title} {{#{section.anchor} of={section.fingerprint}}}"
            if section.anchor not in sections:
                yield f"{name}: not translated: {wanted}"
            elif sections[section.anchor].translation_of != section.fingerprint:
                yield f"{name}: the English text changed: {wanted}"
        for anchor in sections.keys() - {section.anchor for section in english.sections}:
            yield f"{name}: no such section in English: #{anchor}"


def _english(kind: str, folder: Path) -> list[TextFile]:
    return [read_file(path, ENGLISH) for path in sorted((folder / ENGLISH / kind).glob("*.md"))]


def _translated(english: TextFile, locale: str) -> TextFile | None:
    path = english.path.parents[2] / locale / english.path.parent.name / english.path.name
    return read_file(path, locale) if locale != ENGLISH and path.exists() else None


def _in_language(english: TextFile, translated: TextFile | None) -> TextFile:
    if translated is None:
        return english
    sections = {section.anchor: section for section in translated.sections}
    return replace(translated, sections=tuple(sections.get(each.anchor, each) for each in english.sections))


def read_file(path: Path, language: str) -> TextFile:
    """Raises TextFault where it is not written as described above."""
    head, *sections = re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    first, _, lead = head.partition("\n")
    if not first.startswith("# ") or not first[2:].strip():
        raise TextFault(path, 1, "begins with '# ' and the title of the file")
    heading = _HEADING.fullmatch(first[2:].strip())
    anchor = path.stem.partition("-")[2]
    if heading and heading["anchor"] != anchor:
        raise TextFault(path, 1, f"the file is called {anchor}, its heading {heading['anchor']}")
    line = 1 + head.count("\n")
    read = []
    for section in sections:
        read.append(_section(section, path, line, language))
        line += section.count("\n")
    return TextFile(
        anchor=anchor,
        title=heading["title"] if heading else first[2:].strip(),
        lead=lead.strip(),
        path=path,
        language=language,
        translation_of=(heading["of"] or "") if heading else "",
        sections=tuple(read),
    )


def _section(text: str, path: Path, line: int, language: str) -> TextSection:
    first, _, body = text.partition("\n")
    if not (heading := _HEADING.fullmatch(first.strip())):
        raise TextFault(path, line, f"the heading '{first}' does not end in an anchor such as {{#dense}}")
    return TextSection(
        anchor=heading["anchor"],
        title=heading["title"],
        body=body.strip(),
        path=path,
        line=line,
        body_line=line + 1 + len(body[: len(body) - len(body.lstrip())].split("\n")) - 1,
        language=language,
        translation_of=heading["of"] or "",
    )
