"""Texts for a terminal: the plan of a run, a report, its results and their change, and how the run ended."""

import argparse
import statistics
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from stackviz.agent.benchmarks.cases import params_text
from stackviz.agent.benchmarks.run import BenchmarkOptions, PlannedCase, RunPlan
from stackviz.agent.exit_codes import Exit
from stackviz.agent.measured import LastRun, MeasuredRate, measured_rate, stated_peak
from stackviz.agent.progress import printable
from stackviz.base.units import format_quantity
from stackviz.report.format import FACTS, Fact, Report, Result, Scalar

__all__ = [
    "also_sent",
    "describe_plan",
    "describe_report",
    "exit_of_run",
    "rate_changes",
    "regressions",
    "result_line",
    "result_lines",
    "say_other_name",
    "what_is_sent",
]


def result_lines(report: Report, last: LastRun | None = None) -> Iterator[str]:
    cards = {card.index: card for card in report.cards}
    for result in report.results:
        card = None if result.card is None else cards.get(result.card)
        yield result_line(result, stated_peak(result, card), None if last is None else last.rate(result))


def result_line(result: Result, peak: float | None = None, before: float | None = None) -> str:
    """`gemm fp32 2048 on cpu: 130 GFLOP/s ±1.2 %, 132 ms, 12 samples in 3 rounds; 1.02 times the last run`"""
    name = printable(f"{result.benchmark} {params_text(result.params)} on {result.device}")  # of a file, maybe
    if not result.samples:
        return f"{name}: {result.state}, {result.reason}"
    state = "" if result.state == "ok" else f"; {result.state}: {result.reason}"
    rate = measured_rate(result)
    if rate is None:
        middle = format_quantity(statistics.median(result.samples), result.unit).label
        return f"{name}: median {middle}, {_samples(result)}{state}"
    shown = [format_quantity(rate.value, rate.unit).label + _spread(rate)]
    if peak:
        shown.append(f"{rate.value / peak:.0%} of {format_quantity(peak, rate.unit).label} by clock and bus")
    if result.unit == "s" and rate.unit != "s":
        shown.append(format_quantity(statistics.median(result.samples), "s").label)
    change = f"; {_change(rate, before)}" if before else ""
    doubt = f"; cannot tell: {rate.why_uncertain}" if rate.why_uncertain else ""
    return f"{name}: {', '.join([*shown, _samples(result)])}{change}{doubt}{state}"


def _samples(result: Result) -> str:
    rounds = len(set(result.rounds))
    text = f"{len(result.samples)} sample{'s' if len(result.samples) > 1 else ''}"
    return f"{text} in {rounds} round{'s' if rounds > 1 else ''}" if rounds else text


def _spread(rate: MeasuredRate) -> str:
    """Half the interval; it is not symmetric."""
    if rate.low is None or rate.high is None:
        return ""
    return f" ±{(rate.high - rate.low) / 2 / rate.value * 100:.2g} %"


def _change(rate: MeasuredRate, before: float) -> str:
    return f"{rate.value / before:.3g} times the last run"


def _speed_ratio(rate: MeasuredRate, before: float) -> float:
    """Above 1: faster than before. Times are shorter then."""
    return before / rate.value if rate.unit == "s" else rate.value / before


class RateChange(NamedTuple):
    """A result with its rate, and that of the last run in the same unit."""

    result: Result
    rate: MeasuredRate
    before: float


def rate_changes(report: Report, last: LastRun) -> list[RateChange]:
    """Of the results that the last run had too; of none that failed, is noisy or was disturbed."""
    rates = [(result, measured_rate(result), last.rate(result)) for result in report.results]
    return [
        RateChange(result, rate, before)
        for result, rate, before in rates
        if result.state == "ok" and rate is not None and before and not rate.why_uncertain
    ]


def regressions(changes: Iterable[RateChange], least: float) -> list[str]:
    """Lines of those that are slower than `least` times the last run."""
    slower = []
    for result, rate, before in changes:
        if _speed_ratio(rate, before) < least:
            what = "less accurate" if rate.unit == "bit" else "slower"
            slower.append(f"{what} than {least:g} times the last run: {result_line(result, before=before)}")
    return slower


