"""What dumps come to: findings, the stacks drawn side by side, cards with their sheets, facts. Reads, never writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from stackviz.base.advice import parts_of
from stackviz.draw.diagrams.boxes import StackColumn
from stackviz.draw.diagrams.columns import drop_unreported_rows, is_stack
from stackviz.draw.diagrams.stack import StackDrawing, draw_columns
from stackviz.intake.report_parts.cards import CardRow, MatchedCard, by_name, card_facts
from stackviz.intake.report_parts.facts import ShownFact
from stackviz.intake.report_parts.pasted import MOST_MACHINES, Pasted, ToolName, tools_of
from stackviz.intake.report_parts.present import (
    JudgedReport,
    PresentedReport,
    SoftwareRow,
    component_names,
    described_stacks,
    present,
    stack_column,
)
from stackviz.pages.diagnose.readings import CardReadings, card_readings
from stackviz.records.catalog.match import Match, card_name, match_cards
from stackviz.records.catalog.models import Accelerator
from stackviz.records.stacks.reported import stack_slug
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report import format as wire
from stackviz.report.dumps import DumpedMachine
from stackviz.report.dumps.answer import unexplained
from stackviz.report.dumps.machines import title_of, vendors_of
from stackviz.report.dumps.verdict import has_error, judge_dump, proven_use, verdict
from stackviz.report.format.systems import wheel_platform
from stackviz.report.rules import Finding, Severity
from stackviz.web.i18n.finding_text import finding_words
from stackviz.web.preview import Introduction


def typed_first(advice: str) -> str:
    """The first command of an advice; the advice of a check that lacks a fact is a command and nothing else."""
    typed = next((part.text for part in parts_of(advice) if part.is_typed), "")
    is_command = advice[:1].islower() and ". " not in advice
    return typed or (advice if is_command else "")


MOST_CARD_ROWS = 16  # that differ in name or size; others are one row
MOST_DETAILS = 6  # kinds of cards of which every fact is listed
MOST_SOFTWARE = 80
MOST_PLANS = 3  # cards of one machine that differ, each with a link to its plan
_PLANNED = frozenset({"nvidia", "apple", "amd", "intel"})  # vendors whose stack `/plan/` knows
HEADLINE = (
    "torch.version",
    "torch.cuda_version",
    "nvidia.driver_version",
    "apple.chip",
    "os.name",
    "python.version",
)


@dataclass(frozen=True, slots=True)
class CardDetails:
    """All facts of equal cards, and the reasons for missing ones."""

    label: str
    facts: tuple[ShownFact, ...]
    missing: tuple[ShownFact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineDiagnosis:
    """One machine of the text. `findings`: worst first; what is open and what fits are apart, in `report.findings`.

    `verdict`: how many faults, or that none was found, as far as anything was looked at. `number`: its colour and its
    position in the text, from 1. `differs`: why it is not the one before. `plan_system`: as plans call its system.
    `stack`: "" for the error of a machine of which nothing but a processor is known.
    """

    number: int
    title: str
    tools: tuple[ToolName, ...]
    stack: str
    differs: str
    verdict: str
    report: PresentedReport
    findings: tuple[Finding, ...]
    cards: tuple[CardRow, ...]
    more_cards: int
    details: tuple[CardDetails, ...]
    software: tuple[SoftwareRow, ...]
    readings: tuple[CardReadings, ...]
    more_readings: int
    problems: tuple[str, ...]
    ignored: tuple[str, ...]
    plan_system: str

    @property
    def plannable(self) -> tuple[Accelerator, ...]:
        """The sheets of its cards that a stack can be planned for, each once; none where nothing is wrong."""
        rows = self.cards if self.report.findings.faults else ()
        sheets = [row.sheet for row in rows if row.sheet and row.cards[0].reported.vendor in _PLANNED]
        return tuple({sheet.slug: sheet for sheet in sheets}.values())[:MOST_PLANS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The page below its form. `more`: machines of the text beyond MOST_MACHINES, which are not shown.

    `stopped`: that the text took too much work, what was left out and what to do; "" if all of it was read.
    `is_drawn` False: the text mentions no component. `not_drawn`: names of what the stacks may hold and no dump speaks
    of.
    """

    machines: tuple[MachineDiagnosis, ...]
    drawing: StackDrawing
    is_drawn: bool
    not_drawn: tuple[str, ...]
    not_understood: tuple[str, ...]
    more: int
    stopped: str

    @property
    def is_brief(self) -> bool:
        """Of several machines boxes lead to the page that explains them: said once for each it would be a long page."""
        return len(self.machines) > 1

    @property
    def first(self) -> MachineDiagnosis:
        return self.machines[0]

    @property
    def is_all_understood(self) -> bool:
        return (
            not self.not_understood
            and not self.stopped
            and not any(machine.problems or machine.ignored for machine in self.machines)
        )


