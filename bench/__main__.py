"""`python -m bench [--quick] [--database sqlite|postgresql] [--json FILE]`: prints every ratio with its goal."""

import argparse
import dataclasses
import json
import os
import platform
import sys
import time
from pathlib import Path

from bench import diagnose, measure
from bench.measure import FULL, QUICK, Effort, PageCost, Pair
from bench.places import Place, begin, finish, place
from tests.servers import NotHere

ACCEPT_GOAL = 0.8  # of a bare POST + INSERT
STORE_GOAL = 0.6  # of a bulk insert
PAGE_GOAL = 1.5  # times a bare template page of the same bytes
GROWTH_GOAL = 1.3  # from the smallest database to the largest
COMPRESSED_GOAL = 50_000  # bytes, page without Plotly


class Report:
    """Lines as they come, each with its goal and whether it is reached; all of it again as JSON."""

    def __init__(self) -> None:
        self.missed: list[str] = []
        self.found: dict[str, object] = {}

    def line(self, name: str, text: str, *, reached: bool | None = None) -> None:
        word = {None: "", True: "ok", False: "MISSED"}[reached]
        print(f"  {name:<34} {text:<86} {word}", flush=True)
        if reached is False:
            self.missed.append(f"{name}: {text}")

    def rate(self, name: str, pair: Pair, goal: float) -> None:
        text = f"{pair.ours:8,.0f}/s   bare {pair.bare:8,.0f}/s   ratio {pair.ratio:5.2f} ±{pair.spread:4.0%}"
        self.line(name, f"{text}   goal >= {goal}", reached=pair.ratio >= goal)
        self.found[name] = dataclasses.asdict(pair)

    def page(self, name: str, cost: PageCost) -> None:
        pair = cost.time
        text = f"{pair.ours:6.1f} ms   bare {pair.bare:6.1f} ms   ratio {pair.ratio:5.2f} ±{pair.spread:4.0%}"
        self.line(name, f"{text}   goal <= {PAGE_GOAL}", reached=pair.ratio <= PAGE_GOAL)
        size = f"{cost.bytes / 1000:6.1f} kB, compressed {cost.compressed / 1000:5.1f} kB"
        size += f" (with styles and scripts {cost.all_compressed / 1000:.1f} kB)"
        self.line("", f"{size}   goal <= {COMPRESSED_GOAL // 1000} kB", reached=cost.compressed <= COMPRESSED_GOAL)
        first = f"asked for the first time {cost.first_ms:.1f} ms, ratio {cost.first_ratio:.2f}"
        self.line("", f"{cost.queries_again} queries ({cost.queries_first} at first); {first}")
        self.found[name] = dataclasses.asdict(cost)


def run(place: Place, effort: Effort, report: Report) -> None:
    """Every size of one database, then how the pages grew."""
    costs: dict[int, dict[str, PageCost]] = {}
    there = 0
    for size in effort.sizes:
        seed(place, there, size)
        there = size
        print(f"\n{place.name}, {size:,} reports of 60 results stored", flush=True)
        at = f"{place.name} {size}"
        costs[size] = measure.pages(place, effort)
        for name, cost in costs[size].items():
            report.page(f"{name} page @ {at}", cost)
        report.rate(f"accept @ {at}", measure.accept(place, effort), ACCEPT_GOAL)
        report.rate(f"read and store @ {at}", measure.store(place, effort), STORE_GOAL)
    small, large = effort.sizes[0], effort.sizes[-1]
    print(f"\n{place.name}, from {small:,} to {large:,} reports", flush=True)
    for name in costs[small]:
        # Each time is taken as a ratio to the yardstick of its own minute: the machine may have slowed in between.
        factor = costs[large][name].time.ratio / costs[small][name].time.ratio
        text = f"{costs[small][name].time.ours:.1f} -> {costs[large][name].time.ours:.1f} ms, factor {factor:.2f}"
        report.line(f"{name} page grows", f"{text}   goal <= {GROWTH_GOAL}", reached=factor <= GROWTH_GOAL)
        report.found[f"{name} page growth {place.name}"] = factor


def seed(place: Place, there: int, wanted: int) -> None:
    """Up to `wanted` reports, through the real reading; PostgreSQL takes two readers at once."""
    started = time.monotonic()
    readers = 2 if place.name == "postgresql" else 1
    processes = [
        begin(place.site, "seed", str(wanted), f"{number}/{readers}", BENCH_THERE=str(there))
        for number in range(readers)
    ]
    for process in processes:
        finish(process)
    place.ask("analyze")
    seconds = time.monotonic() - started
    print(
        f"\n{place.name}: {wanted - there:,} reports read in {seconds:.0f} s ({(wanted - there) / seconds:.0f}/s)",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, 1,000 reports instead of 10,000")
    parser.add_argument("--database", choices=["postgresql", "sqlite"], action="append")
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    options = parser.parse_args()
    report = Report()
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}"
    print(f"{machine}; load before: {os.getloadavg()[0]:.1f}")
    pair, characters = diagnose.cost()
    text = f"{diagnose.told(pair, characters)}   goal <= {diagnose.GOAL_MS:.0f} ms"
    report.line("diagnose a dump", text, reached=pair.ours <= diagnose.GOAL_MS)
    report.found["diagnose a dump"] = dataclasses.asdict(pair)
    for name in options.database or ["postgresql", "sqlite"]:
        try:
            with place(name) as here:
                run(here, QUICK if options.quick else FULL, report)
        except NotHere as problem:
            report.line(name, f"not measured: {problem}", reached=False)
    if options.json:
        options.json.write_text(json.dumps(report.found, indent=1))
    print(f"\n{len(report.missed)} goals missed" if report.missed else "\nEvery goal reached")
    for missed in report.missed:
        print(f"  {missed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