_GROUPS = {
    "Machine": ("os.", "env.", "machine.", "cpu.", "memory."),
    "Software": (
        "python.", "pip.", "torch.", "flash_attn.", "onnxruntime.", "cuda.", "cudnn.", "nccl.", "rocm.", "nvidia.",
        "mps.", "apple.", "xpu.",
    ),
}  # fmt: skip
_TO_COME = "what is measured now: times of runs, with clocks, power, temperatures and load"
_MOST_LISTED = 20  # reports in a question; all are counted
_QUIET_REASONS = {"not_applicable", "not_collected"}


def describe_report(report: Report, last: LastRun | None = None) -> str:
    """Facts, cards, software, results and what is missing, a line each. `last`: to say what changed since."""
    return "\n".join(_lines(report, last))


def what_is_sent(report: Report, server: str, others: Sequence[Report] = (), *, is_measured: bool = True) -> str:
    """The question before the first upload: what is sent, where, and what is not. `others`: reports that would be sent
    with it. `is_measured` False: results are still to come.
    """
    return "\n".join(
        [
            *([f"{len(others)} more wait in the spool and will be sent too:", also_sent(others), ""] if others else []),
            f"This will be sent to {server}:",
            "",
            *(f"  {line}" if line else "" for line in _lines(report)),
            *([] if is_measured else ["", f"  Results: {_TO_COME}"]),
            "",
            _machine(report),
            "",
            "Not sent: host name, user name, home folder, addresses, serial numbers; UUIDs only as hashes.",
            "All that was read: run with --dry-run; with results: bench --json.",
        ]
    )


def also_sent(reports: Sequence[Report]) -> str:
    """Reports, a line each; of many the last ones."""
    lines = [
        f"  {report.created_at:%Y-%m-%d %H:%M} UTC, {report.machine.name or 'no name'}, {len(report.cards)} cards, "
        f"{len(report.results)} results, id {report.id}"
        for report in reports[-_MOST_LISTED:]
    ]
    left = len(reports) - len(lines)
    return "\n".join([*([f"  {left} older ones"] if left else []), *lines])


def _machine(report: Report) -> str:
    name = report.machine.name or "no name (choose one with --name)"
    return f"  Machine: {name}, known by the hash {report.machine.identity[:12]}..."


def _lines(report: Report, last: LastRun | None = None) -> Iterator[str]:
    for group, prefixes in _GROUPS.items():
        names = [name for name in FACTS if name.startswith(prefixes) and name in report.facts]
        if names:
            yield group
            yield from (f"  {name:<32} {_shown(FACTS[name], report.facts[name])}" for name in names)
    yield from _cards(report)
    yield "Components"
    components = [
        (f"{software.component} {software.version or '(version not reported)'}") for software in report.software
    ]
    yield f"  {', '.join(components) or 'none found'}"
    if report.results:
        yield "Results"
        yield from (f"  {line}" for line in result_lines(report, last))
    yield from _missing(report)
    yield from (
        f"Probe {probe.probe}: {probe.state}{f', {probe.detail}' if probe.detail else ''}"
        for probe in report.probes
        if probe.state != "ok" or probe.detail
    )


def _cards(report: Report) -> Iterator[str]:
    yield "Cards"
    if not report.cards:
        yield "  none found"
    for card in report.cards:
        memory = "" if card.memory_bytes is None else f", {format_quantity(card.memory_bytes, 'B', binary=True).label}"
        yield f"  {card.index}  {card.reported_name}{memory}"


def _missing(report: Report) -> Iterator[str]:
    """Expected facts that are missing."""
    names: dict[str, list[str]] = {}
    for name, why in report.absent.items():
        if why.reason not in _QUIET_REASONS:
            reason = why.reason.replace("_", " ")
            names.setdefault(f"{reason}: {why.detail}" if why.detail else reason, []).append(name)
    if names:
        yield "Not told"
    for reason, lacking in names.items():
        yield f"  {reason}"
        yield from textwrap.wrap(", ".join(lacking), 100, initial_indent="    ", subsequent_indent="    ")


