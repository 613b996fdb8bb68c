"""Lines that hold nothing but typed values: `RTX 5090, torch 2.4`, beside an error message or in the line of one.

Every word of them has to be a value, so that a sentence that names a card states nothing. One card alone counts beside
an error message only.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from stackviz.report.importers.importer import Span
from stackviz.report.importers.messages import find_messages, message_bounds

__all__ = ["TypedValue", "find_typed_lines", "values_of"]

_LONGEST_LINE = 240
_MOST_LINES = 20_000  # that begin with a value
_MOST_ALONE = 8  # lines of one card: more of them are a list of what exists, not of what a machine has
_STRONG = frozenset({"torch", "gpu", "driver", "rocm"})
_CARD = (
    r"(?:\d{1,2} ?[x×] ?)?(?:nvidia |amd |intel )?(?:"
    r"(?:geforce )?(?:rtx|gtx)[ -]?\d{3,4}(?: ?ti)?(?: ?super)?(?: ?d)?(?: (?:laptop|mobile)(?: gpu)?)?"
    r"|(?:quadro )?rtx[ -]?(?:pro )?a?\d{4}(?: (?:ada|blackwell)(?: generation)?)?"
    r"|(?:radeon )?rx[ -]?\d{4}(?: ?(?:xtx|xt|gre))?|(?:instinct )?mi\d{2,3}[ax]?|arc [ab]\d{3}m?"
    r"|(?:tesla )?(?:a100|a10|a30|a40|a16|h100|h200|b200|b300|l4|l40s?|v100|t4|p4|p40|p100|k80|gb10|gb200|gh200)"
    r"(?:[ -](?:sxm\d?|pcie|nvl))?)"
    r"(?:[ -]?\(?\d{1,3} ?gi?b(?: vram)?\)?)?|apple m\d(?: (?:pro|max|ultra))?"
)
_PATTERNS = {
    topic: re.compile(
        rf"(?:(?:{labels})\s{{0,3}}(?:[:=]\s{{0,3}}|==))?(?P<value>{value})(?![\w+]|\.\w)", re.IGNORECASE
    )
    for topic, labels, value in (
        ("gpu", "gpus?|gpu model|graphics card|video card|card", _CARD),
        ("os", "os|system|operating system", (
            r"win(?:dows)?[ -]?1[01](?: (?:pro|home))?|wsl ?[12]|(?:ubuntu|debian|fedora|macos|rocky|rhel)[ -]?"
            r"\d{1,2}(?:\.\d{1,2}){0,2}(?: lts)?"
        )),
    )
} | {
    topic: re.compile(
        rf"(?:{names})(?: version)?(?:\s{{0,3}}(?:[:=]\s{{0,3}}|==)|[ -]?v?)(?P<value>{value})(?![\w+]|\.\w)",
        re.IGNORECASE,
    )
    for topic, names, value in (
        ("torch", "(?:py)?torch", (
            r"\d\.\d{1,2}(?:\.\d{1,2})?(?:\+(?:cu\d{2,3}|cpu|rocm\d\.\d(?:\.\d)?)|[ ]?\(?cu\d{2,3}\)?)?"
        )),
        ("python", "python", r"3\.\d{1,2}(?:\.\d{1,2})?"),
        ("cuda", "cuda", r"\d{1,2}\.\d(?:\.\d{1,3})?"),
        ("cudnn", "cudnn", r"\d{1,2}(?:\.\d{1,2}){1,3}"),
        ("rocm", "rocm", r"\d\.\d(?:\.\d)?"),
        ("driver", "(?:nvidia |gpu )?driver", r"\d{3}\.\d{1,3}(?:\.\d{1,3})?"),
    )
}  # fmt: skip
_ANY_VALUE = "|".join(pattern.pattern.replace("?P<value>", "?:") for pattern in _PATTERNS.values())
_BEGINS_WITH_A_VALUE = re.compile(rf"\n(?=[^\S\n]{{0,{_LONGEST_LINE}}}(?=\S)(?:{_ANY_VALUE}))", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;/|+&·()–-]{1,8}(?:(?:with|and|on)\s{1,3})?")
_AROUND = re.compile(r"[\s.,;!()]{0,8}$")
_ABOVE = re.compile(r"(?P<line>[^\n]{0,200})\n[ \t]*$")
_SETUP = re.compile(r"\b(?:my|environment|env|setup|specs?|versions?|hardware|configuration|config)\b", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"\b(?:other|another|second|old|different|friend'?s|colleague'?s|unlike|fine|not|without|instead)\b"
    r"|\bwork(?:s|ed|ing)?\b",
    re.IGNORECASE,
)
_ENDS_MESSAGE = re.compile(
    r"(?:[\s,;:()–-]{1,4}(?:for|execution|on|the|device|my|an?|with|using|error|\d{1,4}|gpu|card)\b){0,12}[\s,;:()–-]{0,4}$",
    re.IGNORECASE,
)
"""What stands between a message and the values behind it where it is no sentence about another machine."""


class TypedValue(NamedTuple):
    """One value of a line: its topic as lists have it, and as it is written, without its label."""

    topic: str
    value: str


def values_of(line: str) -> list[TypedValue]:
    """The values of a line that holds nothing else; [] where a single word is none."""
    values, end = _values_from(line, len(line) - len(line.lstrip()))
    return values if _AROUND.match(line, end) else []


def _values_from(line: str, at: int) -> tuple[list[TypedValue], int]:
    """The values one after the other from here on, and where the last one ends."""
    values: list[TypedValue] = []
    end = at
    while at < len(line):
        matches = ((topic, pattern.match(line, at)) for topic, pattern in _PATTERNS.items())
        topic, match = next(((topic, match) for topic, match in matches if match), ("", None))
        if match is None:
            break
        values.append(TypedValue(topic, match["value"].strip()))
        end = match.end()
        between = _BETWEEN.match(line, end)
        if between is None:
            break
        at = between.end()
    return values, end


def find_typed_lines(text: str) -> list[Span]:
    """Those of one machine: where two lines state different cards or versions, neither is taken."""
    spans = sorted({*_lines(text), *_beside_messages(text)})
    return spans if _agree(text, spans) else []


def _agree(text: str, spans: list[Span]) -> bool:
    """Whether no two of these lines answer the same question differently."""
    answers: dict[str, list[str]] = {}
    for span in spans:
        of_line: dict[str, list[str]] = {}
        for topic, value in values_of(text[span.start : span.end]):
            of_line.setdefault(topic, []).append(value.casefold())
        if any(answers.setdefault(topic, values) != values for topic, values in of_line.items()):
            return False
    return True


def _lines(text: str) -> Iterator[Span]:
    """Whole lines: of two topics wherever they stand, of one card beside a message."""
    alone: list[Span] = []
    for match in islice(_BEGINS_WITH_A_VALUE.finditer(f"\n{text}"), _MOST_LINES):
        end = text.find("\n", match.start())
        span = Span(match.start(), len(text) if end < 0 else end)
        line = text[span.start : span.end]
        if len(line) <= _LONGEST_LINE and (values := values_of(line)):
            if _is_elsewhere(text, span.start):
                continue
            if _are_enough(values):
                yield span
            elif values[0].topic == "gpu" and " " in line.strip():
                alone.append(span)
    if 0 < len(alone) <= _MOST_ALONE:
        messages = find_messages(text)
        yield from (span for span in alone if any(_is_beside(text, span, message) for message in messages))


def _are_enough(values: list[TypedValue]) -> bool:
    topics = {value.topic for value in values}
    return len(topics) > 1 and not topics.isdisjoint(_STRONG)


def _is_beside(text: str, line: Span, message: Span) -> bool:
    """Whether only blanks lie between them, or a message stands in a text that the line begins or ends."""
    first, second = sorted((line, message))
    return not (text[first.end : second.start].strip() and text[: line.start].strip() and text[line.end :].strip())


def _is_elsewhere(text: str, start: int) -> bool:
    """Whether the line above introduces it as what works, or as another machine's."""
    above = _ABOVE.search(text, max(0, start - 240), start)
    line = above["line"].strip() if above else ""
    return line.endswith(":") and (bool(_ELSEWHERE.search(line)) or not _SETUP.search(line))


