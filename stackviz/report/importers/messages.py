"""Error messages anywhere in a text -> what they prove. The table of messages is `report/messages`.

They stand above, inside and below dumps, in logs of any length: each different one is a dump of its own, also inside
another dump.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from stackviz.base.backports import POSSESSIVE
from stackviz.base.private import UUID, without_addresses, without_homes, without_secrets
from stackviz.report.format import FACTS
from stackviz.report.importers.env_report import add_listed_card, number_of_bytes
from stackviz.report.importers.importer import Importer, Span
from stackviz.report.importers.reading import Reading, clean, distinct_lines, without_digits
from stackviz.report.messages import BETWEEN_QUOTES, FAMILIES, SYMPTOMS, Family, Symptom
from stackviz.report.messages.around_torch import programs_around_torch
from stackviz.report.messages.hints import hints_in, python_in

__all__ = ["IMPORTER", "find_messages", "is_message", "message_bounds", "quote_line", "state_surroundings"]

KIND = "error-message"
MOST_HITS = 64  # of one anchor: a log repeats its error on every line
MOST_MESSAGES = 32
_BEFORE, _AFTER = 300, 1_200  # characters around an anchor in which its message stands
LONGEST_QUOTE = 160
_MOST_PROSE = 20_000  # characters in which a card is looked for: a longer text is a log, not a question


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """One message in a text: where it and its lines lie, its symptom, what its groups say, what it was found by."""

    start: int
    end: int
    span: Span
    symptom: Symptom
    groups: Mapping[str, str]
    wording: Symptom | Family


_WORDINGS: tuple[Symptom | Family, ...] = (*SYMPTOMS, *FAMILIES)
_ANCHORS = frozenset(anchor for wording in _WORDINGS for anchor in wording.anchors)
_SORTED_WORDS = {anchor: sorted(map(without_digits, anchor.split()), key=len, reverse=True) for anchor in _ANCHORS}
_WORDS = [(anchor, words[0], words[1:]) for anchor, words in _SORTED_WORDS.items()]
"""Each with its longest and therefore rarest word, and the others."""
_CLASS_OR_SPACE = re.compile(r"\[(?:\\.|[^\]\\])+\]| (\??)")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """With any white space where the pattern has a space, outside of classes of characters."""
    return re.compile(_CLASS_OR_SPACE.sub(_any_space, pattern), re.IGNORECASE)


def _any_space(part: re.Match[str]) -> str:
    """Possessive: white space that was passed is not tried again, however much of it a text has."""
    if part[0].startswith("["):
        return part[0]
    return (r"\s{0,80}" if part[1] else r"\s{1,80}") + POSSESSIVE


def find_messages(text: str) -> list[Span]:
    """Where the first message of each symptom lies, by its whole lines, none overlapping another."""
    spans: list[Span] = []
    for message in _messages(text):
        if spans and message.span.start <= spans[-1].end:
            spans[-1] = Span(spans[-1].start, max(spans[-1].end, message.span.end))
        else:
            spans.append(message.span)
    return spans


def message_bounds(text: str) -> list[tuple[int, int]]:
    """From where to where what is recognised of each message goes: words of its line stand before it and behind it."""
    return [(message.start, message.end) for message in _messages(text)]


def is_message(line: str) -> bool:
    """Whether a line is one of the messages: a log repeats them."""
    lowered = _lowered(line)
    near = {anchor for anchor in _likely_anchors(line) if anchor in lowered}  # most lines of a log have none
    return any(True for wording in _wordings_near(near) for _message in _of_wording(wording, line, lowered, near))


def _messages(text: str) -> list[FoundMessage]:
    """The different messages of a text in its order: of one that is repeated with the same values the first.

    A message within another is a part of it: `invalid device ordinal` of `HIP error: invalid device ordinal`. A general
    one gives way to another in its lines.
    """
    lowered = _lowered(text)
    near = _likely_anchors(text)
    different: dict[tuple[object, ...], FoundMessage] = {}
    for wording in _wordings_near(near):
        for message in sorted(_of_wording(wording, text, lowered, near), key=lambda message: message.span.start):
            different.setdefault((message.symptom.key, *message.groups.items()), message)
    ordered = sorted(different.values(), key=lambda message: message.span.start)[:MOST_MESSAGES]
    return [message for message in ordered if not any(_gives_way(message, other) for other in ordered)]


def _gives_way(message: FoundMessage, other: FoundMessage) -> bool:
    if message.wording.is_general or other.wording.is_general:
        shares_lines = message.span.start <= other.span.end and other.span.start <= message.span.end
        return message.wording.is_general and not other.wording.is_general and shares_lines
    return (
        other.start <= message.start
        and message.end <= other.end
        and message.end - message.start < other.end - other.start
        and message.wording is not other.wording
    )


def _likely_anchors(text: str) -> set[str]:
    """Those whose words are all in the text. A message may be wrapped, so that each word is looked for by itself."""
    different_words = " ".join(set(_lowered(distinct_lines(text)).split()))
    return {
        anchor
        for anchor, rarest, others in _WORDS
        if rarest in different_words and all(map(different_words.__contains__, others))
    }


def _wordings_near(anchors: set[str]) -> Iterator[Symptom | Family]:
    return (wording for wording in _WORDINGS if anchors and not anchors.isdisjoint(wording.anchors))


def _lowered(text: str) -> str:
    # "İ" is the one letter that is longer in lower case: without it the places in both texts are the same.
    return text.replace("İ", "I").lower().replace("\n", " ")


def _of_wording(wording: Symptom | Family, text: str, lowered: str, near: set[str]) -> Iterator[FoundMessage]:
    for start, end in _windows(near.intersection(wording.anchors), lowered):
        for pattern in wording.patterns:
            for match in _compiled(pattern).finditer(text, start, end):
                groups = {name: value for name, value in match.groupdict().items() if value}
                for symptom in _meant(wording, groups):
                    yield FoundMessage(match.start(), match.end(), _whole_lines(text, match), symptom, groups, wording)


def _meant(wording: Symptom | Family, groups: dict[str, str]) -> list[Symptom]:
    """The message that is meant, of a family one for each code of the match, which is taken out of its groups."""
    if isinstance(wording, Symptom):
        return [wording]
    codes = re.findall(wording.each_code, " ".join(groups.pop("code", "").lower().split()))
    meant = (wording.members.get(code, wording.unlisted) for code in codes)
    return [symptom for symptom in meant if symptom is not None]


def _windows(anchors: Iterable[str], lowered: str) -> Iterator[tuple[int, int]]:
    """Yield where a message of these anchors can be: no character twice, however close they are together."""
    start = end = 0
    for hit in sorted(_hits(anchors, lowered)):
        if hit - _BEFORE > end:
            if end:
                yield start, end
            start = max(0, hit - _BEFORE)
        end = hit + _AFTER
    if end:
        yield start, end


def _hits(anchors: Iterable[str], lowered: str) -> Iterator[int]:
    for anchor in anchors:
        at, left = lowered.find(anchor), MOST_HITS
        while at >= 0 and left:
            yield at
            left -= 1
            at = lowered.find(anchor, at + len(anchor))


def _whole_lines(text: str, match: re.Match[str]) -> Span:
    end = text.find("\n", match.end())
    return Span(text.rfind("\n", 0, match.start()) + 1, len(text) if end < 0 else end)


# ---- what they prove ------------------------------------------------------------------------------------------------


def read_messages(text: str) -> Reading:
    """Never raises. What its messages prove; of two that say the same thing, the first."""
    reading = Reading(kind=KIND)
    messages = _messages(text)
    quotes: dict[str, str] = {}
    for message in messages:
        quotes.setdefault(message.symptom.key, _quote(text, message))
    reading.sheet.state("message.symptoms", " ".join(quotes) or None)
    reading.sheet.state("message.quotes", BETWEEN_QUOTES.join(quotes.values()) or None)
    for message in messages:
        reading.sheet.state("message.detail", message.groups.get("detail"))
        for group, written in message.groups.items():
            _state_group(reading, group, written)
        _add_card(reading, message.groups)
    for message in messages:
        for fact, value in message.symptom.states.items():
            reading.sheet.state(fact, value)
        for fact, reason in message.symptom.lacks.items():
            reading.sheet.mark_missing(fact, reason, f"the message says so: {message.symptom.message}")
    return reading


_NAMES_AN_ERROR = (
    r"(?:[A-Za-z][\w.]{0,60}(?:Error|Exception)|(?:CUDA|HIP|MPS|cuDNN|NCCL|docker)(?: runtime)?(?: error)?|[Ee]rror"
    r"|ERROR|[\w./+-]{1,80}\.so)(?:\.\d{1,3}){0,3}(?:[ =]?\(?\d{1,4}\)?)? ?: "
)
_LEAD = re.compile(rf"(?:{_NAMES_AN_ERROR}){{0,3}}[^.:;?!]{{0,80}}$|\b(?:pip3?|uv|conda) [^\n]{{0,140}}$")
"""What stands before a match and belongs to it: the name of the error, the beginning of its sentence."""
_BREAK = re.compile(r"\n|\] |\W[>|] |[\"`]|Warning: (?:CUDA initialization: )?")
_SHORT_LEAD = 40
_REST = re.compile(r"(?:[^.\n`\"(]|\.(?=\w)){0,120}")


def _quote(text: str, message: FoundMessage) -> str:
    """The message as it is written, in one line, shortened; without names, addresses and secrets."""
    before = text[max(0, message.start - LONGEST_QUOTE) : message.start]
    before = _BREAK.split(before)[-1]
    lead = before if len(before) <= _SHORT_LEAD else _LEAD.search(before)[0]  # type: ignore[index]  # matches "" too
    return quote_line(f"{lead}{text[message.start : message.end]}{_REST.match(text, message.end)[0]}")  # type: ignore[index]


def quote_line(written: str) -> str:
    """The text in one line, shortened; without names, addresses and secrets."""
    written = without_homes(UUID.sub("[redacted]", without_secrets(written, "[redacted]")))
    written = without_addresses(written, "[redacted]").replace(BETWEEN_QUOTES.strip(), " ")
    return clean(written, LONGEST_QUOTE).lstrip("#>*- ")


def _state_group(reading: Reading, group: str, written: str) -> None:
    fact = FACTS.get(group.replace("__", "."))
    if fact is None:
        return  # of a card, or the detail
    convert = _CONVERTERS.get(fact.name) or (_size_in_bytes if fact.unit == "B" else None)
    reading.sheet.state(fact.name, convert(written) if convert else written)


def _api_version(written: str) -> str:
    """11040 is CUDA 11.4, as cudaDriverGetVersion counts."""
    return f"{int(written) // 1000}.{int(written) % 1000 // 10}"


def _architectures(written: str) -> str:
    return " ".join(re.findall(r"(?:sm|compute|gfx)_?[0-9a-f]{2,4}[a-z]?", written))


_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)(?:/[\d.]{1,12})? ?([KMGT]?)", re.IGNORECASE)


def _size_in_bytes(written: str) -> int | None:
    """Of `512 MiB`, `18.2G`, `20401094656` and `4.91/6.0 GiB`, where the first number has the unit of the second."""
    match = _SIZE.match(written)
    return match and number_of_bytes(f"{match[1]} {match[2].upper()}B")


_CONVERTERS: Mapping[str, Callable[[str], str | int | None]] = {
    "cuda.driver_api_version": _api_version,
    "torch.arch_list": _architectures,
}


def _add_card(reading: Reading, groups: Mapping[str, str]) -> None:
    """The card that a message names, once."""
    name = groups.get("card", "").strip()
    if not name or any(card.reported_name == name for card in reading.cards):
        return
    digits = re.sub(r"\D", "", groups.get("capability", ""))
    capability = f"{digits[:-1]}.{digits[-1]}" if len(digits) > 1 else None
    add_listed_card(reading, len(reading.cards), name, "the message", compute_capability=capability)


_PROSE_CARD = re.compile(
    r"(?<![\w-])(?:(?:NVIDIA|GeForce|Tesla|Quadro)[ -]){0,2}"
    r"(?:(?:RTX|GTX|GT)[ -]?(?:A|PRO )?\d{3,4}(?:[ -]?(?:Ti|SUPER|Ada))?|TITAN (?:RTX|Xp|X|V)"
    r"|GB[23]00|[BH]\d00|A(?:10|16|30|40|100)|L4|L40S?|V100|P(?:4|40|100)|T4|[KM](?:4|40|60|80)"
    r"|(?:Radeon )?(?:RX|Pro W) ?\d{4}(?: XTX?| GRE)?|(?:Instinct )?MI[1-3]\d{1,2}[AX]?|Arc (?:Pro )?[AB]\d{2,3})"
    r"(?!\w|\.\d)",
    re.IGNORECASE,
)
_MOST_CARDS = 8


def _cards_in_prose(text: str) -> str:
    """The names of cards that sentences mention, each once, between semicolons; "" for none."""
    written = (clean(match[0]) for match in _PROSE_CARD.finditer(text[:_MOST_PROSE]))
    names = dict.fromkeys(re.sub(r"(?i)\b([RG]TX?)(?=\d)", r"\1 ", name) for name in written)
    return "; ".join(list(names)[:_MOST_CARDS])


_WITHOUT_MACHINE = frozenset({"torch-facts"})
"""Kinds whose few lines say nothing of the machine: the words around them do."""


def state_surroundings(text: str, readings: Sequence[Reading]) -> None:
    """Add to the messages of a text what the words around them hint at: cards, a system, a program, its Python.

    Cards only where no dump lists any.
    """
    messages = [reading for reading in readings if reading.kind == KIND or reading.kind in _WITHOUT_MACHINE]
    if not messages:
        return
    cards = "" if any(reading.cards for reading in readings) else _cards_in_prose(text)
    stated = {
        "message.cards": cards,
        "message.hints": " ".join(hints_in(text)),
        "message.programs": " ".join(program.key for program in programs_around_torch(text)),
        "message.python": python_in(text),
    }
    for reading in messages:
        for fact, value in stated.items():
            reading.sheet.state(fact, value or None)


IMPORTER = Importer(
    kind=KIND,
    tool="an error message",
    tells="which of the known messages it is, and what that proves",
    trust=20,
    find=find_messages,
    read=read_messages,
    is_typed=True,
)