def _shown(fact: Fact, value: Scalar) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and fact.unit not in {"", "1", "count", "°C"}:
        return format_quantity(value, fact.unit, binary=True).label
    return str(value)


_MOST_LINES = 40


def describe_plan(plan: RunPlan, options: BenchmarkOptions) -> str:
    """A line for each case; of many cases for each benchmark and device."""
    cases = plan.cases
    rows = [(str(case.case), case.seconds) for case in cases] if len(cases) <= _MOST_LINES else _grouped(cases)
    width = max((len(name) for name, _ in rows), default=0)
    total_s = sum(case.seconds or 0.0 for case in cases)
    lines = [f"  {name:<{width}}  {'skipped' if seconds is None else duration_text(seconds)}" for name, seconds in rows]
    count = sum(case.seconds is not None for case in cases)
    head = f"Measuring {count} cases, {duration_text(total_s)} {_rounds_and_end(total_s, options, plan)}."
    return "\n".join([f"{head} Ctrl-C keeps what is done.", *lines])


def _rounds_and_end(total_s: float, options: BenchmarkOptions, plan: RunPlan) -> str:
    """Of the time of all cases: how many rounds it is for, and when the run ends."""
    end = f"; ends after {duration_text(options.time_s)} in any case"
    if total_s > plan.left_s:
        return f"for one round, which is too long: cases will be left out{end}"
    if plan.rounds < options.pace.rounds:
        return f"for {plan.rounds} of {options.pace.rounds} rounds, more as time allows{end}"
    return f"in all{end if total_s > plan.left_s * 0.8 else ''}"


def _grouped(plan: Sequence[PlannedCase]) -> list[tuple[str, float | None]]:
    groups: dict[str, list[float]] = {}
    for planned in plan:
        name = f"{planned.case.benchmark} on {planned.case.device}"
        groups.setdefault(name, []).extend([] if planned.seconds is None else [planned.seconds])
    return [(f"{name}, {len(seconds)} cases", sum(seconds) if seconds else None) for name, seconds in groups.items()]


def duration_text(seconds: float) -> str:
    """About how long, no more exact than an estimate is."""
    if seconds < 10:
        return f"about {max(1, round(seconds))} s"
    if seconds < 90:
        return f"about {round(seconds / 5) * 5} s"
    return f"about {round(seconds / 60)} min"


def exit_of_run(arguments: argparse.Namespace, report: Report, last: LastRun) -> Exit:
    """Return the exit code that the results deserve; print the reason on standard error."""
    if report.results and all(result.state == "failed" for result in report.results):
        print("error: every benchmark failed; the results say why", file=sys.stderr)
        return Exit.NOTHING_MEASURED
    return _exit_of_comparison(report, last, arguments.fail_below) if arguments.fail_below else Exit.OK


def _exit_of_comparison(report: Report, last: LastRun, least: float) -> Exit:
    """A first run has nothing to compare with, and ends well; one that measured nothing does not."""
    if not any(result.state == "ok" for result in report.results):
        why = next((f" ({result.reason})" for result in report.results if result.reason), "")
        print(f"error: nothing was measured{why}, so --fail-below has nothing to compare", file=sys.stderr)
        return Exit.NOTHING_MEASURED
    changes = rate_changes(report, last)
    if not changes:
        why = "no earlier run measured these cases, or the results are noisy or were disturbed"
        print(f"note: --fail-below compared nothing: {why}", file=sys.stderr)
    slower = regressions(changes, least)
    for line in slower:
        print(line, file=sys.stderr)
    return Exit.REGRESSION if slower else Exit.OK


def say_other_name(name: str | None, last: LastRun, say: Callable[[str], None]) -> None:
    """A machine gets its name from its first report: another one is sent, and changes nothing."""
    if name and last.name and name != last.name:
        say(
            f"note: this machine was called {last.name} before; the site keeps the name of a machine's first report: "
            f"to call it {name}, rename it on its page"
        )
