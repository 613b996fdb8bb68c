"""What a dump comes to: findings, the stack drawn, cards with their sheets, facts. Reads, never writes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from stackviz import wire
from stackviz.catalog.match import Match, match_cards
from stackviz.catalog.models import Accelerator
from stackviz.diagnose.facts import FactRow, fact_text, not_told, told
from stackviz.diagrams.boxes import Column
from stackviz.diagrams.stack import Drawing, draw_columns
from stackviz.importers import Reading
from stackviz.labs.rematch import card_name
from stackviz.rules import Finding, Severity, judge
from stackviz.stacks.queries import described_columns
from stackviz.stacks.reported import reported_column, stack_slug
from stackviz.stacks.tables import rule_tables
from stackviz.units import format_quantity
from stackviz.wire import CARD_FACTS, FACTS
from stackviz.wire.facts import CARD_ABSENT_NAMES

_TOOLS = {
    "collect-env": "torch.utils.collect_env",
    "nvidia-smi-xml": "nvidia-smi -q -x",
    "system-profiler-json": "system_profiler -json",
}
_FAULTS = (Severity.BROKEN, Severity.WARNING)
_HEADLINE: Mapping[str, str | Promise] = {
    "torch.version": gettext_lazy("PyTorch"),
    "torch.cuda_version": gettext_lazy("built with CUDA"),
    "nvidia.driver_version": gettext_lazy("NVIDIA driver"),
    "apple.chip": gettext_lazy("Chip"),
    "os.name": gettext_lazy("System"),
    "python.version": gettext_lazy("Python"),
}
_NOBODY = "0" * 64  # the identity of no machine: nothing is stored under it


@dataclass(frozen=True, slots=True)
class PastedCard:
    """A card of the dump with the sheet its name is in."""

    reported: wire.Card
    match: Match

    @property
    def vendor(self) -> str:
        return self.reported.vendor

    @property
    def reported_name(self) -> str:
        return self.reported.reported_name

    @property
    def memory_bytes(self) -> int | None:
        return self.reported.memory_bytes

    @property
    def facts(self) -> Mapping[str, Any]:
        return self.reported.facts

    @property
    def public_sheet(self) -> Accelerator | None:
        """The sheet anybody may see; None where the name is in none, or in one that is not public."""
        sheet = self.match.accelerator
        return sheet if sheet is not None and sheet.is_public else None


@dataclass(frozen=True, slots=True)
class PastedSnapshot:
    """What `reported_column` asks for."""

    facts: Mapping[str, Any]
    software: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class CardRow:
    """Cards that read alike. `sheet_url` empty: in no public sheet; then `needs` says what would decide, if known."""

    label: str
    memory: str
    sheet_name: str
    sheet_url: str
    needs: str
    facts: tuple[FactRow, ...]
    missing: tuple[FactRow, ...]


@dataclass(frozen=True, slots=True)
class SoftwareRow:
    """A component that was found; `url` empty where it is not described, `version` where it was not told."""

    name: str
    version: str
    url: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The page below its form. `findings`: worst first; `open_questions` and `fits` are answers too, and come apart."""

    tool: str
    stack: str
    faults: int
    headline: tuple[tuple[str, str], ...]  # title, text
    findings: tuple[Finding, ...]
    open_questions: tuple[Finding, ...]
    fits: tuple[Finding, ...]
    drawing: Drawing
    cards: tuple[CardRow, ...]
    software: tuple[SoftwareRow, ...]
    facts: tuple[FactRow, ...]
    missing: tuple[FactRow, ...]
    problems: tuple[str, ...]


def diagnose(reading: Reading) -> Diagnosis:
    """Three queries, two where there is no card; more after a change of the data. Nothing is written."""
    answers = judge(_report(reading), rule_tables())
    cards = [PastedCard(card, match) for card, match in zip(reading.cards, _matches(reading), strict=True)]
    slug = stack_slug(reading.facts, (card.vendor for card in cards))
    described = described_columns([slug]).get(slug) or Column(slug, "", "", "", ())
    return Diagnosis(
        tool=_TOOLS.get(reading.kind, reading.kind),
        stack=described.title,
        faults=sum(one.severity in _FAULTS for one in answers),
        headline=tuple(_headline(reading.facts)),
        findings=_of(answers, *_FAULTS, Severity.NOTE),
        open_questions=_of(answers, Severity.CANNOT_TELL),
        fits=_of(answers, Severity.FITS),
        drawing=draw_columns([_column(reading, cards, described, answers)]),
        cards=tuple(_card_rows(cards)),
        software=tuple(_software(reading, described)),
        facts=told(FACTS, reading.facts),
        missing=not_told(FACTS, reading.absent),
        problems=tuple(reading.problems),
    )


def _headline(facts: Mapping[str, wire.Scalar]) -> Iterator[tuple[str, str]]:
    for name, title in _HEADLINE.items():
        if name in facts:
            text = fact_text(FACTS[name], facts[name])
            yield str(title), f"{text} {facts.get('os.version', '')}".rstrip() if name == "os.name" else text


def _report(reading: Reading) -> wire.Report:
    """The report a machine would have sent; made for the rules and dropped again."""
    return wire.Report(
        id=uuid4(),
        created_at=datetime.now(UTC),
        agent=wire.Agent("pasted", "0"),
        machine=wire.Machine(_NOBODY),
        facts=reading.facts,
        absent=reading.absent,
        cards=tuple(reading.cards),
        software=tuple(reading.software),
    )


def _matches(reading: Reading) -> list[Match]:
    return match_cards(
        [
            card_name(card.reported_name, card.vendor, card.memory_bytes, card.facts, reading.facts)
            for card in reading.cards
        ]
    )


def _of(answers: Sequence[Finding], *severities: Severity) -> tuple[Finding, ...]:
    return tuple(answer for answer in answers if answer.severity in severities)


def _column(reading: Reading, cards: Sequence[PastedCard], described: Column, answers: Sequence[Finding]) -> Column:
    software = [{"component": s.component, "version": s.version, "found_by": s.found_by} for s in reading.software]
    snapshot = PastedSnapshot(reading.facts, software)
    return reported_column("pasted", _("What was pasted"), described.title, "", described, snapshot, cards, answers)


def _card_rows(cards: Sequence[PastedCard]) -> list[CardRow]:
    alike: dict[tuple[object, ...], list[PastedCard]] = {}
    for card in cards:
        facts = (told(CARD_FACTS, card.reported.facts), not_told(CARD_ABSENT_NAMES, card.reported.absent))
        alike.setdefault((card.reported_name, card.memory_bytes, *facts), []).append(card)
    return [_card_row(group) for group in alike.values()]


def _card_row(group: Sequence[PastedCard]) -> CardRow:
    card, sheet = group[0], group[0].public_sheet
    memory = card.memory_bytes
    return CardRow(
        label=f"{len(group)} × {card.reported_name}" if len(group) > 1 else card.reported_name,
        memory=format_quantity(memory, "B", binary=True, digits=4).label if memory else "",
        sheet_name=sheet.name if sheet else "",
        sheet_url=sheet.get_absolute_url() if sheet else "",
        needs=card.match.needs,
        facts=told(CARD_FACTS, card.reported.facts),
        missing=not_told(CARD_ABSENT_NAMES, card.reported.absent),
    )


def _software(reading: Reading, described: Column) -> list[SoftwareRow]:
    known = {box.component: box for box in described.boxes}
    return [
        SoftwareRow(
            name=known[found.component].name if found.component in known else found.component,
            version=found.version or "",
            url=known[found.component].url if found.component in known else "",
        )
        for found in reading.software
    ]
