"""One report as every page shows it, from an agent, a dump or a plan.

A page leaves out what it has no room for; it never works out a part of a report by itself. So a fact, a card, a finding
or a component that one page has cannot be missing on another by mistake.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from stackviz import wire
from stackviz.diagrams.boxes import StackColumn
from stackviz.labs.models import Snapshot
from stackviz.labs.queries import as_report, stored_findings
from stackviz.reports.cards import CardFact, CardRow, MatchedCard, by_columns, card_facts, card_rows
from stackviz.reports.facts import ShownFact, missing_facts, shown_facts
from stackviz.reports.findings import SortedFindings, sort_findings
from stackviz.reports.headline import HeadlineFact, headline
from stackviz.reports.results import ResultTable, result_tables
from stackviz.reports.software import SoftwareRow, software_rows
from stackviz.rules import Finding
from stackviz.stacks.queries import described_columns
from stackviz.stacks.reported import reported_column


@dataclass(frozen=True, slots=True)
class JudgedReport:
    """A report with what follows from it: the findings of all rules, the sheets of its cards."""

    report: wire.Report
    findings: tuple[Finding, ...]
    cards: tuple[MatchedCard, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentedReport:
    """All that a page may show of a report. `column`: its stack, to be drawn alone or beside others."""

    headline: tuple[HeadlineFact, ...]
    cards: tuple[CardRow, ...]
    card_facts: tuple[CardFact, ...]
    software: tuple[SoftwareRow, ...]
    facts: tuple[ShownFact, ...]
    missing: tuple[ShownFact, ...]
    findings: SortedFindings
    results: tuple[ResultTable, ...]
    column: StackColumn


def stored_report(snapshot: Snapshot) -> JudgedReport:
    """What was read from a machine's report. No query where cards, sheets and findings are loaded."""
    cards = snapshot.cards.all()
    report = as_report(snapshot, cards, snapshot.taken_at)
    matched = (MatchedCard(card, row.public_sheet) for card, row in zip(report.cards, cards, strict=True))
    return JudgedReport(report, stored_findings(snapshot), tuple(matched))


def present(
    judged: JudgedReport,
    column: StackColumn,
    *,
    names: Mapping[str, str],
    first: Sequence[str] = (),
    alike: Callable[[MatchedCard], Hashable] = by_columns,
) -> PresentedReport:
    """No query. `names` of components: see `component_names`; `first`: names of the facts for the headline.

    `alike`: which cards share a row.
    """
    report = judged.report
    return PresentedReport(
        headline=headline(first, report.facts, report.absent),
        cards=tuple(card_rows(judged.cards, alike)),
        card_facts=tuple(card_facts(judged.cards)),
        software=tuple(software_rows(report.software, names)),
        facts=tuple(shown_facts(report.facts)),
        missing=tuple(missing_facts(report.absent)),
        findings=sort_findings(judged.findings),
        results=tuple(result_tables(report.results)),
        column=column,
    )


def described_stacks(slugs: Sequence[str]) -> list[StackColumn]:
    """The columns of these stacks, in order; an empty one for a stack without a description. Queries of one read."""
    described = described_columns(slugs)
    return [described.get(slug) or StackColumn(key=slug, title="", subtitle="", url="", boxes=()) for slug in slugs]


def stack_column(
    judged: JudgedReport,
    described: StackColumn,
    *,
    key: str,
    title: str,
    url: str = "",
    subtitle: str = "",
    printed: bool = False,
) -> StackColumn:
    """The stack of a report on the one it runs, `described`, whose title is the subtitle unless there is another."""
    return reported_column(
        judged.report,
        described,
        [card.sheet for card in judged.cards],
        judged.findings,
        key=key,
        title=title,
        subtitle=subtitle or described.title,
        url=url,
        printed=printed,
    )
