"""Error messages anywhere in a text -> what they prove. The table of messages is the room `symptoms`.

They stand above, inside and below dumps, in logs of any length: each different one is a dump of its own, also inside
another dump.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from stackviz.importers.env_report import add_listed_card, number_of_bytes
from stackviz.importers.importer import Importer, Span
from stackviz.importers.reading import Reading
from stackviz.symptoms import SYMPTOMS, Symptom
from stackviz.wire import FACTS

__all__ = ["IMPORTER", "is_message"]

KIND = "error-message"
MOST_HITS = 64  # of one anchor: a log repeats its error on every line
MOST_MESSAGES = 32
_BEFORE, _AFTER = 300, 1_200  # characters around an anchor in which its message stands


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """One message in a text: where its lines lie, which symptom it is of, what its groups say."""

    span: Span
    symptom: Symptom
    groups: Mapping[str, str]


_CLASS_OR_SPACE = re.compile(r"\[(?:\\.|[^\]\\])+\]| (\??)")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """With any white space where the pattern has a space, outside of classes of characters."""
    return re.compile(_CLASS_OR_SPACE.sub(_any_space, pattern), re.IGNORECASE)


def _any_space(part: re.Match[str]) -> str:
    """Possessive: white space that was passed is not tried again, however much of it a text has."""
    if part[0].startswith("["):
        return part[0]
    return r"\s{0,80}+" if part[1] else r"\s{1,80}+"


def find_messages(text: str) -> list[Span]:
    """Where the first message of each symptom lies, by its whole lines, none overlapping another."""
    spans: list[Span] = []
    for message in _messages(text):
        if spans and message.span.start <= spans[-1].end:
            spans[-1] = Span(spans[-1].start, max(spans[-1].end, message.span.end))
        else:
            spans.append(message.span)
    return spans


def is_message(line: str) -> bool:
    """Whether a line is one of the messages: a log repeats them."""
    lowered = _lowered(line)
    return any(True for symptom in SYMPTOMS for _message in _of_symptom(symptom, line, lowered))


def _messages(text: str) -> list[FoundMessage]:
    """The different messages of a text in its order: of one that is repeated with the same values the first."""
    lowered = _lowered(text)
    different: dict[tuple[object, ...], FoundMessage] = {}
    for symptom in SYMPTOMS:
        for message in sorted(_of_symptom(symptom, text, lowered), key=lambda message: message.span.start):
            different.setdefault((symptom.key, *message.groups.items()), message)
    return sorted(different.values(), key=lambda message: message.span.start)[:MOST_MESSAGES]


def _lowered(text: str) -> str:
    # "İ" is the one letter that is longer in lower case: without it the places in both texts are the same.
    return text.replace("İ", "I").lower().replace("\n", " ")


def _of_symptom(symptom: Symptom, text: str, lowered: str) -> Iterator[FoundMessage]:
    for start, end in _windows(symptom.anchors, lowered):
        for pattern in symptom.patterns:
            for match in _compiled(pattern).finditer(text, start, end):
                groups = {name: value for name, value in match.groupdict().items() if value}
                yield FoundMessage(_whole_lines(text, match), symptom, groups)


def _windows(anchors: Sequence[str], lowered: str) -> Iterator[tuple[int, int]]:
    """Where a message of these anchors can stand: no character twice, however close they are together."""
    start = end = 0
    for hit in sorted(_hits(anchors, lowered)):
        if hit - _BEFORE > end:
            if end:
                yield start, end
            start = max(0, hit - _BEFORE)
        end = hit + _AFTER
    if end:
        yield start, end


def _hits(anchors: Sequence[str], lowered: str) -> Iterator[int]:
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
    keys = dict.fromkeys(message.symptom.key for message in messages)
    reading.sheet.state("message.symptoms", " ".join(keys) or None)
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


def _state_group(reading: Reading, group: str, written: str) -> None:
    fact = FACTS.get(group.replace("__", "."))
    if fact is None:
        return  # of a card, or the detail
    convert = _CONVERTERS.get(fact.name) or (number_of_bytes if fact.unit == "B" else None)
    reading.sheet.state(fact.name, convert(written) if convert else written)


def _api_version(written: str) -> str:
    """11040 is CUDA 11.4, as cudaDriverGetVersion counts."""
    return f"{int(written) // 1000}.{int(written) % 1000 // 10}"


def _architectures(written: str) -> str:
    return " ".join(re.findall(r"(?:sm|compute|gfx)_?[0-9a-f]{2,4}[a-z]?", written))


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


IMPORTER = Importer(
    kind=KIND,
    tool="an error message",
    tells="which of the known messages it is, and what that proves",
    trust=20,
    find=find_messages,
    read=read_messages,
    is_typed=True,
)
