"""`python -m bench.changes [--series N] [--seed N]`: how many planted changes of level are found, how many false.

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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stackviz.base.stats.changes import level_changes

RECORDED = Path(__file__).with_name("noise.csv")
RESULTS = 60  # of a series
EDGE = 5  # results that a planted change leaves on either side
NEAR = 2  # results that a found change may lie beside the planted one
LEVELS = (0.005, 0.01, 0.02, 0.04)
SIZES = (0.03, 0.05, 0.10)
SERIES = 200
KINDS = {"one by one": 1, "in blocks of 4": 4, "as it came": RESULTS}  # consecutive runs drawn together


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
    """Lines of Markdown, one for each kind and level of noise; `178 / 22 / 1`: found, missed, false alarms."""
    planted = " | ".join(f"{size:.0%}: found / missed / false" for size in SIZES)
    yield f"| {series} series of {RESULTS} | noise of one result | stable: false | {planted} |"
    yield "|---|---|---|---|---|---|"
    for kind, block in KINDS.items():
        for level in LEVELS:
            cells = []
            for size in (0.0, *SIZES):
                tally = run_trials(random.Random(f"{seed} {kind} {level} {size}"), series, size, level, block=block)
                planted_one = f"{tally.found} / {tally.missed} / {tally.false_alarms}"
                cells.append(planted_one if size else str(tally.false_alarms))
            yield f"| {kind} | {level:.1%} | {' | '.join(cells)} |"


def run_trials(rng: random.Random, series: int, size: float, level: float, *, block: int) -> Tally:
    """`size`: of the change, a share, 0 for none; `level`: standard deviation of the noise, a share."""
    tally = Tally()
    for _ in range(series):
        values = noise(rng, level, block=block)
        planted = rng.randrange(EDGE, RESULTS - EDGE + 1)
        factor = 1 + size if rng.random() < 0.5 else 1 / (1 + size)
        values[planted:] = [value * factor for value in values[planted:]]
        found = [change.index for change in level_changes(values)]
        is_found = bool(size) and any(abs(index - planted) <= NEAR for index in found)
        tally.found += is_found
        tally.missed += not is_found
        tally.false_alarms += max(0, len(found) - is_found)
    return tally


def noise(rng: random.Random, level: float, *, block: int) -> list[float]:
    """RESULTS factors around 1 from one recorded loop, brought to this level.

    `block`: so many consecutive runs are drawn together, with what lasts over them.
    """
    logs = rng.choice(recorded())
    starts = (rng.randrange(len(logs) - block + 1) for _ in range(0, RESULTS, block))
    chosen = [value for start in starts for value in logs[start : start + block]]
    return [math.exp(value * level) for value in chosen]


def recorded() -> Sequence[Sequence[float]]:
    """Of each loop its runs in order: logarithms with median 0 and standard deviation 1."""
    if not _RECORDED:
        with RECORDED.open(newline="") as lines:
            _loops, *runs = csv.reader(lines)
        for seconds in zip(*runs, strict=True):
            logs = [math.log(float(value)) for value in seconds]
            middle, spread = statistics.median(logs), statistics.stdev(logs)
            _RECORDED.append([(value - middle) / spread for value in logs])
    return _RECORDED


_RECORDED: list[list[float]] = []


if __name__ == "__main__":
    main()
