"""One report as every page shows it, from an agent, a dump or a plan.

A page leaves out what it has no room for; it never works out a part of a report by itself. So a fact, a card, a finding
or a component that one page has cannot be missing on another by mistake.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from stackviz.base.units import format_number, quantity_label
from stackviz.draw.diagrams.boxes import StackColumn
from stackviz.intake.report_parts.cards import (
    CardFact,
    CardLinks,
    CardRow,
    MatchedCard,
    by_columns,
    card_facts,
    card_links,
    card_rows,
)
from stackviz.intake.report_parts.facts import HeadlineFact, ShownFact, headline, missing_facts, shown_facts
from stackviz.intake.report_parts.like_hosts import like_hosts_address
from stackviz.records.labs.models import Snapshot
from stackviz.records.labs.queries import as_report, stored_findings
from stackviz.records.stacks.queries import described_columns, names_of_components
from stackviz.records.stacks.reported import reported_column
from stackviz.report import format as wire
from stackviz.report.measuring import VERSIONS
from stackviz.report.measuring.stated_rate import StatedRate, stated_rate
from stackviz.report.rules import Finding, Severity
from stackviz.web.http.addresses import address_by_name
from stackviz.web.i18n.finding_text import finding_words

# --- findings, by what a reader does about them ---

LISTED = (Severity.BROKEN, Severity.WARNING, Severity.CANNOT_TELL, Severity.NOTE)  # as findings, most serious first


@dataclass(frozen=True, slots=True)
class SortedFindings:
    """Every finding is in one of these, worst first. `faults`: broken and warnings; `open_questions`: cannot tell."""

    faults: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    open_questions: tuple[Finding, ...]
    fits: tuple[Finding, ...]

    @property
    def listed(self) -> tuple[Finding, ...]:
        """What a machine's page lists as its findings, and lists of machines count."""
        return (*self.faults, *self.open_questions, *self.notes)


def sort_findings(findings: Iterable[Finding]) -> SortedFindings:
    """Raises KeyError for a severity that no rule gives."""
    by_severity: dict[str, list[Finding]] = {severity.value: [] for severity in Severity}
    for finding in findings:
        by_severity[finding.severity].append(finding)
    return SortedFindings(
        faults=(*by_severity[Severity.BROKEN], *by_severity[Severity.WARNING]),
        notes=tuple(by_severity[Severity.NOTE]),
        open_questions=tuple(by_severity[Severity.CANNOT_TELL]),
        fits=tuple(by_severity[Severity.FITS]),
    )


# --- software: components by name, those that are described with a link ---


SoftwareRow = tuple[wire.Software, str, str]


def software_rows(software: Iterable[wire.Software], names: Mapping[str, str]) -> list[SoftwareRow]:
    """(what was found, its name, its page), in the order it was found; "" for the page of what is not described.

    `names`: see `component_names`.
    """
    return [
        (
            item,
            names.get(item.component, item.component),
            address_by_name("stacks:component", item.component) if item.component in names else "",
        )
        for item in software
    ]


def component_names(reports: Iterable[wire.Report]) -> dict[str, str]:
    """Slug -> name of the described components among all that was found. No query but that for the edition."""
    names = names_of_components()
    slugs = {item.component for report in reports for item in report.software}
    return {slug: names[slug] for slug in slugs if slug in names}


# --- results that the report states by itself; what the site works out is in `machines/` ---

MOST_RESULTS = 200  # of one report; llama-bench prints a dozen


@dataclass(frozen=True, slots=True)
class StatedResult:
    """One run. `value` empty: it did not come to its end; then `why` says so. `spread`: its standard deviation."""

    settings: tuple[tuple[str, str], ...]  # title of the column, its value
    value: str
    unit: str
    why: str
    spread: str = ""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """The runs of one benchmark that the report states. `common`: settings that all of them share."""

    benchmark: str
    common: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    rows: tuple[StatedResult, ...]


