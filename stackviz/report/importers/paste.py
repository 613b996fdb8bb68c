"""Files and pasted texts -> what each of the dumps in them tells, and which lines were not understood.

Dumps may stand inside each other (vLLM's report holds a topology table): every importer looks at the whole text.
"""

import codecs
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from stackviz.report.importers.deadline import NEVER, Deadline
from stackviz.report.importers.error_lines import KIND as ERROR_LINE
from stackviz.report.importers.error_lines import state_program_around
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.messages import KIND as MESSAGES
from stackviz.report.importers.messages import is_message, state_surroundings
from stackviz.report.importers.reading import Reading, clean, distinct_lines, without_digits
from stackviz.report.importers.registry import IMPORTERS
from stackviz.report.importers.tidy import tidy

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
_MARKS = {importer.kind: tuple(map(without_digits, importer.marks)) for importer in IMPORTERS}


_SEARCHING = 0.6  # of the time that is left after tidying; the rest is for reading what was found
_READING = 0.8


@dataclass(frozen=True, slots=True)
class Paste:
    """`readings`: one for each dump, in the order of the text. `not_understood`: lines outside them, shortened.

    `left_out`: kinds of dumps that were not searched for, or found and not read, when the deadline was over.
    """

    readings: tuple[Reading, ...] = ()
    not_understood: tuple[str, ...] = field(default=())
    left_out: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds found, each once, in the order of the text."""
        return tuple(dict.fromkeys(reading.kind for reading in self.readings))


def read_all(text: str, deadline: Deadline = NEVER) -> Paste:
    """Never raises. What wraps a dump (prompts, fences, quote marks, log prefixes, escapes) is taken off first."""
    unread = [f"{len(text) - MOST_CHARS} characters after the first {MOST_CHARS}"] if len(text) > MOST_CHARS else []
    text = tidy(text[:MOST_CHARS], deadline)
    search = _search_all(text, deadline.share(_SEARCHING))
    if len(search.dumps) > MOST_DUMPS:
        unread.append(f"{len(search.dumps) - MOST_DUMPS} dumps after the first {MOST_DUMPS}")
    readings, left_out = _read_dumps(search, deadline.share(_READING))
    state_surroundings(text, readings)
    for reading, (span, _importer) in zip(readings, search.dumps, strict=False):  # those left out come last
        if reading.kind == ERROR_LINE:
            state_program_around(reading, text, span)
    spans = [span for span, _importer in search.dumps]
    return Paste(readings, (*unread, *_outside(text, spans, deadline)), (*search.not_searched, *left_out))


class _Search(NamedTuple):
    """Dumps in the order of the text; of each rank of importers the text that is theirs to read."""

    dumps: Sequence[tuple[Span, Importer]]
    readable: Mapping[int, str]
    not_searched: Sequence[str]


def _search_all(text: str, deadline: Deadline) -> _Search:
    dumps: list[tuple[Span, Importer]] = []
    readable: dict[int, str] = {}
    not_searched: list[str] = []
    lines = distinct_lines(text)
    likely = [importer for importer in IMPORTERS if _may_be_in(lines, importer)]
    for rank in range(_RANKS):
        readable[rank] = rest = _without(text, [span for span, importer in dumps if _is_blank_to(rank, importer)])
        of_rank = [importer for importer in likely if _rank(importer) == rank]
        spans = _spans(rest, of_rank, deadline)
        dumps += [(span, importer) for importer in of_rank for span in spans.get(importer.kind, ())]
        not_searched += [importer.kind for importer in of_rank if importer.kind not in spans]
    dumps.sort(key=lambda dump: (dump[0].start, dump[1].is_typed))
    return _Search(dumps, readable, not_searched)


def _spans(text: str, importers: Sequence[Importer], deadline: Deadline) -> dict[str, list[Span]]:
    """Kind -> where its dumps lie, without the kinds for which there was no time.

    Messages first: in a log of a megabyte they are what it was pasted for.
    """
    spans: dict[str, list[Span]] = {}
    for importer in sorted(importers, key=lambda importer: importer.kind != MESSAGES):
        if deadline.is_over:
            break
        spans[importer.kind] = list(importer.find(text))
    return spans


def _read_dumps(search: _Search, deadline: Deadline) -> tuple[tuple[Reading, ...], tuple[str, ...]]:
    """The readings of the first dumps, and the kinds of those for which there was no time."""
    readings: list[Reading] = []
    for number, (span, importer) in enumerate(search.dumps[:MOST_DUMPS]):
        if deadline.is_over:
            left = search.dumps[number:MOST_DUMPS]
            return tuple(readings), tuple(dict.fromkeys(importer.kind for _span, importer in left))
        readings.append(importer.read(search.readable[_rank(importer)][span.start : span.end]))
    return tuple(readings), ()


def _may_be_in(lines: str, importer: Importer) -> bool:
    """`lines`: the distinct lines of a text."""
    marks = _MARKS[importer.kind]
    return not marks or any(mark in lines for mark in marks)


_RANKS = 4
_MOST_TRUST_OF_LOGS = 44  # what tools with more print has no line of an error that is not one of its values


def _is_blank_to(rank: int, importer: Importer) -> bool:
    """Whether importers of this rank do not see what this one reads. Logs hold the lines of errors."""
    return not importer.is_typed and (rank < _RANKS - 1 or importer.trust > _MOST_TRUST_OF_LOGS)


def _rank(importer: Importer) -> int:
    """0 looks at the whole text, 1 at what is left of it, 2, which a person typed, at what is left then.

    3 looks for an error that is no value of a tool.
    """
    if importer.kind == ERROR_LINE:
        return _RANKS - 1
    return importer.yields + (importer.yields and not importer.trust)


def _without(text: str, spans: Sequence[Span]) -> str:
    """The text with a blank line where each of these spans lies: what is left stays in its place."""
    parts: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if end > at:
            width = end - max(at, start)
            parts += [text[at:start], f"\n{' ' * (width - 2)}\n" if width > 1 else "\n"]
            at = end
    return "".join(parts) + text[at:]


def _outside(text: str, spans: Sequence[Span], deadline: Deadline) -> tuple[str, ...]:
    """Lines with words in them that lie in no dump, are not the command that printed one, and repeat no message.

    Once the deadline is over, those found until then.
    """
    lines: list[str] = []
    messages: set[str] = set()  # without digits: a log repeats them with other numbers
    for gap in _gaps(text, spans):
        for line in gap.strip().splitlines():
            if deadline.is_over:
                return tuple(lines)
            start = line[:_LONGEST_LINE_SCANNED]
            wording = without_digits(start)
            if wording in messages or not any(map(str.isalnum, start)) or _COMMAND.match(line):
                continue
            if is_message(start):
                messages.add(wording)
            else:
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