def _beside_messages(text: str) -> Iterator[Span]:
    """What stands in the line of a message, before it or behind it."""
    for start, end in message_bounds(text):
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        line_end = len(text) if last < 0 else last
        if head := _head(text, max(first, start - _LONGEST_LINE), start, is_whole=start - first <= _LONGEST_LINE):
            yield head
        if line_end - end <= _LONGEST_LINE and (tail := _tail(text, end, line_end)):
            yield tail


def _head(text: str, first: int, start: int, *, is_whole: bool) -> Span | None:
    values, end = _values_from(text[first:start], 0)
    closed = re.match(r"\s{0,3}[:;,–-]\s", text[first + end : start])
    return Span(first, first + end) if is_whole and closed and _are_enough(values) else None


def _tail(text: str, end: int, line_end: int) -> Span | None:
    """From the first word on from which all are values; a card alone behind a sign that ends the message."""
    line = text[end:line_end]
    for beginning in re.finditer(r"(?<![\w.+-])\w", line):
        if values := values_of(line[beginning.start() :]):
            between = line[: beginning.start()]
            is_apart = bool(re.search(r"[,;|/(–-]\s{0,3}$", between)) and not _ELSEWHERE.search(between)
            is_enough = _are_enough(values) and (is_apart or bool(_ENDS_MESSAGE.match(between)))
            is_card = is_apart and values[0].topic == "gpu"
            return Span(end + beginning.start(), line_end) if is_enough or is_card else None
    return None
