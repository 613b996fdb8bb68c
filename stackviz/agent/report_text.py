"""A report as text: what was read, what was measured, what will be sent."""

import textwrap
from collections.abc import Iterator, Sequence

from stackviz.agent.measured import LastRun
from stackviz.agent.result_text import result_lines
from stackviz.base.units import format_quantity
from stackviz.report.format import FACTS, Fact, Report, Scalar

__all__ = ["also_sent", "describe_report", "what_is_sent"]

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
