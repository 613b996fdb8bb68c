"""`python -m bench.changes [--runs N] [--seed N]`: how many planted changes of level are found, how many stable series.

Plants changes in noise recorded by repeating three small loops (`bench/noise.csv`: seconds of processor time, median of
twelve samples a run, a run every seven seconds, on a two-core virtual machine beside other work), and prints Markdown.
docs/history.md holds its last output.
"""

import argparse
import csv
import math
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stackviz.stats.changes import level_changes

RECORDED = Path(__file__).with_name("noise.csv")
RESULTS = 60  # of a series
EDGE = 5  # results that a planted change leaves on either side
NEAR = 2  # results that a found change may lie beside the planted one
LEVELS = (0.005, 0.01, 0.02, 0.04)
SIZES = (0.03, 0.05, 0.10)
SERIES = 200


@dataclass(slots=True)
class Tally:
    """Of series with one planted change each, or none."""

    found: int = 0
    missed: int = 0
    false_alarms: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=SERIES, help="series of each line")
    parser.add_argument("--seed", type=int, default=9)
    arguments = parser.parse_args()
    began = time.process_time()
    for line in table(arguments.series, arguments.seed):
        print(line)
    print(f"\n{time.process_time() - began:.0f} s of processor time")


def table(series: int, seed: int) -> Iterator[str]:
    """Lines of Markdown: a line for each kind and level of noise and size of change."""
    yield f"| noise | of one result | change | series of {RESULTS} | found | missed | false alarms |"
    yield "|---|---|---|---|---|---|---|"
    for kind, is_lasting in (("one by one", False), ("as it came", True)):
        for level in LEVELS:
            for size in (0.0, *SIZES):
                tally = run_trials(
                    random.Random(f"{seed} {kind} {level} {size}"), series, size, level, is_lasting=is_lasting
                )
                planted = f"{size:.0%}" if size else "none"
                counts = f"{tally.found} | {tally.missed}" if size else "- | -"
                yield f"| {kind} | {level:.1%} | {planted} | {series} | {counts} | {tally.false_alarms} |"


def run_trials(rng: random.Random, series: int, size: float, level: float, *, is_lasting: bool) -> Tally:
    """`size`: of the change, a share, 0 for none; `level`: standard deviation of the noise, a share."""
    tally = Tally()
    for _ in range(series):
        values = noise(rng, level, is_lasting=is_lasting)
        planted = rng.randrange(EDGE, RESULTS - EDGE + 1)
        factor = 1 + size if rng.random() < 0.5 else 1 / (1 + size)
        values[planted:] = [value * factor for value in values[planted:]]
        found = [change.index for change in level_changes(values)]
        is_found = bool(size) and any(abs(index - planted) <= NEAR for index in found)
        tally.found += is_found
        tally.missed += not is_found
        tally.false_alarms += max(0, len(found) - is_found)
    return tally


def noise(rng: random.Random, level: float, *, is_lasting: bool) -> list[float]:
    """RESULTS factors around 1 from one recorded loop, brought to this level.

    `is_lasting`: consecutive runs, with what lasts over several of them; otherwise runs drawn one by one.
    """
    logs = rng.choice(recorded())
    start = rng.randrange(len(logs) - RESULTS + 1)
    chosen = logs[start : start + RESULTS] if is_lasting else [rng.choice(logs) for _ in range(RESULTS)]
    return [math.exp(value * level) for value in chosen]


def recorded() -> Sequence[Sequence[float]]:
    """Of each loop its runs in order: logarithms with median 0 and standard deviation 1."""
    if not _RECORDED:
        by_loop: dict[str, list[float]] = defaultdict(list)
        with RECORDED.open(newline="") as lines:
            for row in csv.DictReader(lines):
                by_loop[row["loop"]].append(math.log(float(row["cpu_s"])))
        for logs in by_loop.values():
            middle, spread = statistics.median(logs), statistics.stdev(logs)
            _RECORDED.append([(value - middle) / spread for value in logs])
    return _RECORDED


_RECORDED: list[list[float]] = []


if __name__ == "__main__":
    main()