def diagnose(pasted: Pasted) -> Diagnosis:
    """Five queries however many machines and cards, fewer where a kind of row is not asked for."""
    shown = pasted.machines[:MOST_MACHINES]
    tables = rule_tables()
    cards = matched_cards(shown)
    reports = [machine.report() for machine in shown]
    judged = [
        JudgedReport(report, judge_dump(report, machine.kinds, tables), tuple(matched))
        for machine, report, matched in zip(shown, reports, cards, strict=True)
    ]
    described = described_stacks([stack_slug(machine.reading.facts, vendors_of(machine.reading)) for machine in shown])
    names = component_names(reports)
    machines = [
        _diagnosed(number, *machine, names)
        for number, machine in enumerate(zip(_titles(shown), shown, judged, described, strict=True), 1)
    ]
    reported_columns = [machine.report.column for machine in machines]
    columns, not_drawn = drop_unreported_rows(reported_columns)
    return Diagnosis(
        machines=tuple(machines),
        drawing=draw_columns(columns),
        is_drawn=is_stack(reported_columns),
        not_drawn=not_drawn,
        not_understood=pasted.not_understood,
        more=len(pasted.machines) - len(shown),
        stopped=pasted.stopped,
    )


def matched_cards(machines: Sequence[DumpedMachine]) -> list[list[MatchedCard]]:
    """The cards of each machine with their sheets. One query, none where there is no card."""
    matches = iter(
        match_cards(
            [
                card_name(card.reported_name, card.vendor, card.memory_bytes, card.facts, machine.reading.facts)
                for machine in machines
                for card in machine.reading.cards
            ],
            among_public=True,
        )
    )
    return [[_matched(card, next(matches)) for card in machine.reading.cards] for machine in machines]


def _matched(card: wire.Card, match: Match) -> MatchedCard:
    sheet = match.accelerator
    return MatchedCard(card, sheet if sheet is not None and sheet.is_public else None, match.needs)


def _diagnosed(
    number: int,
    title: str,
    machine: DumpedMachine,
    judged: JudgedReport,
    described: StackColumn,
    names: Mapping[str, str],
) -> MachineDiagnosis:
    column = stack_column(judged, described, key=f"pasted-{number}", title=title)
    first = [name for name in HEADLINE if name in judged.report.facts]
    report = present(judged, column, names=names, first=first, alike=by_name)
    readings, more_readings = card_readings(machine.reading)
    return MachineDiagnosis(
        number=number,
        title=title,
        tools=tools_of(machine.kinds),
        stack="" if described.key == "stack:cpu" and has_error(judged.report) else described.title,
        differs=machine.differs,
        verdict=verdict(judged.findings, judged.report),
        report=report,
        findings=(*(report.findings.faults or proven_use(report.findings.fits)), *report.findings.notes),
        cards=report.cards[:MOST_CARD_ROWS],
        more_cards=len(report.cards[MOST_CARD_ROWS:]),
        details=tuple(_details(row) for row in report.cards[:MOST_DETAILS]),
        software=report.software[:MOST_SOFTWARE],
        readings=readings,
        more_readings=more_readings,
        problems=tuple(unexplained(machine.reading.problems, judged.findings)),
        ignored=tuple(machine.reading.ignored),
        plan_system="wsl2" if machine.reading.facts.get("os.wsl") else wheel_platform(machine.reading.facts),
    )


def _titles(machines: Sequence[DumpedMachine]) -> list[str]:
    """A title for each: by its cards, and by its position in the text if that is ambiguous."""
    if len(machines) == 1:
        return [_("What was pasted")]
    names = [title_of(machine.reading) for machine in machines]
    return [
        name if name and names.count(name) == 1 else " · ".join(filter(None, (_("Machine %(n)d") % {"n": n}, name)))
        for n, name in enumerate(names, 1)
    ]


def _details(row: CardRow) -> CardDetails:
    """Each fact once where the cards agree, else card by card: `0: 41 °C · 1: 43 °C`."""
    facts, missing = [], []
    for name, meaning, values in card_facts(row.cards):
        texts = sorted((index, fact.text) for _places, indexes, fact in values for index in indexes if fact.text)
        if texts:
            text = texts[0][1] if len(values) == 1 else " · ".join(f"{index}: {text}" for index, text in texts)
            facts.append(ShownFact(name, text, meaning))
        else:
            missing.append(replace(values[-1][2], meaning=meaning))
    return CardDetails(row.label, tuple(facts), tuple(missing))


def introduce_diagnosis(diagnosis: Diagnosis) -> Introduction:
    """Return the title of a diagnosis, `NVIDIA CUDA on Linux: 1 broken, 2 warnings`, and its worst finding.

    Where no stack is known that could be named, the worst finding is the title.
    """
    findings = [finding for machine in diagnosis.machines for finding in machine.report.findings.faults]
    worst = next((finding for finding in findings if finding.severity == Severity.BROKEN), next(iter(findings), None))
    is_named = diagnosis.is_drawn and all(machine.stack for machine in diagnosis.machines)
    if worst is not None and not is_named:
        return Introduction(finding_words(worst.title), finding_words(worst.explanation))
    titles = [
        _("%(stack)s: %(faults)s")
        % {
            "stack": machine.stack if is_named else machine.title,
            "faults": finding_words(machine.verdict),
        }
        for machine in diagnosis.machines
    ]
    if worst is None:
        return Introduction(
            " / ".join(titles), _("What tools printed about a machine: its stack drawn layer by layer.")
        )
    return Introduction(" / ".join(titles), finding_words(worst.title))
