"""What a stored report says, worked out before anything is written: a `ReadReport`. No write.

Done outside the transaction that stores it, so that SQLite's one writer is not kept waiting while we think.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from statistics import fmean, median
from typing import Any

import orjson

from stackviz.base.light import light_dataclass
from stackviz.base.stats import Summary, summarize
from stackviz.intake.ingest.body import unpack
from stackviz.intake.ingest.fast_parser import fast_parse
from stackviz.records.catalog.match import CardName, Match, card_name, match_cards
from stackviz.records.catalog.queries import peaks
from stackviz.records.series.bound import PublishedPeaks, bounds_of, outruns_memory, peak_share
from stackviz.records.series.measurement import CardUsed, benchmark, rate_of
from stackviz.records.series.standing import CLOCK_MAY_BE_AHEAD, Flag, is_ahead, is_mean_of_runs, sample_flags
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report import format as wire
from stackviz.report.format import Interference, Report, Result
from stackviz.report.measuring.stated_rate import PREFIX, disturbances
from stackviz.report.rules import Finding, Tables, judge
from stackviz.web.http.request_memo import remembering

INTERPRETER = 4  # raise it when a report would be read differently: `reread_reports` then finds what is older

Warning_ = dict[str, str]


@light_dataclass(slots=True)
class ReadResult:
    """One run: as reported, what its samples come to, its setting with the key of it, and when it counts as measured.

    `conditions`: with what else the result states. `flags`: what is odd about it; a result with any is set aside
    until a person accepts it.
    """

    reported: wire.Result
    summary: Summary | None
    params: Mapping[str, Any]
    params_key: str
    conditions: Mapping[str, Any]
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
    return Parsed(fast_parse(plain) or wire.parse_report(plain), len(plain))


def match_reports(reports: Sequence[wire.Report]) -> list[list[Match]]:
    """For each report the sheet of each of its cards. One query for all of them."""
    names = [_card_names(report) for report in reports]
    matches = iter(match_cards([name for of_report in names for name in of_report]))
    return [[next(matches) for _name in of_report] for of_report in names]


def read(parsed: Parsed, received_at: datetime, matches: Sequence[Match], known: Background) -> ReadReport:
    """Understand one report. No query."""
    report = parsed.report
    clock = ReportClock.of(report, received_at)
    return ReadReport(
        report=report,
        taken_at=clock.taken_at,
        matches=matches,
        findings=judge(report, known.tables),
        results=_read_results(report, matches, clock, known.published),
        warnings=_warnings(report, received_at),
    )


def _card_names(report: wire.Report) -> list[CardName]:
    return [
        card_name(card.reported_name, card.vendor, card.memory_bytes, card.facts, report.facts) for card in report.cards
    ]


def _sheets(matches: Sequence[Match]) -> list[int | None]:
    return [match.accelerator.pk if match.accelerator else None for match in matches]


def _read_results(
    report: wire.Report, matches: Sequence[Match], clock: "ReportClock", published: PublishedPeaks
) -> list[ReadResult]:
    cards = {
        card.index: CardUsed(card.index, card.reported_name, sheet, card.facts)
        for card, sheet in zip(report.cards, _sheets(matches), strict=True)
    }
    read = []
    for result in report.results:
        params, conditions = stored_params(result), stored_conditions(result)
        summary = _summary(result, conditions)
        flags = _flags(result, summary, cards, published)
        if summary is not None and clock.is_future(result.started_at):
            flags = (*flags, Flag.FUTURE)
        measured_at = clock.measured_at(result.started_at)
        read.append(ReadResult(result, summary, params, params_key(params), conditions, measured_at, flags))
    return read


def _summary(result: wire.Result, conditions: Mapping[str, Any]) -> Summary | None:
    if result.state != "ok":
        return None
    return summarize(result.samples, result.rounds, is_disturbed=bool(disturbances(conditions, result.device)))


def _flags(
    result: wire.Result, summary: Summary | None, cards: Mapping[int, CardUsed], published: PublishedPeaks
) -> tuple[Flag, ...]:
    """What is odd about a run that is ok, by its samples, its unit and the published peaks of the cards it ran on."""
    known = benchmark(result.benchmark, result.version)
    flags = list(sample_flags(result.samples, summary))
    if Flag.ONE_SAMPLE in flags and is_mean_of_runs(result.conditions):
        flags.remove(Flag.ONE_SAMPLE)
    if summary is None or known is None:
        return tuple(flags)
    rate = rate_of(known, result.params, summary, result.unit)
    card = None if result.card is None else cards.get(result.card)
    used = [card] if card else [cards[index] for index in result.cards if index in cards]
    if result.unit != known.sample_unit:
        flags.append(Flag.OTHER_UNIT)
    elif (rate is None or (known.on_several_cards and outruns_memory(rate, used, published))) and known.work(
        result.params
    ):
        flags.append(Flag.IMPOSSIBLE)
    share = peak_share(rate, card, bounds_of(known, result.params, result.conditions), published)
    if share is not None and share.is_above_peak:
        flags.insert(0, Flag.ABOVE_BOUND)
    return tuple(flags)


def params_key(params: Mapping[str, Any]) -> str:
    """SHA-256 of the parameters in canonical JSON (sorted, no blanks): pairs series of different machines."""
    return hashlib.sha256(orjson.dumps(params, option=orjson.OPT_SORT_KEYS)).hexdigest()


# --- what the receipt says beside the figures; cards without a sheet are asked for when it is shown ---


def _warnings(report: wire.Report, received_at: datetime) -> list[Warning_]:
    return [
        *clock_warnings(report, received_at),
        *_benchmark_warnings(report),
        *_probe_warnings(report),
    ]


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


# --- the machine's clock ---

_NO_TIME = timedelta(0)


@dataclass(frozen=True, slots=True)
class ReportClock:
    """Turns times of a report into those of the site. `ahead`: how far the machine's clock was ahead, below 0 behind; 0
    where it was right within CLOCK_MAY_BE_AHEAD, or the report does not state when it was sent.
    """

    created_at: datetime
    received_at: datetime
    ahead: timedelta

    @classmethod
    def of(cls, report: Report, received_at: datetime) -> "ReportClock":
        return cls(report.created_at, received_at, _ahead(report, received_at))

    @property
    def taken_at(self) -> datetime:
        """When the report was made, never after it arrived: it would be the newest one for ever."""
        return min(self._here(self.created_at), self.received_at)

    def measured_at(self, started_at: datetime | None) -> datetime:
        return self.taken_at if started_at is None else min(self._here(started_at), self.taken_at)

    def is_future(self, started_at: datetime | None) -> bool:
        """Whether the report, or a result in it, is from after its arrival, and no clock explains it."""
        times = (self.created_at, started_at)
        return any(time is not None and is_ahead(self._here(time), self.received_at) for time in times)

    def _here(self, time: datetime) -> datetime:
        try:
            return time - self.ahead
        except OverflowError:
            return self.received_at  # beyond the calendar


def _ahead(report: Report, received_at: datetime) -> timedelta:
    if report.sent_at is None:
        return _NO_TIME
    ahead = report.sent_at - received_at
    return ahead if abs(ahead) > CLOCK_MAY_BE_AHEAD else _NO_TIME


def clock_warnings(report: Report, received_at: datetime) -> list[dict[str, str]]:
    """What the receipt says of the clock: at most one warning."""
    ahead = _ahead(report, received_at)
    if ahead:
        code = "clock-was-ahead" if ahead > _NO_TIME else "clock-was-behind"
        return [{"code": code, "where": "sent_at", "detail": _text(abs(ahead))}]
    ahead = report.created_at - received_at
    if ahead <= CLOCK_MAY_BE_AHEAD:
        return []
    return [{"code": "clock-ahead", "where": "created_at", "detail": _text(ahead)}]


def _text(duration: timedelta) -> str:
    """`2 days, 3:00:01`, in whole seconds."""
    return str(duration - duration % timedelta(seconds=1))


# --- stored conditions ---

_CARDS_USED = "cards_used"


def stored_conditions(sent: Result) -> Mapping[str, Any]:
    """A result of format 1.0 keeps its conditions as they are. Names are those of `facts.CONDITIONS`.

    Which cards worked together is what `cards` says, whose indexes were checked: a condition of that name says nothing.
    """
    more = dict(_more(sent))
    if not more and _CARDS_USED not in sent.conditions:
        return sent.conditions
    stated = {name: value for name, value in sent.conditions.items() if name != _CARDS_USED}
    return {**stated, **more}


def stored_params(sent: Result) -> Mapping[str, Any]:
    """What makes the setting: several cards are another one than a single card, on every machine."""
    return {**sent.params, "cards": len(sent.cards)} if len(sent.cards) > 1 else sent.params


def _more(sent: Result) -> Iterator[tuple[str, Any]]:
    if sent.rounds:
        yield "round_sizes", " ".join(str(len(list(of_round))) for _number, of_round in groupby(sent.rounds))
    if sent.framework:
        yield "framework", sent.framework
    if len(sent.cards) > 1:
        yield _CARDS_USED, " ".join(map(str, sent.cards))
    if sent.energy_j and any(sent.energy_j):
        yield "energy_per_run_j", fmean(sent.energy_j)  # the counter ticks slower than blocks: the mean, not the median
    if sent.enqueue_s and sent.unit == "s":
        yield "enqueue_ratio", min(1.0, median(sent.enqueue_s) / median(sent.samples))
    if sent.interference is not None:
        yield from _interference(sent.interference)


def _interference(noticed: Interference) -> Iterator[tuple[str, Any]]:
    for name in ("foreign_cpu_ratio", "steal_ratio", "card_ratio", "rounds_disturbed", "reruns"):
        value = getattr(noticed, name)
        if value is not None:
            yield PREFIX + name, value
    for name in ("processes", "card_processes"):
        if names := getattr(noticed, name):
            yield PREFIX + name, ", ".join(names)
