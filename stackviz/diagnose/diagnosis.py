"""What dumps come to: findings, the stacks drawn side by side, cards with their sheets, facts. Reads, never writes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from stackviz import wire
from stackviz.catalog.match import Match, match_cards
from stackviz.catalog.models import Accelerator
from stackviz.diagnose.pasted import Pasted
from stackviz.diagrams.boxes import Column
from stackviz.diagrams.reported_rows import drop_unreported_rows, is_stack
from stackviz.diagrams.stack import Drawing, draw_columns
from stackviz.dumps import DumpedMachine
from stackviz.dumps.backends import vendors_of
from stackviz.dumps.titles import title_of, tool_names
from stackviz.facts import CARD_ABSENT_NAMES, CARD_FACTS
from stackviz.importers import Reading
from stackviz.labs.rematch import card_name
from stackviz.reports.facts import ShownFact, fact_text, meaning_of, missing_facts, shown_facts
from stackviz.rules import Finding, Severity, Tables, judge
from stackviz.stacks.models import Component
from stackviz.stacks.queries import described_columns
from stackviz.stacks.reported import reported_column, stack_slug
from stackviz.stacks.rule_tables import rule_tables
from stackviz.units import format_count, format_number, format_quantity
from stackviz.web.pasted import MOST_MACHINES

MOST_RESULTS = 200  # of one machine; llama-bench prints a dozen
MOST_CARD_ROWS = 16  # that differ in name or size; others are one row
MOST_SOFTWARE = 80
_TO_MEND = (Severity.BROKEN, Severity.WARNING)
_HEADLINE: Mapping[str, str | Promise] = {
    "torch.version": gettext_lazy("PyTorch"),
    "torch.cuda_version": gettext_lazy("built with CUDA"),
    "nvidia.driver_version": gettext_lazy("NVIDIA driver"),
    "apple.chip": gettext_lazy("Chip"),
    "os.name": gettext_lazy("System"),
    "python.version": gettext_lazy("Python"),
}


@dataclass(frozen=True, slots=True)
class PastedCard:
    """A card of the dump with the sheet its name is in."""

    reported: wire.Card
    match: Match

    @property
    def public_sheet(self) -> Accelerator | None:
        """The sheet anybody may see; None where the name is in none, or in one that is not public."""
        sheet = self.match.accelerator
        return sheet if sheet is not None and sheet.is_public else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRow:
    """Cards of one name and size. `sheet_url` empty: in no public sheet; then `needs` says what would decide."""

    label: str
    memory: str
    sheet_name: str
    sheet_url: str
    needs: str
    facts: tuple[ShownFact, ...]
    missing: tuple[ShownFact, ...]


@dataclass(frozen=True, slots=True)
class SoftwareRow:
    """A component that was found; `url` empty where it is not described, `version` where it was not told."""

    name: str
    version: str
    url: str


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One run. `value` empty: it did not come to its end; then `why` says so. `spread`: its standard deviation."""

    settings: tuple[tuple[str, str], ...]  # title of the column, what it says
    value: str
    unit: str
    why: str
    spread: str = ""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """The runs of one benchmark that the dump states. `common`: settings that all of them share."""

    benchmark: str
    common: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    rows: tuple[ResultRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineDiagnosis:
    """One machine of the text. `findings`: worst first; `open_questions` and `fits` are answers too, and come apart.

    `verdict`: what there is to mend, counted; "" for nothing. `number`: its colour and its place in the text, from 1.
    `differs`: why it is not the one before.
    """

    number: int
    title: str
    tool: str
    stack: str
    differs: str
    verdict: str
    headline: tuple[tuple[str, str], ...]  # title, text
    findings: tuple[Finding, ...]
    open_questions: tuple[Finding, ...]
    fits: tuple[Finding, ...]
    cards: tuple[CardRow, ...]
    more_cards: int
    results: tuple[ResultTable, ...]
    software: tuple[SoftwareRow, ...]
    facts: tuple[ShownFact, ...]
    missing: tuple[ShownFact, ...]
    problems: tuple[str, ...]
    ignored: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The page below its form. `more`: machines of the text beyond MOST_MACHINES, which are not shown.

    `is_drawn` False: the text speaks of no part of a stack. `not_drawn`: names of what the stacks may hold and no dump
    speaks of.
    """

    machines: tuple[MachineDiagnosis, ...]
    drawing: Drawing
    is_drawn: bool
    not_drawn: tuple[str, ...]
    not_understood: tuple[str, ...]
    more: int

    @property
    def is_brief(self) -> bool:
        """Of several machines boxes lead to the page that explains them: said once for each it would be a long page."""
        return len(self.machines) > 1

    @property
    def first(self) -> MachineDiagnosis:
        return self.machines[0]

    @property
    def is_all_understood(self) -> bool:
        return not self.not_understood and not any(one.problems or one.ignored for one in self.machines)


def diagnose(pasted: Pasted) -> Diagnosis:
    """Five queries however many machines and cards, fewer where a kind of row is not asked for."""
    shown = pasted.machines[:MOST_MACHINES]
    tables = rule_tables()
    cards = matched_cards(shown)
    slugs = [stack_slug(one.reading.facts, vendors_of(one.reading)) for one in shown]
    stacks = described_columns(slugs)
    described = [stacks.get(slug) or Column(key=slug, title="", subtitle="", url="", boxes=()) for slug in slugs]
    names = _component_names(shown)
    looked_at = [
        _looked_at(number, title, *found, tables, names)
        for number, (title, found) in enumerate(
            zip(_titles(shown), zip(shown, cards, described, strict=True), strict=True), 1
        )
    ]
    told_columns = [column for _machine, column in looked_at]
    columns, not_drawn = drop_unreported_rows(told_columns)
    return Diagnosis(
        machines=tuple(machine for machine, _column in looked_at),
        drawing=draw_columns(columns),
        is_drawn=is_stack(told_columns),
        not_drawn=not_drawn,
        not_understood=pasted.not_understood,
        more=len(pasted.machines) - len(shown),
    )


def matched_cards(machines: Sequence[DumpedMachine]) -> list[list[PastedCard]]:
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
    return [[PastedCard(card, next(matches)) for card in machine.reading.cards] for machine in machines]


def _looked_at(
    number: int,
    title: str,
    machine: DumpedMachine,
    cards: Sequence[PastedCard],
    described: Column,
    tables: Tables,
    names: Mapping[str, str],
) -> tuple[MachineDiagnosis, Column]:
    reading = machine.reading
    report = machine.report()
    answers = judge(report, tables)
    rows = _card_rows(cards)
    sheets = [card.public_sheet for card in cards]
    column = reported_column(f"pasted-{number}", title, described.title, "", described, report, sheets, answers)
    seen = MachineDiagnosis(
        number=number,
        title=title,
        tool=tool_names(machine.kinds),
        stack=described.title,
        differs=machine.differs,
        verdict=_verdict(answers),
        headline=tuple(_headline(reading.facts)),
        findings=_of(answers, *_TO_MEND, Severity.NOTE),
        open_questions=_of(answers, Severity.CANNOT_TELL),
        fits=_of(answers, Severity.FITS),
        cards=tuple(rows[:MOST_CARD_ROWS]),
        more_cards=len(rows[MOST_CARD_ROWS:]),
        results=tuple(_result_tables(reading.results[:MOST_RESULTS])),
        software=tuple(_software(reading, names)),
        facts=tuple(shown_facts(reading.facts)),
        missing=tuple(missing_facts(reading.absent)),
        problems=tuple(reading.problems),
        ignored=tuple(reading.ignored),
    )
    return seen, column


def _titles(machines: Sequence[DumpedMachine]) -> list[str]:
    """What to call each: by what computes in it, and by its place in the text where that does not tell them apart."""
    if len(machines) == 1:
        return [_("What was pasted")]
    names = [title_of(machine.reading) for machine in machines]
    return [
        name if name and names.count(name) == 1 else " · ".join(filter(None, (_("Machine %(n)d") % {"n": n}, name)))
        for n, name in enumerate(names, 1)
    ]


def _headline(facts: Mapping[str, wire.Scalar]) -> Iterator[tuple[str, str]]:
    for name, title in _HEADLINE.items():
        if name in facts:
            text = fact_text(name, facts[name])
            yield str(title), f"{text} {facts.get('os.version', '')}".rstrip() if name == "os.name" else text


def _verdict(answers: Sequence[Finding]) -> str:
    counted = Counter(answer.severity for answer in answers)
    broken, warnings = (counted[severity] for severity in _TO_MEND)
    words = (
        ngettext("%(n)d broken", "%(n)d broken", broken) % {"n": broken} if broken else "",
        ngettext("%(n)d warning", "%(n)d warnings", warnings) % {"n": warnings} if warnings else "",
    )
    return ", ".join(filter(None, words))


def _of(answers: Sequence[Finding], *severities: Severity) -> tuple[Finding, ...]:
    return tuple(answer for answer in answers if answer.severity in severities)


def _card_rows(cards: Sequence[PastedCard]) -> list[CardRow]:
    alike: dict[tuple[object, ...], list[PastedCard]] = {}
    for card in cards:
        alike.setdefault((card.reported.reported_name, card.reported.memory_bytes, card.match.needs), []).append(card)
    return [_card_row(group) for group in alike.values()]


def _card_row(group: Sequence[PastedCard]) -> CardRow:
    card, sheet = group[0], group[0].public_sheet
    name, reported = card.reported.reported_name, [card.reported for card in group]
    said = {name for one in reported for name in one.facts}
    absent = {name: why for one in reported for name, why in one.absent.items() if name not in said}
    return CardRow(
        label=format_count(name, len(group)),
        memory=_memory_text(card.reported),
        sheet_name=sheet.name if sheet else "",
        sheet_url=sheet.get_absolute_url() if sheet else "",
        needs=card.match.needs,
        facts=_told_of_all(reported),
        missing=tuple(missing_facts(absent, CARD_ABSENT_NAMES)),
    )


def _memory_text(card: wire.Card) -> str:
    if card.memory_bytes:
        return format_quantity(card.memory_bytes, "B", binary=True, digits=4).label
    return _("unified") if card.facts.get("unified_memory") is True else ""


def _told_of_all(cards: Sequence[wire.Card]) -> tuple[ShownFact, ...]:
    """Once where the cards agree, else card by card: `0: 41 °C · 1: 43 °C`."""
    rows = []
    for name in CARD_FACTS:
        texts = {card.index: fact_text(name, card.facts[name]) for card in cards if name in card.facts}
        if not texts:
            continue
        is_common = len(set(texts.values())) == 1 and len(texts) == len(cards)
        text = next(iter(texts.values())) if is_common else " · ".join(f"{n}: {one}" for n, one in texts.items())
        rows.append(ShownFact(name, text, meaning_of(name)))
    return tuple(rows)


def _result_tables(results: Sequence[wire.Result]) -> Iterator[ResultTable]:
    """A table for each benchmark; what all its runs share is said once, what differs has a column."""
    for benchmark in dict.fromkeys(result.benchmark for result in results):
        runs = [result for result in results if result.benchmark == benchmark]
        told = [_settings(result) for result in runs]
        names = list(dict.fromkeys(name for settings in told for name in settings))
        shared = {name for name in names if len({settings.get(name) for settings in told}) == 1}
        columns = tuple(name for name in names if name not in shared)
        yield ResultTable(
            benchmark=benchmark,
            common=tuple((name, told[0][name]) for name in names if name in shared),
            columns=columns,
            rows=tuple(_result(run, settings, columns) for run, settings in zip(runs, told, strict=True)),
        )


def _settings(result: wire.Result) -> dict[str, str]:
    told = {
        name: format_number(value) if isinstance(value, float) else str(value) for name, value in result.params.items()
    }
    return told | {"device": result.device}


def _result(result: wire.Result, settings: Mapping[str, str], columns: Sequence[str]) -> ResultRow:
    """The mean as the benchmark states it, or else the median of its runs."""
    stated = result.extra.get("mean")
    spread = result.extra.get("stddev")
    value = stated if isinstance(stated, int | float) else median(result.samples) if result.samples else None
    return ResultRow(
        settings=tuple((name, settings.get(name, "")) for name in columns),
        value="" if value is None else format_number(value),
        unit=result.unit,
        why=result.reason or "",
        spread=format_number(spread) if isinstance(spread, int | float) and value is not None else "",
    )


def _software(reading: Reading, names: Mapping[str, str]) -> list[SoftwareRow]:
    return [
        SoftwareRow(
            name=names.get(found.component, found.component),
            version=found.version or "",
            url=reverse("stacks:component", args=[found.component]) if found.component in names else "",
        )
        for found in reading.software[:MOST_SOFTWARE]
    ]


def _component_names(machines: Sequence[DumpedMachine]) -> dict[str, str]:
    """Slug -> name of the components that are described, of all that was found. One query, none where nothing was."""
    slugs = {found.component for machine in machines for found in machine.reading.software}
    return dict(Component.objects.filter(slug__in=slugs).values_list("slug", "name")) if slugs else {}
