"""What an error message is: how it reads, what it proves, what causes it. Standard library only."""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Literal

from stackviz.report.messages.hints import Hint

__all__ = [
    "BETWEEN_QUOTES",
    "FOLLOWS",
    "KERNEL_LOG",
    "Cause",
    "Family",
    "SeverityName",
    "Symptom",
    "coded",
    "table_rows",
    "text_family",
    "text_pattern",
]

SeverityName = Literal["broken", "warning", "note"]

KERNEL_LOG = "nvidia-kernel-log"
"""The series of what NVIDIA's kernel modules log: one fault makes several lines."""
FOLLOWS = 9
"""The rank in KERNEL_LOG of what only follows from another error."""
BETWEEN_QUOTES = " ¶ "
"""What stands between the messages in the fact `message.quotes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One cause of a message. `sign`: what tells it from the others; `remedy`: what to do then, with the command.

    `excluded_by`: rules that look for this cause; where one of them compared and holds, it is not the cause.
    `favoured_by`: what makes it likelier than those before it: rules that found a problem, and hints of the text.
    `only_on`: it is dropped where the machine or the text is known to be of another system, vendor or kind.
    `card_age`: of the only cards it is a cause for, those that older builds do not know yet or newer ones no longer.
    """

    text: str
    sign: str = ""
    remedy: str = ""
    excluded_by: tuple[str, ...] = ()
    favoured_by: tuple[str, ...] = ()
    only_on: tuple[Hint, ...] = ()
    card_age: Literal["", "new", "old"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """One error message, in all its wordings.

    `message` is how it is printed most often: its title, and found by its own patterns. `patterns` are regular
    expressions without regard to case, in which a space stands for any white space, so that a wrapped line is found
    too; all repetitions in them are bounded. They are tried only near one of `anchors`: lower-case words that every
    wording has one of, rare enough in a log. Without patterns another importer reads the message, and `rules` explain
    it.

    A named group states a fact: `cuda__init_code` is `cuda.init_code`; sizes with a unit become bytes. `card` and
    `capability` name a card, `detail` is what the message is about: a library, a symbol, an operator. `states` are
    facts that the message proves whatever else it says, `lacks` facts that it proves to be absent, with the reason.

    `component`: the slug of the component that prints it or is at fault. `causes`: the likeliest first, one at least.
    `ask`: the one command whose output tells the causes apart. `rules`: the rules that find the cause where the facts
    are known; what one of them calls broken, or warns of, needs no second explanation. `is_general`: the wording fits
    many errors of a program, or only says that something failed: it gives way to any other message.

    `series`: the log in which one fault makes several messages, KERNEL_LOG or "". Of those in one text only the one
    with the lowest `rank` is explained; it lists the others by `short`, without those that have no short name.
    """

    key: str
    message: str
    patterns: tuple[str, ...]
    anchors: tuple[str, ...]
    component: str
    meaning: str
    causes: tuple[Cause, ...]
    ask: str
    source_title: str
    source_url: str
    severity: SeverityName = "broken"
    states: Mapping[str, str | int | bool] = field(default_factory=dict)
    lacks: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    is_general: bool = False
    series: str = ""
    rank: int = 0
    short: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Messages that differ by a code: the same patterns read them all, a table tells them apart.

    `patterns` and `anchors` are as those of a `Symptom`. The group `code` holds what is looked up: a number, a name or
    a text, or several of them, which `each_code` finds one by one. `members`: the code in lower case, with single
    spaces -> its message; one message may have several codes. `unlisted`: the message of a code that the table lacks;
    None where such a text is no message. `is_general` is as that of a `Symptom`.
    """

    patterns: tuple[str, ...]
    anchors: tuple[str, ...]
    members: Mapping[str, Symptom]
    each_code: str = r".{1,200}"
    unlisted: Symptom | None = None
    is_general: bool = False


def coded(
    key: str,
    message: str,
    meaning: str,
    causes: tuple[Cause, ...],
    ask: str,
    component: str,
    source: tuple[str, str],
    *,
    severity: SeverityName = "broken",
    rules: tuple[str, ...] = (),
) -> Symptom:
    """Return a message of a family, which is found by its code. `source`: title and address."""
    return Symptom(
        key=key,
        message=message,
        patterns=(),
        anchors=(),
        component=component,
        meaning=meaning,
        causes=causes,
        ask=ask,
        source_title=source[0],
        source_url=source[1],
        severity=severity,
        rules=rules,
    )


def text_pattern(texts: Iterable[str]) -> str:
    """Return a pattern for one of these texts, the longer of two that begin alike."""
    return "|".join(re.escape(text).replace("\\ ", " ") for text in sorted(filter(None, texts), key=len, reverse=True))


def text_family(table: str, symptoms: Iterable[Symptom], around: str = "TEXT") -> Family:
    """Return the family whose table has the columns text and key; `around`: a pattern with TEXT in it."""
    by_key = {symptom.key: symptom for symptom in symptoms}
    texts = {row["text"]: by_key[row["key"]] for row in table_rows(table)}
    return Family(
        patterns=(around.replace("TEXT", f"(?P<code>{text_pattern(texts)})"),),
        anchors=tuple(text.lower() for text in texts),
        members={text.lower(): symptom for text, symptom in texts.items()},
    )


def table_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of `messages/tables/<name>.csv`, as written."""
    text = (resources.files("stackviz.report.messages") / "tables" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))
