"""Define an importer: it finds its tool's dumps in a text and reads one. Also: finding lines that belong together."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from stackviz.report.importers.reading import Reading

__all__ = ["Importer", "Span", "block_after", "blocks_after", "end_of_line", "fields", "next_line", "runs_of"]


class Span(NamedTuple):
    """Where one dump lies in a text: `text[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """One tool's output in one layout. The registry finds every Importer that a module of this package names.

    `find` is given the whole tidied text and answers quickly where dumps of this kind lie, in order, none overlapping
    another; where the end cannot be told it goes up to the end of the text. `read` is given one such piece. Neither
    ever raises, whatever the text.

    `tool` is what a reader calls it: the command that prints it. `tells` is for the table of docs/diagnose.md.
    `marks`: a text in which a dump of this kind lies has one of them, within a line; without any of them `find` is not
    asked. Digits in them do not count. (): it is asked for each text.

    `command` is a regular expression for how a line begins that only runs the tool: such a line is no unread text.
    `answers`: commands that advice asks for, word for word, whose question the output answers, besides `tool`.

    `trust`: where two dumps state the same fact, the higher counts. From 70 on the tool asked the system itself, more
    if it prints for programs; from 40 on it asked other tools; below 40 it mentions the system in passing; 0 was typed
    by hand. `is_typed`: its words are another's than the tools', so that it is no evidence of another machine; its
    cards count where no tool lists any of their vendor. `lists_all_cards`: False where it lists only the cards
    that it was told to use. `yields`: what other tools printed is blank to it, because its lines stand in
    their dumps too.
    """

    kind: str
    tool: str
    tells: str
    trust: int
    find: Callable[[str], Iterable[Span]]
    read: Callable[[str], Reading]
    marks: tuple[str, ...] = ()
    command: str = ""
    answers: tuple[str, ...] = ()
    is_typed: bool = False
    lists_all_cards: bool = True
    yields: bool = False


MOST_BLOCKS = 64
_MOST_LINES = 4_000
_LONGEST_LINE = 2_000
_FIELD = re.compile(r"^[ \t>|*-]{0,40}([A-Za-z][^:=\n]{0,80}?)[ \t]*[:=][ \t]*([^\n]{0,2000})$", re.MULTILINE)


def blocks_after(head: re.Pattern[str], inside: re.Pattern[str], text: str, *, anchor: str = "") -> list[Span]:
    """Each line that `head` matches, with the lines below it that `inside` matches; empty lines between them count.

    `anchor`: without these words in the text nothing is searched.
    """
    if anchor not in text:
        return []
    spans: list[Span] = []
    for match in head.finditer(text):
        if spans and match.start() < spans[-1].end:
            continue
        spans.append(block_after(match.start(), inside, text))
        if len(spans) == MOST_BLOCKS:
            break
    return spans


def block_after(start: int, inside: re.Pattern[str], text: str) -> Span:
    """From the line that begins at `start` to the last one of those below it that `inside` matches."""
    end = at = end_of_line(text, start)
    for _ in range(_MOST_LINES):
        if at >= len(text):
            break
        line_end = end_of_line(text, at + 1)
        line = text[at + 1 : min(line_end, at + _LONGEST_LINE)]
        if line.strip():
            if not inside.match(line):
                break
            end = line_end
        at = line_end
    return Span(start, end)


def end_of_line(text: str, at: int, limit: int | None = None) -> int:
    """Return where the line at this position ends, before its line break; `limit`: where the text is taken to end."""
    end = text.find("\n", at, limit)
    return end if end >= 0 else len(text) if limit is None else limit


def next_line(text: str, at: int) -> int:
    """Return where the line after this position begins; the end of the text if there is none."""
    return min(end_of_line(text, at) + 1, len(text))


def runs_of(line: re.Pattern[str], text: str, *, least: int = 1) -> list[Span]:
    """Runs of whole lines that match, one below the other; `least` of them make a run."""
    spans: list[Span] = []
    counts: list[int] = []
    for match in line.finditer(text):
        if spans and match.start() - spans[-1].end <= 1:
            spans[-1] = Span(spans[-1].start, match.end())
            counts[-1] += 1
        elif len(spans) < MOST_BLOCKS * 4:
            spans.append(Span(*match.span()))
            counts.append(1)
        else:
            break
    return [span for span, count in zip(spans, counts, strict=True) if count >= least][:MOST_BLOCKS]


def fields(text: str) -> dict[str, str]:
    """`label: value` and `label = value`, the first of each label, in lower case without marks."""
    values: dict[str, str] = {}
    for match in _lines(text):
        values.setdefault(" ".join(match[1].strip("* `_").lower().split()), match[2].strip().strip("*`").strip())
    return values


def _lines(text: str) -> Iterator[re.Match[str]]:
    for number, match in enumerate(_FIELD.finditer(text)):
        if number == _MOST_LINES:
            return
        yield match
