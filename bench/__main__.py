"""`python -m bench [--quick] [--database sqlite|postgresql] [--json FILE]`: prints every ratio with its goal.

`--page compare` measures that page alone, `--profile compare` prints where the time of its first views goes.
"""

import argparse
import dataclasses
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench import diagnose, measure
from bench.measure import FULL, QUICK, Effort, Memory, PageCost, Pair
from bench.places import Place, begin, finish, place
from tests.live import ROOT
from tests.servers import NotHere

ACCEPT_GOAL = 0.6  # of a bare POST + INSERT
STORE_GOALS = {"read and store": 0.6}  # of bulk_create of the same rows, a transaction for each report
PAGE_GOAL = 3.0  # times a bare Jinja2 page of the same bytes, for a page that was requested before
WAIT_GOAL_MS = 60.0  # for any page: requested before, by the first visitor of a process, or never yet
READERS_GOAL = 0.3  # of the bare pages that 16 readers get in a second
NEVER_CACHED = frozenset({"diagnosis"})  # what a visitor pastes
RAW_GOALS = {"compare": 80_000}  # bytes of HTML, two spec sheets and a machine
GROWTH_GOAL = 1.3  # from the smallest database to the largest
COMPRESSED_GOAL = 50_000  # bytes, page without Plotly
WHOLE_GOALS = dict.fromkeys(("compare", "machine", "sheet"), 60_000)  # the same with its styles and scripts


class Report:
    """Lines as they come, each with its goal and whether it is reached; all of it again as JSON."""

    def __init__(self) -> None:
        self.missed: list[str] = []
        self.figures: dict[str, object] = {}

    def line(self, name: str, text: str, *, reached: bool | None = None) -> None:
        outcome = {None: "", True: "ok", False: "MISSED"}[reached]
        print(f"  {name:<34} {text:<86} {outcome}", flush=True)
        if reached is False:
            self.missed.append(f"{name}: {text}")

    def rate(self, name: str, pair: Pair, goal: float | None) -> None:
        text = f"{pair.ours:8,.0f}/s   bare {pair.bare:8,.0f}/s   ratio {pair.ratio:5.2f} ±{pair.spread:4.0%}"
        if goal is None:
            self.line(name, text)
        else:
            self.line(name, f"{text}   goal >= {goal}", reached=pair.ratio + pair.margin >= goal)
        self.figures[name] = dataclasses.asdict(pair)

    def page(self, name: str, kind: str, cost: PageCost) -> None:
        self.times(name, cost.warm, None if kind in NEVER_CACHED else PAGE_GOAL)
        if cost.new:
            self.times("  new addresses", cost.new, None)
        self.line(
            "  first visitor",
            f"{cost.first_ms:6.1f} ms   goal <= {WAIT_GOAL_MS:.0f}",
            reached=cost.first_ms <= WAIT_GOAL_MS,
        )
        raw, whole = RAW_GOALS.get(kind), WHOLE_GOALS.get(kind)
        size = f"{cost.bytes / 1000:6.1f} kB" + (f" (goal <= {raw // 1000} kB)" if raw else "")
        size += f", compressed {cost.compressed / 1000:5.1f} kB"
        goal = f", goal <= {whole // 1000}" if whole else ""
        size += f" (with styles and scripts {cost.all_compressed / 1000:.1f} kB{goal})"
        reached = cost.compressed <= COMPRESSED_GOAL and (raw is None or cost.bytes <= raw)
        reached = reached and (whole is None or cost.all_compressed <= whole)
        queries = f"{cost.queries_again} queries ({cost.queries_first} at first)"
        self.line("", f"{size}   goal <= {COMPRESSED_GOAL // 1000} kB; {queries}", reached=reached)
        self.figures[name] = dataclasses.asdict(cost)

    def times(self, name: str, pair: Pair, goal: float | None) -> None:
        """Missed beyond what the rounds differ by. Without a `goal` for the ratio, that for the milliseconds."""
        text = f"{pair.ours:6.1f} ms   bare {pair.bare:6.1f} ms   ratio {pair.ratio:5.2f} ±{pair.spread:4.0%}"
        reached = pair.ours <= WAIT_GOAL_MS and (goal is None or pair.ratio - pair.margin <= goal)
        goals = f"{WAIT_GOAL_MS:.0f} ms" + (f", {goal}" if goal else "")
        self.line(name, f"{text}   goal <= {goals}", reached=reached)

    def memory(self, name: str, memory: Memory) -> None:
        self.line(name, f"resident {memory.rss / 2**20:.0f} MiB, own share {memory.pss / 2**20:.0f} MiB")
        self.figures[name] = dataclasses.asdict(memory)


