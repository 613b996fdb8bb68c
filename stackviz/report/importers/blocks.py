"""Where a tool's lines stand together: a head and what follows it, or lines that are all alike."""

import re
from collections.abc import Iterator

from stackviz.report.importers.importer import Span

__all__ = ["block_after", "blocks_after", "fields", "runs_of"]

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
    end = at = _line_end(text, start)
    for _ in range(_MOST_LINES):
        if at >= len(text):
            break
        line_end = _line_end(text, at + 1)
        line = text[at + 1 : min(line_end, at + _LONGEST_LINE)]
        if line.strip():
            if not inside.match(line):
                break
            end = line_end
        at = line_end
    return Span(start, end)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


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
