"""Files and pasted texts -> what each of the dumps in them tells, and which lines were not understood.

Dumps may stand inside each other (vLLM's report holds a topology table): every importer looks at the whole text.
"""

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from stackviz.importers.importer import Importer, Span
from stackviz.importers.messages import is_message
from stackviz.importers.reading import Reading, clean
from stackviz.importers.registry import IMPORTERS
from stackviz.importers.tidy import tidy

__all__ = ["NoText", "Paste", "decode_text", "join_texts", "read_all"]

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


class NoText(ValueError):
    """These bytes are no text: there are NUL bytes in it."""


def decode_text(content: bytes) -> str:
    """The text of a file: UTF-8, UTF-16 as PowerShell's `>` writes it, an old code page. Raises NoText."""
    encoding = next((encoding for bom, encoding in _BOMS if content.startswith(bom)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = content.decode("cp1252" if encoding == "utf-8" else encoding, errors="replace")
    if "\x00" in text:
        raise NoText
    return text


def join_texts(texts: Iterable[str]) -> str:
    """One text with the line ends of this system, an empty line between each two; those without words left out."""
    return "\n\n".join(text.replace("\r\n", "\n") for text in texts if text.strip())


MOST_CHARS = 16 * 1024 * 1024
MOST_DUMPS = 64
MOST_LINES_LISTED = 50
_LONGEST_LINE_LISTED = 200
_LONGEST_LINE_SCANNED = 10_000
_COMMANDS = "|".join(dict.fromkeys(importer.command for importer in IMPORTERS if importer.command))
_COMMAND = re.compile(rf"\s{{0,20}}(?:\+ )?(?:sudo )?(?:{_COMMANDS}|exit\b|logout\b)[^\n]{{0,200}}$")
"""A line that only says how the dump below it was made."""


@dataclass(frozen=True, slots=True)
class Paste:
    """`readings`: one for each dump, in the order of the text. `not_understood`: lines outside them, shortened."""

    readings: tuple[Reading, ...] = ()
    not_understood: tuple[str, ...] = field(default=())

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds found, each once, in the order of the text."""
        return tuple(dict.fromkeys(reading.kind for reading in self.readings))


def read_all(text: str) -> Paste:
    """Never raises. What wraps a dump (prompts, fences, quote marks, log prefixes, escapes) is taken off first."""
    unread = [f"{len(text) - MOST_CHARS} characters after the first {MOST_CHARS}"] if len(text) > MOST_CHARS else []
    text = tidy(text[:MOST_CHARS])
    dumps = sorted(
        ((span, importer) for importer in IMPORTERS for span in importer.find(text)), key=lambda dump: dump[0].start
    )
    if len(dumps) > MOST_DUMPS:
        unread.append(f"{len(dumps) - MOST_DUMPS} dumps after the first {MOST_DUMPS}")
    readings = tuple(_read(importer, text, span) for span, importer in dumps[:MOST_DUMPS])
    return Paste(readings, (*unread, *_outside(text, [span for span, _importer in dumps])))


def _read(importer: Importer, text: str, span: Span) -> Reading:
    return importer.read(text[span.start : span.end])


def _outside(text: str, spans: Sequence[Span]) -> tuple[str, ...]:
    """Lines with words in them that lie in no dump, are not the command that printed one, and repeat no message."""
    lines: list[str] = []
    for gap in _gaps(text, spans):
        for line in gap.strip().splitlines():
            start = line[:_LONGEST_LINE_SCANNED]
            if any(map(str.isalnum, start)) and not _COMMAND.match(line) and not is_message(start):
                lines.append(clean(line, _LONGEST_LINE_LISTED))
            if len(lines) == MOST_LINES_LISTED:
                return tuple(lines)
    return tuple(lines)


def _gaps(text: str, spans: Iterable[Span]) -> Iterable[str]:
    at = 0
    for start, end in spans:
        if start > at:
            yield text[at:start]
        at = max(at, end)
    yield text[at:]