def run(place: Place, effort: Effort, report: Report, names: Sequence[str] = ()) -> None:
    """Every size of one database, then how the pages grew. `names`: these pages alone."""
    costs: dict[int, dict[str, PageCost]] = {}
    there = 0
    for size in effort.sizes:
        seed(place, there, size)
        there = size
        print(f"\n{place.name}, {size:,} reports of 60 results stored", flush=True)
        at = f"{place.name} {size}"
        costs[size] = measure.pages(place, effort, names)
        for kind, cost in costs[size].items():
            report.page(f"{kind} page @ {at}", kind, cost)
        if not names:
            report.memory(f"web process, after all pages @ {at}", measure.memory(place))
            per_s, p95, p95_bare = measure.readers(place, effort, costs[size])
            report.rate(f"{measure.READERS} readers @ {at}", per_s, READERS_GOAL)
            report.line("", f"p95 {p95:.0f} ms, bare {p95_bare:.0f} ms")
            place.restart(warm=False)
            report.rate(f"accept @ {at}", measure.accept(place, effort), ACCEPT_GOAL)
            for name, pair in measure.store(place, effort).items():
                report.rate(f"{name} @ {at}", pair, STORE_GOALS.get(name))
    if len(effort.sizes) == 1:
        return
    small, large = effort.sizes[0], effort.sizes[-1]
    print(f"\n{place.name}, from {small:,} to {large:,} reports", flush=True)
    for kind in costs[small]:
        # Each time is taken as a ratio to the yardstick of its own minute: the machine may have slowed in between.
        factor = costs[large][kind].warm.ratio / costs[small][kind].warm.ratio
        text = f"{costs[small][kind].warm.ours:.1f} -> {costs[large][kind].warm.ours:.1f} ms, factor {factor:.2f}"
        report.line(f"{kind} page grows", f"{text}   goal <= {GROWTH_GOAL}", reached=factor <= GROWTH_GOAL)
        report.figures[f"{kind} page growth {place.name}"] = factor


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
    parser.add_argument("--quick", action="store_true", help="fewer rounds, 100 reports, SQLite alone unless named")
    parser.add_argument("--database", choices=["postgresql", "sqlite"], action="append")
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    parser.add_argument("--page", action="append", default=[], help="measure this page alone; may be repeated")
    parser.add_argument("--profile", default="", help="print where the time of this page's first views goes")
    options = parser.parse_args()
    report = Report()
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}"
    print(f"{machine}; load before: {os.getloadavg()[0]:.1f}")
    if not options.page and not options.profile:
        for name, (pair, characters), goal in diagnose.costs():
            text = f"{diagnose.pair_text(pair, characters)}   goal <= {goal:.0f} ms"
            report.line(name, text, reached=pair.ours <= goal)
            report.figures[name] = dataclasses.asdict(pair)
    effort = QUICK if options.quick else FULL
    for name in options.database or (["sqlite"] if options.quick else ["postgresql", "sqlite"]):
        try:
            with place(name) as here:
                if options.profile:
                    seed(here, 0, effort.sizes[0])
                    subprocess.run(
                        [sys.executable, "-m", "bench.inside", "profile", options.profile],
                        cwd=ROOT, env=here.site.env, check=True,
                    )  # fmt: skip
                else:
                    run(here, effort, report, options.page)
        except NotHere as problem:
            report.line(name, f"not measured: {problem}", reached=False)
    if options.json:
        options.json.write_text(json.dumps(report.figures, indent=1))
    print(f"\n{len(report.missed)} goals missed" if report.missed else "\nEvery goal reached")
    for missed in report.missed:
        print(f"  {missed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