def result_tables(results: Sequence[wire.Result]) -> Iterator[ResultTable]:
    """Of the first MOST_RESULTS: what all runs of a benchmark share is stated once, what differs has a column."""
    results = results[:MOST_RESULTS]
    for benchmark in dict.fromkeys(result.benchmark for result in results):
        runs = [result for result in results if result.benchmark == benchmark]
        settings = [_settings(result) for result in runs]
        names = list(dict.fromkeys(name for run in settings for name in run))
        shared = {name for name in names if len({run.get(name) for run in settings}) == 1}
        columns = tuple(name for name in names if name not in shared)
        yield ResultTable(
            benchmark=benchmark,
            common=tuple((name, settings[0][name]) for name in names if name in shared),
            columns=columns,
            rows=tuple(_result(*run, columns) for run in zip(runs, settings, strict=True)),
        )


def _settings(result: wire.Result) -> dict[str, str]:
    """The parameters as text, and the time after them where the figure shown is a rate that follows from it."""
    params = {
        name: format_number(value) if isinstance(value, float) else str(value) for name, value in result.params.items()
    }
    size = result.params.get("bytes")
    if isinstance(size, int):
        params["bytes"] = quantity_label(size, "B")
    figure, rate = _figure(result), _rate(result)
    if figure is not None and rate is not None and result.unit == "s" and rate.unit != "s":
        params["time"] = quantity_label(figure, "s")
    return params | {"device": result.device}


def _figure(result: wire.Result) -> float | None:
    """The mean as the benchmark states it, or else the median of its runs; None for a run that failed."""
    stated = result.extra.get("mean")
    return stated if isinstance(stated, int | float) else median(result.samples) if result.samples else None


def _rate(result: wire.Result) -> StatedRate | None:
    return stated_rate(VERSIONS.get((result.benchmark, result.version)), result.params, result.unit, _figure(result))


def _result(result: wire.Result, settings: Mapping[str, str], columns: Sequence[str]) -> StatedResult:
    """The rate where one follows, or else the figure."""
    spread, figure, rate = result.extra.get("stddev"), _figure(result), _rate(result)
    shown = "" if figure is None else format_number(figure)
    return StatedResult(
        settings=tuple((name, settings.get(name, "")) for name in columns),
        value=shown if rate is None else quantity_label(rate.value, rate.unit),
        unit=result.unit if rate is None else "",
        why=result.reason or "",
        spread=format_number(spread) if isinstance(spread, int | float) and figure is not None else "",
    )


# --- the report ---


@dataclass(frozen=True, slots=True)
class JudgedReport:
    """A report with what follows from it: the findings of all rules, the sheets of its cards."""

    report: wire.Report
    findings: tuple[Finding, ...]
    cards: tuple[MatchedCard, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentedReport:
    """All that a page may show of a report. `column`: its stack, to be drawn alone or with others.

    `like_hosts`: the address of the public hosts most like it, "" where no card has a sheet.
    """

    headline: tuple[HeadlineFact, ...]
    cards: tuple[CardRow, ...]
    links: CardLinks | None
    card_facts: tuple[CardFact, ...]
    software: tuple[SoftwareRow, ...]
    facts: tuple[ShownFact, ...]
    missing: tuple[ShownFact, ...]
    findings: SortedFindings
    results: tuple[ResultTable, ...]
    column: StackColumn
    like_hosts: str


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
        links=card_links(report.facts),
        card_facts=tuple(card_facts(judged.cards)),
        software=tuple(software_rows(report.software, names)),
        facts=tuple(shown_facts(report.facts)),
        missing=tuple(missing_facts(report.absent)),
        findings=sort_findings(judged.findings),
        results=tuple(result_tables(report.results)),
        column=column,
        like_hosts=like_hosts_address(report, judged.cards),
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
    is_brief: bool = False,
) -> StackColumn:
    """The stack of a report on the one it runs, `described`, whose title is the subtitle unless there is another.

    `printed`, `is_brief`: as in `reported_column`.
    """
    return reported_column(
        judged.report,
        described,
        [card.sheet for card in judged.cards],
        [_in_language(finding) for finding in judged.findings],
        key=key,
        title=title,
        subtitle=subtitle or described.title,
        url=url,
        printed=printed,
        is_brief=is_brief,
    )


def _in_language(finding: Finding) -> Finding:
    """As a drawing says it in the language of the page."""
    title = finding_words(finding.title)
    return finding if title == finding.title else replace(finding, title=title)
