"""What results come to on this machine: rate, interval, share of a peak that the card states; of the last run too."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackviz.agent.folders import write_whole
from stackviz.base.stats import Summary, summarize
from stackviz.report.format import Card, Report, Result
from stackviz.report.measuring import VERSIONS
from stackviz.report.measuring.stated_rate import PREFIX, disturbances, stated_rate

__all__ = ["LastRun", "MeasuredRate", "measured_rate", "result_key"]

_FILE = "last-run.json"
_MOST_BYTES = 4 * 1024 * 1024
_MOST_RESULTS = 2_000


@dataclass(frozen=True, slots=True)
class MeasuredRate:
    """A rate in `unit`. `low` .. `high`: None with too few rounds. `why_uncertain`: "" where another run may be called
    different from it.
    """

    value: float
    low: float | None
    high: float | None
    unit: str
    why_uncertain: str


def measured_rate(result: Result) -> MeasuredRate | None:
    """None where nothing was measured, or this agent does not know the benchmark."""
    known = VERSIONS.get((result.benchmark, result.version))
    noticed = result.interference
    shares = {} if noticed is None else {f"{PREFIX}{name}": getattr(noticed, name) for name in _SHARES}
    disturbed = disturbances(shares, result.device)
    summary = summarize(result.samples, result.rounds, is_disturbed=bool(disturbed))
    if summary is None:
        return None
    rate = stated_rate(known, result.params, result.unit, summary.median, summary.low, summary.high)
    return None if rate is None else MeasuredRate(*rate, _uncertainty(summary, disturbed, result))


_SHARES = ("foreign_cpu_ratio", "steal_ratio", "card_ratio")
_IN_WORDS = {
    "foreign_cpu_ratio": "other programs used {:.0%} of the processors",
    "steal_ratio": "the hypervisor gave {:.0%} of the processors to others",
    "card_ratio": "other processes used {:.0%} of the card",
}


def _uncertainty(summary: Summary, disturbed: Mapping[str, float], result: Result) -> str:
    if disturbed:
        name, share = next(iter(disturbed.items()))
        noticed = result.interference
        programs = () if noticed is None else noticed.card_processes if name == "card_ratio" else noticed.processes
        return _IN_WORDS[name].format(share) + (f" ({', '.join(programs)})" if programs else "")
    return "noisy" if summary.is_noisy else ""


def stated_peak(result: Result, card: Card | None) -> float | None:
    """What bounds the rate by the card's own figures: memory bandwidth is twice its clock times the width of the bus.

    CUDA's deviceQuery computes it so. None where the card does not state both; of products nobody states a peak here.
    """
    if card is None or result.benchmark != "memory-copy" or card.vendor != "nvidia":
        return None
    clock, bits = card.facts.get("memory_clock_max_hz"), card.facts.get("memory_bus_bits")
    return 2 * clock * bits / 8 if isinstance(clock, int | float) and isinstance(bits, int) else None


# ---- the last run ----------------------------------------------------------------------------------------------------


def result_key(result: Result) -> str:
    """Equal for results that may be compared on one machine."""
    params = json.dumps(dict(result.params), sort_keys=True)
    cards = ",".join(map(str, result.cards))
    return f"{result.benchmark} {result.version} {result.device} {cards} {params}"


class LastRun:
    """Rates of earlier runs by this agent, of each setting the last one: `last-run.json` in the spool folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        read = _read(self._path)
        rates = read.get("rates")
        self._rates: dict[str, float] = {}
        if isinstance(rates, dict):
            self._rates = {key: float(value) for key, value in rates.items() if _is_rate(value)}
        name = read.get("name")
        self.name: str | None = name if isinstance(name, str) else None

    def rate(self, result: Result) -> float | None:
        return self._rates.get(result_key(result))

    def remember(self, report: Report) -> None:
        """Of this report what may be compared with; a disk that refuses costs the comparison only."""
        for result in report.results:
            rate = measured_rate(result)
            if result.state == "ok" and rate is not None and not rate.why_uncertain:
                self._rates[result_key(result)] = rate.value
        newest = dict(list(self._rates.items())[-_MOST_RESULTS:])
        document = {"name": report.machine.name or self.name, "rates": newest}
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self._path, json.dumps(document).encode())


def _is_rate(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            return {}
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
