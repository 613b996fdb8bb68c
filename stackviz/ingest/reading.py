"""What a stored report says, worked out before anything is written: a `ReadReport`. No write.

Done outside the transaction that stores it, so that SQLite's one writer is not kept waiting while we think.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson

from stackviz import wire
from stackviz.benchmarks.bound import PublishedPeaks, bound_of, peak_share
from stackviz.benchmarks.measurement import CardUsed, benchmark, rate_of
from stackviz.benchmarks.standing import CLOCK_MAY_BE_AHEAD, Flag, is_ahead, is_mean_of_runs, sample_flags
from stackviz.catalog.match import CardName, Match, card_name, match_cards
from stackviz.catalog.queries import peaks
from stackviz.ingest.body import unpack
from stackviz.ingest.gate import read_trivially_valid
from stackviz.light import light_dataclass
from stackviz.rules import Finding, Tables, judge
from stackviz.stacks.rule_tables import rule_tables
from stackviz.stats import Summary, summarize
from stackviz.web.request_memo import remembering

INTERPRETER = 2  # raise it when a report would be read differently: `reread_reports` then finds what is older

Warning_ = dict[str, str]


@light_dataclass(slots=True)
class ReadResult:
    """One run: as reported, what its samples come to, the key of its parameters, and when it counts as measured.

    `flags`: what is odd about it; a result with any is set aside until a person accepts it.
    """

    reported: wire.Result
    summary: Summary | None
    params_key: str
    measured_at: datetime
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """A report out of its JSON, which has so many bytes."""

    report: wire.Report
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What reports are read against: the rules' tables, and the published peaks of the cards in them."""

    tables: Tables
    published: PublishedPeaks

    @classmethod
    def of(cls, matches: Sequence[Sequence[Match]]) -> "Background":
        """For reports with these cards. Two queries while nothing has changed."""
        with remembering():
            published = peaks(sheet for each in matches for sheet in _sheets(each) if sheet)
            return cls(tables=rule_tables(), published=published)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadReport:
    """Everything that is written. `matches` is parallel to the report's cards; `findings` also say what fits."""

    report: wire.Report
    taken_at: datetime
    matches: Sequence[Match]
    findings: Sequence[Finding]
    results: Sequence[ReadResult]
    warnings: Sequence[Warning_]


def parse_stored(body: bytes, encoding: str) -> Parsed:
    """A report as it is stored. Raises ReportError when this version cannot read it."""
    plain = unpack(body, encoding)
    return Parsed(read_trivially_valid(plain) or wire.parse_report(plain), len(plain))


def match_reports(reports: Sequence[wire.Report]) -> list[list[Match]]:
    """For each report the sheet of each of its cards. One query for all of them."""
    names = [_card_names(report) for report in reports]
    matches = iter(match_cards([name for of_report in names for name in of_report]))
    return [[next(matches) for _name in of_report] for of_report in names]


def read(parsed: Parsed, received_at: datetime, matches: Sequence[Match], known: Background) -> ReadReport:
    """Understand one report. No query."""
    report = parsed.report
    # A clock that is ahead would make this the newest report for ever; one that is behind cannot be told from a spool.
    taken_at = min(report.created_at, received_at)
    return ReadReport(
        report=report,
        taken_at=taken_at,
        matches=matches,
        findings=judge(report, known.tables),
        results=_read_results(report, matches, received_at, known.published),
        warnings=_warnings(report, received_at),
    )


def _card_names(report: wire.Report) -> list[CardName]:
    return [
        card_name(card.reported_name, card.vendor, card.memory_bytes, card.facts, report.facts) for card in report.cards
    ]


def _sheets(matches: Sequence[Match]) -> list[int | None]:
    return [match.accelerator.pk if match.accelerator else None for match in matches]


def _read_results(
    report: wire.Report, matches: Sequence[Match], received_at: datetime, published: PublishedPeaks
) -> list[ReadResult]:
    taken_at = min(report.created_at, received_at)
    cards = {
        card.index: CardUsed(card.index, card.reported_name, sheet, card.facts)
        for card, sheet in zip(report.cards, _sheets(matches), strict=True)
    }
    is_future = is_ahead(report.created_at, received_at)
    read = []
    for result in report.results:
        measured_at = taken_at if result.started_at is None else min(result.started_at, taken_at)
        summary = summarize(result.samples) if result.state == "ok" else None
        flags = _flags(result, summary, None if result.card is None else cards.get(result.card), published)
        if summary is not None and (is_future or is_ahead(result.started_at, received_at)):
            flags = (*flags, Flag.FUTURE)
        read.append(ReadResult(result, summary, params_key(result.params), measured_at, flags))
    return read


def _flags(
    result: wire.Result, summary: Summary | None, card: CardUsed | None, published: PublishedPeaks
) -> tuple[Flag, ...]:
    """What is odd about a run that is ok, by its samples, its unit and the published peak of the card it ran on."""
    known = benchmark(result.benchmark, result.version)
    flags = list(sample_flags(result.samples, summary))
    if Flag.ONE_SAMPLE in flags and is_mean_of_runs(result.conditions):
        flags.remove(Flag.ONE_SAMPLE)
    if summary is None or known is None:
        return tuple(flags)
    rate = rate_of(known, result.params, summary, result.unit)
    if result.unit != known.sample_unit:
        flags.append(Flag.OTHER_UNIT)
    elif rate is None and known.work(result.params):
        flags.append(Flag.IMPOSSIBLE)
    share = peak_share(rate, card, bound_of(known, result.params, result.conditions), published)
    if share is not None and share.is_above_peak:
        flags.insert(0, Flag.ABOVE_BOUND)
    return tuple(flags)


def params_key(params: Mapping[str, Any]) -> str:
    """SHA-256 of the parameters in canonical JSON (sorted, no blanks): pairs series of different machines."""
    return hashlib.sha256(orjson.dumps(params, option=orjson.OPT_SORT_KEYS)).hexdigest()


# --- what the receipt says beside the figures; cards without a sheet are asked for when it is shown ---


def _warnings(report: wire.Report, received_at: datetime) -> list[Warning_]:
    return [
        *_clock_warnings(report.created_at - received_at),
        *_benchmark_warnings(report),
        *_probe_warnings(report),
    ]


def _clock_warnings(ahead: timedelta) -> list[Warning_]:
    if ahead <= CLOCK_MAY_BE_AHEAD:
        return []
    return [{"code": "clock-ahead", "where": "created_at", "detail": str(ahead - ahead % timedelta(seconds=1))}]


def _benchmark_warnings(report: wire.Report) -> list[Warning_]:
    """One line for each benchmark this site does not know; its results are kept and shown as they are."""
    first: dict[tuple[str, int], int] = {}
    for index, result in enumerate(report.results):
        first.setdefault((result.benchmark, result.version), index)
    return [
        {"code": "benchmark-unknown", "where": f"results[{index}].benchmark", "detail": f"{key} v{version}"}
        for (key, version), index in first.items()
        if benchmark(key, version) is None
    ]


def _probe_warnings(report: wire.Report) -> list[Warning_]:
    return [
        {
            "code": f"probe-{probe.state}",
            "where": f"probes[{index}]",
            "detail": f"{probe.probe}: {probe.detail or probe.state}",
        }
        for index, probe in enumerate(report.probes)
        if probe.state in ("failed", "timeout")
    ]
