"""Readings of dumps -> machines and their titles: what several tools printed on one machine is put together.

Where two tools tell the same thing, the one that asked the system itself counts; where they cannot both be true of one
machine (other cards, another driver, another system), the later one begins a second machine.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import uuid4

from stackviz.base.backports import UTC
from stackviz.base.sentence import say
from stackviz.base.units import format_count
from stackviz.report.dumps.agreement import agreeing, contradiction, vendors_of
from stackviz.report.dumps.merge import merged
from stackviz.report.format import NOBODY, Agent, Machine, Report, Result
from stackviz.report.importers import BY_KIND, Paste, Reading
from stackviz.report.importers.error_lines import QUESTION

__all__ = ["DumpedMachine", "is_in_words", "machines", "telling", "title_of", "tool_name", "vendors_of"]

_IN_WORDS = re.compile(r"(?:^|, )(?:an?|the|its) |'s |, printed$")


@dataclass(frozen=True, slots=True)
class DumpedMachine:
    """One machine, as its dumps tell it. `differs`: why it is not the one before; "" for the first.

    `kinds`: the kinds of its dumps, each once, in the order of the text.
    """

    kinds: tuple[str, ...]
    reading: Reading
    differs: str = ""

    def report(self) -> Report:
        """The report it would have sent, made now: what depends on the day is judged by today.

        A result whose dump tells no time of it counts as of now: a report asks for one.
        """
        now = datetime.now(UTC)
        return Report(
            id=uuid4(),
            created_at=now,
            agent=Agent("pasted", "1"),
            machine=Machine(NOBODY),
            facts=self.reading.facts,
            absent=self.reading.absent,
            cards=tuple(self.reading.cards),
            software=tuple(self.reading.software),
            results=tuple(_dated(result, now) for result in self.reading.results),
        )


def _dated(result: Result, now: datetime) -> Result:
    return replace(result, started_at=now) if result.state == "ok" and result.started_at is None else result


def machines(paste: Paste) -> tuple[DumpedMachine, ...]:
    """The machines a paste tells of, in the order of the text; none where no dump was found. Never raises."""
    groups: list[list[Reading]] = []
    reasons: list[str] = []
    for reading in paste.readings:
        why_not = [_first(contradiction(reading, other) for other in group) for group in groups]
        fitting = [group for group, why in zip(groups, why_not, strict=True) if not why]
        if fitting:
            _closest(reading, fitting).append(reading)
        else:
            groups.append([reading])
            reasons.append(why_not[-1] if why_not else "")
    return tuple(_machine(group, why) for group, why in zip(groups, reasons, strict=True))


def _first(texts: Iterable[str]) -> str:
    return next((text for text in texts if text), "")


def _closest(reading: Reading, groups: Sequence[list[Reading]]) -> list[Reading]:
    """The group with most in common; the latest where several have as much."""
    return max(reversed(groups), key=lambda group: max(agreeing(reading, other) for other in group))


def _machine(readings: Sequence[Reading], why: str) -> DumpedMachine:
    return DumpedMachine(tuple(dict.fromkeys(reading.kind for reading in readings)), merged(readings), why)


def tool_name(kind: str) -> str:
    """The tool that writes dumps of this kind, in English."""
    if kind == QUESTION:
        return say("a question in words")
    return BY_KIND[kind].tool if kind in BY_KIND else kind


def is_in_words(tool: str) -> bool:
    """Whether the name of a tool is words, which can be translated, and no command: "ollama serve, its log"."""
    return bool(_IN_WORDS.search(tool))


def title_of(reading: Reading) -> str:
    """By what computes in it: `8 × NVIDIA H100 80GB HBM3`; "" where nothing tells."""
    names = list(dict.fromkeys(card.reported_name for card in reading.cards if "mig_parent_index" not in card.facts))
    if names:
        label = format_count(names[0], sum(card.reported_name == names[0] for card in reading.cards))
        return f"{label} + {len(names) - 1}" if len(names) > 1 else label
    system = f"{reading.facts.get('os.name', '')} {reading.facts.get('os.version', '')}".strip()
    return str(reading.facts.get("apple.chip") or reading.facts.get("cpu.model") or system)


def telling(machines: Iterable[DumpedMachine]) -> tuple[DumpedMachine, ...]:
    """Those of which something could be read: a torn dump may be known and tell nothing."""
    return tuple(machine for machine in machines if _tells(machine.reading))


def _tells(reading: Reading) -> bool:
    return bool(reading.facts or reading.cards or reading.software or reading.results)
